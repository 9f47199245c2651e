"""The figures of pictures and labels beside scikit-learn's, and the baselines by hand."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score

from clearhead.data.pictures import PictureSet
from clearhead.tasks.confusion import MOST, Confusion
from clearhead.tasks.images.baselines import (
    logistic_accuracy,
    majority_accuracy,
    mean_accuracy,
    mirrored_share,
)
from clearhead.tasks.images.evaluate import Guesses
from clearhead.tasks.images.mistakes import show_mistakes


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=60))
def test_the_same_figures_as_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    right, said = (list(side) for side in zip(*pairs, strict=True))
    found = Confusion.of(right, said, [str(n) for n in range(5)])
    expected = confusion_matrix(right, said, labels=range(5))
    assert np.array_equal(found.counts, expected)
    assert found.accuracy == pytest.approx(accuracy_score(right, said))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert found.macro_f1 == pytest.approx(f1_score(right, said, average="macro"))


def test_tables_of_few_labels_and_of_many() -> None:
    few = Confusion.of([0, 0, 1], [0, 1, 1], ["<b>cat", "dog"])
    assert few.lines()[1].split() == ["<b>cat", "1", "1", "66.7"]
    assert few.mistakes() == [("<b>cat", "dog", 1)]
    assert "<b>cat" not in few.html()
    names = [f"label {n}" for n in range(MOST + 1)]
    many = Confusion.of([3, 3, 4], [5, 5, 4], names)
    assert many.rows() == [["right", "said", "times"], ["label 3", "label 5", "2"]]


def pictures(images: NDArray[Any], labels: list[int]) -> PictureSet:
    n = len(labels)
    return PictureSet(images.astype(np.uint8), np.array(labels), ("a", "b"), ("",) * n)


def test_baselines_by_hand() -> None:
    dark, bright = np.full((6, 1, 4, 4), 20), np.full((4, 1, 4, 4), 220)
    train = pictures(np.concatenate([dark, bright]), [0] * 6 + [1] * 4)
    test = pictures(np.concatenate([dark[:1], bright[:3]]), [0, 1, 1, 1])
    assert majority_accuracy(train, test) == 0.25
    assert mean_accuracy(train, test) == 1.0
    assert logistic_accuracy(train, test) == 1.0


def test_letters_are_not_the_same_in_a_mirror() -> None:
    left = np.zeros((40, 1, 6, 6))
    left[:, :, :, :2] = 200
    sides = pictures(np.concatenate([left, left[..., ::-1]]), [0] * 40 + [1] * 40)
    assert mirrored_share(sides) == (1.0, 0.0)
    upper = left.swapaxes(2, 3)
    things = pictures(np.concatenate([upper, upper[:, :, ::-1]]), [0] * 40 + [1] * 40)
    assert mirrored_share(things) == (1.0, 1.0)


def test_the_surest_mistakes_are_shown() -> None:
    probs = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    found = Guesses(probs, np.array([1, 1, 1]), ("<i>a", "b"))
    images = pictures(np.zeros((3, 1, 4, 4)), [1, 1, 1])
    page = show_mistakes(found, images)
    assert page.count("<img") == 2
    assert page.index("90 %") < page.index("60 %")
    assert "<i>a" not in page
    right = Guesses(probs[1:2], np.array([1]), ("a", "b"))
    assert "No picture" in show_mistakes(right, images.take([1]))
    assert found.loss == pytest.approx(-np.log([0.1, 0.8, 0.4]).mean())
