"""Counting words as a teacher: it is asked about texts that it has not learned from."""

import numpy as np
import pytest
import torch

from clearhead.data.labelled import Example
from clearhead.data.rows import Row, make_rows
from clearhead.tasks.classify.counting import Counting, beliefs_of_others
from clearhead.tasks.classify.plan import LabelFacts, make_plan
from clearhead.tasks.classify.train import _Classifying

LABELS = ["bad", "good"]


def examples(n: int = 120) -> list[Example]:
    """Texts with a word of their own and one that says a label: for one in ten, the wrong one."""
    words = {"good": "charming", "bad": "dull"}
    found = []
    for number in range(n):
        label = LABELS[number % 2]
        said = label if number % 10 < 9 else "bad"
        found.append(Example(number + 2, f"own{number} is a {words[said]} film", label))
    return found


def test_beliefs_are_those_of_others() -> None:
    some = examples()
    found = beliefs_of_others(some, LABELS)
    assert found.shape == (len(some), 2)
    assert np.allclose(found.sum(1), 1, atol=1e-5)
    odd = [n for n, each in enumerate(some) if each.label == "good" and "dull" in each.text]
    assert len(odd) == 12
    assert found[odd, 1].max() < 0.5  # the others say so
    alone = Counting(some, [1000.0]).believe(some, LABELS)
    assert alone[odd, 1].min() > 0.5  # it has learned their own words by heart


def test_parts_of_a_text_are_in_its_fold() -> None:
    one = "a film of rare charm and wit"
    some = [*examples(), Example(998, one, "good"), Example(999, "of rare charm and wit", "good")]
    found = beliefs_of_others(some, LABELS)
    shuffled = [*some[-2:], *some[:-2]]
    assert np.allclose(found, np.roll(beliefs_of_others(shuffled, LABELS), -2, axis=0), atol=1e-3)
    neither = Counting([each for each in some if "rare" not in each.text]).believe(
        some[-2:], LABELS
    )
    assert np.abs(found[-2:] - neither).max() < 0.1  # no word of the two was learned from the other


def test_where_nothing_can_be_counted_all_labels_are_alike() -> None:
    some = [Example(2, "a charming film", "good"), Example(3, "a dull film", "bad")]
    assert np.array_equal(beliefs_of_others(some, LABELS), np.full((2, 2), 0.5, np.float32))
    rare = beliefs_of_others([*examples(), Example(9, "quite odd", "odd")], [*LABELS, "odd"])
    assert rare.shape[1] == 3
    assert np.allclose(rare.sum(1), 1, atol=1e-5)


@pytest.mark.parametrize("taught", [0.0, 0.5])
def test_the_target_is_label_smoothing_and_belief(taught: float) -> None:
    settings = {"taught": taught, "smoothing": 0.2}
    plan, _ = make_plan(LabelFacts(1000, 2, 100_000, 100), settings=settings)
    job = _Classifying.__new__(_Classifying)
    job.beliefs = torch.tensor([[0.9, 0.1], [0.3, 0.7]])
    batch = make_rows([Row([1, 5, 2], (1,)), Row([1, 6, 2], (1,))], [1, 0], 0)
    label = torch.tensor([[0.1, 0.9], [0.1, 0.9]])
    wanted = (1 - taught) * label + taught * torch.tensor([[0.3, 0.7], [0.9, 0.1]])
    assert torch.allclose(job._target(batch, plan), wanted)


def test_many_texts_are_taught_by_counting_but_no_given_model() -> None:
    plan, reasons = make_plan(LabelFacts(50_000, 2, 3_000_000, 100))
    assert plan.taught == 0.5
    assert any("counting words" in reason for reason in reasons)
    given, _ = make_plan(LabelFacts(50_000, 2, 3_000_000, 100, given=plan.model))
    few, reasons = make_plan(LabelFacts(5000, 2, 300_000, 100))
    assert given.taught == few.taught == 0
    assert not any("counting words" in reason for reason in reasons)
