"""What needs no Transformer: the most frequent label, the nearest mean, logistic regression."""

import warnings

import numpy as np
from numpy.typing import NDArray

from clearhead.data.pictures import PictureSet

__all__ = ["logistic_accuracy", "majority_accuracy", "mean_accuracy", "mirrored_share"]

N_LEARNED = 10_000
"""So many pictures are enough for logistic regression, and take a second."""
N_MIRRORED = 5_000


def majority_accuracy(train: PictureSet, test: PictureSet) -> float:
    """Always the label that most pictures have."""
    return float((test.labels == np.bincount(train.labels).argmax()).mean())


def mean_accuracy(train: PictureSet, test: PictureSet) -> float:
    """The label whose mean picture is nearest, pixel by pixel."""
    return float((_nearest(_means(train), _rows(test.images)) == test.labels).mean())


def logistic_accuracy(train: PictureSet, test: PictureSet) -> float:
    """A line between the labels in the space of pixels, by scikit-learn."""
    from sklearn.linear_model import LogisticRegression

    some = train.take(np.random.default_rng(0).permutation(len(train))[:N_LEARNED])
    if len(np.unique(some.labels)) < 2:
        return majority_accuracy(train, test)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few steps fewer than the best are no matter here
        model = LogisticRegression(C=0.01, max_iter=100, tol=1e-2)
        rows, asked = _rows(some.images), _rows(test.images)
        spread = rows.std() + 1e-6  # dark pictures are as hard as bright ones
        model.fit(rows / spread, some.labels)
        return float((model.predict(asked / spread) == test.labels).mean())


def mirrored_share(pictures: PictureSet) -> tuple[float, float]:
    """How well the nearest mean knows pictures, and how well the same turned left to right.

    Things are the same in a mirror, letters and digits are not.
    """
    some = pictures.take(np.random.default_rng(0).permutation(len(pictures))[:N_MIRRORED])
    means = _means(some)
    plain, turned = (
        float((_nearest(means, _rows(images)) == some.labels).mean())
        for images in (some.images, some.images[..., ::-1])
    )
    return plain, turned


def _rows(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    return images.reshape(len(images), -1).astype(np.float32) / np.float32(255)


def _means(pictures: PictureSet) -> NDArray[np.float32]:
    """The mean picture of each label; far away for one that has none."""
    rows = _rows(pictures.images)
    means = np.full((len(pictures.names), rows.shape[1]), 1e3, np.float32)
    for label in np.unique(pictures.labels).tolist():
        means[label] = rows[pictures.labels == label].mean(0)
    return means


def _nearest(means: NDArray[np.float32], rows: NDArray[np.float32]) -> NDArray[np.int64]:
    return np.asarray(((means**2).sum(1) - 2 * rows @ means.T).argmin(1))
