"""The plan and the samples as lines: complete, and never wider than a terminal."""

import unicodedata
from dataclasses import replace
from typing import Any

import pytest

from clearhead.cli.live_words import LABELS, crop, plan_lines, sample_lines
from clearhead.tasks.answer.plan import QuestionFacts
from clearhead.tasks.answer.plan import make_plan as plan_for_questions
from clearhead.tasks.classify.plan import LabelFacts
from clearhead.tasks.classify.plan import make_plan as plan_for_labels
from clearhead.tasks.fill.plan import FillFacts
from clearhead.tasks.fill.plan import make_plan as plan_for_gaps
from clearhead.tasks.generate.plan import TextFacts
from clearhead.tasks.generate.plan import make_plan as plan_for_texts
from clearhead.tasks.images.plan import PictureFacts
from clearhead.tasks.images.plan import make_plan as plan_for_pictures
from clearhead.tasks.plan import Facts
from clearhead.tasks.summarise.plan import make_summary_plan
from tests.cli.told_run import FORECAST, HINDI, SAMPLES, make_plan, n_cells


def test_a_long_reason_is_broken_on_a_terminal_only() -> None:
    assert max(len(line.plain) for line in plan_lines(make_plan(), FORECAST, 80)) <= 80
    assert max(len(line.plain) for line in plan_lines(make_plan(), FORECAST)) > 80


def test_every_setting_of_a_run_is_in_the_plan() -> None:
    plans: list[Any] = [
        make_plan(),
        plan_for_texts(TextFacts(1_000_000))[0],
        make_summary_plan(Facts(2000, 2_000_000))[0],
        plan_for_questions(QuestionFacts(7000, 1_000_000))[0],
        plan_for_labels(LabelFacts(5000, 6, 300_000, 100))[0],
        plan_for_gaps(FillFacts(1_000_000))[0],
        plan_for_pictures(PictureFacts(1000, 28, 1, 10))[0],
    ]
    told: set[str] = set()
    for plan in plans:
        text = "\n".join(line.plain for line in plan_lines(plan, FORECAST))
        data = plan.to_dict()
        keys = [key for key in data if not isinstance(data[key], dict)]
        keys += [f"training.{key}" for key in data["training"]]
        keys += [key for key in LABELS if _has(data, key)]
        for key in keys:
            assert f" {key}\n" in text, key
            plan.override({key: _value_of(data, key)})
        told |= set(keys)
    assert told >= set(LABELS)


def _has(data: dict[str, Any], key: str) -> bool:
    try:
        _value_of(data, key)
    except KeyError:
        return False
    return True


def _value_of(data: dict[str, Any], key: str) -> Any:
    for name in key.split("."):
        data = data[name]
    return data


FIRST = ("n_each_way", "n_first_steps")


def test_first_models_are_told_by_their_steps_or_as_none() -> None:
    rows = [line.plain for line in plan_lines(make_plan().override({"n_first_steps": 0}), FORECAST)]
    assert ["none" in row for row in rows if row.endswith(FIRST)] == [True, True]
    plan = make_plan().override({"n_first_steps": 9, "n_each_way": 2})
    split = [line.plain.split() for line in plan_lines(plan, FORECAST)]
    told = [" ".join(row[:-1]) for row in split if row and row[-1] in FIRST]
    assert told == ["first models 2 each way", "a first model 9 steps"]


def test_memory_that_is_not_known_is_not_told() -> None:
    text = "\n".join(line.plain for line in plan_lines(make_plan(), replace(FORECAST, n_bytes=0)))
    assert "memory" not in text


@pytest.mark.parametrize("width", range(1, 40))
@pytest.mark.parametrize(
    "text", [HINDI, "日本語" * 9, "plain words, many of them, in a row, and more"]
)
def test_cropped_text_fits_everywhere(text: str, width: int) -> None:
    cropped = crop(text, width)
    assert n_cells(cropped) <= width
    assert cropped.endswith("…")
    assert text.startswith(cropped[:-1])
    rest = text[len(cropped) - 1 :].lstrip()
    assert not unicodedata.category(rest[0]).startswith("M")


def test_text_that_fits_is_left_alone() -> None:
    assert crop(HINDI, 200) == HINDI
    assert crop("", 0) == ""
    assert crop("abc", 0) == ""


def test_marks_without_letters_are_not_believed_to_have_no_width() -> None:
    assert len(crop("े" * 60, 20)) <= 20
    assert len(crop("क" + "े" * 60, 20)) <= 20 + 3
    assert len(crop(" े" * 60, 20)) <= 20
    assert crop("ढ़ें" * 10, 10) == "ढ़ें" * 10


def test_samples_take_one_line_each() -> None:
    lines = [line.plain for line in sample_lines(SAMPLES, 60)]
    assert len(lines) == 11
    assert lines[8] == "  source     no  [31mred and one line"
    assert max(map(n_cells, lines)) <= 60
