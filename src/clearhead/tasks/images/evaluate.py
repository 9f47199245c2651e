"""How many pictures a model knows, beside what needs no Transformer."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from clearhead.data.picture_batches import normalised
from clearhead.data.pictures import PictureSet
from clearhead.models import ViT
from clearhead.tasks.confusion import Confusion
from clearhead.tasks.images.baselines import logistic_accuracy, majority_accuracy, mean_accuracy
from clearhead.tasks.images.reading import Reading
from clearhead.tasks.scores import Score

__all__ = ["Guesses", "guess_pictures", "score_pictures"]

N_AT_ONCE = 250


@dataclass(frozen=True)
class Guesses:
    """What a model says of some pictures."""

    probs: NDArray[np.float64]
    """A row for each picture, a column for each label."""
    labels: NDArray[np.int64]
    """The right ones."""
    names: tuple[str, ...]

    @property
    def said(self) -> NDArray[np.int64]:
        """The most probable label of each."""
        return np.asarray(self.probs.argmax(1))

    @property
    def loss(self) -> float:
        """Nats per picture."""
        right = self.probs[np.arange(len(self.labels)), self.labels]
        return float(-np.log(right.clip(1e-12)).mean())

    @property
    def confusion(self) -> Confusion:
        """How often each label is taken for which."""
        return Confusion.of(self.labels, self.said, self.names)


@torch.no_grad()
def guess_pictures(model: ViT, pictures: PictureSet, reading: Reading) -> Guesses:
    """Let a model look at all pictures as they are."""
    device = next(model.parameters()).device
    found = []
    for begin in range(0, len(pictures), N_AT_ONCE):
        some = pictures.images[begin : begin + N_AT_ONCE]
        logits = model(normalised(some, reading.mean, reading.std).to(device))
        found.append(logits.double().softmax(-1).cpu().numpy())
    return Guesses(np.concatenate(found), pictures.labels, pictures.names)


def score_pictures(
    found: Guesses, test: PictureSet, train: PictureSet | None = None
) -> list[Score]:
    """The scores of a model, and of what needs none; most of these need the training pictures."""
    confusion = found.confusion
    scores = [
        Score("accuracy", 100 * confusion.accuracy, "% of the pictures"),
        Score("macro-F1", 100 * confusion.macro_f1, "% · mean over the labels"),
        Score(
            "accuracy of the most frequent label",
            100 * majority_accuracy(train or test, test),
            "%" if train else "% · most frequent in these pictures",
        ),
    ]
    if train is None:
        return scores
    return [
        *scores,
        Score(
            "accuracy of the nearest mean",
            100 * mean_accuracy(train, test),
            "% · the label whose mean picture is nearest, by pixels",
        ),
        Score(
            "accuracy of logistic regression",
            100 * logistic_accuracy(train, test),
            "% · scikit-learn, on pixels of at most 10,000 pictures",
        ),
    ]
