"""The numbers of a run: smoothed, bounded, and the time that is left."""

import math

import pytest

from clearhead.cli.live_course import N_PARTS, Course, sparkline
from clearhead.text.amounts import describe_time
from tests.cli.told_run import step, validation


def test_time_left_is_of_this_process() -> None:
    course = Course(1000, per_step=2.0)
    course.note_resume({"step": 500, "n_steps": 1000})
    assert course.time_left(0.0) == 1000.0  # the plan's pace, as no step was seen
    for number in range(501, 511):
        course.note_step(step(number), 10.0 * number)
    assert course.time_left(5100.0) == 980.0  # nine steps' time is not enough to judge by
    course.note_step(step(511), 5110.0)
    assert course.time_left(5110.0) == 4890.0
    assert course.time_left(5113.0) == 4887.0
    assert course.time_left(99_999.0) == 0.0
    assert course.time_gone(5113.0) == 103.0


def test_time_left_counts_the_models_that_come_after() -> None:
    course = Course(1000, per_step=2.0, n_after=500)
    assert course.time_left(0.0) == 3000.0
    for number in range(1, 12):
        course.note_step(step(number), 10.0 * number)
    assert course.time_left(110.0) == 10.0 * (989 + 500)


def test_the_loss_is_smoothed_and_what_is_not_finite_left_out() -> None:
    course = Course(100)
    for number in range(1, 101):
        course.note_step(step(number, [2.0, 4.0, math.nan, math.inf][number % 4]), 0.0)
    assert course.loss == pytest.approx(3.0, abs=0.1)
    course.note_step(step(101, 1000.0, 0.0), 0.0)
    assert 10 < course.loss < 100
    assert course.tokens_per_second == pytest.approx(6000 * 49 / 50)


def test_the_curve_of_the_loss_covers_the_run_and_stays_short() -> None:
    course = Course(10_000)
    for number in range(10_000):
        course.note_step(step(number, 10_000.0 - number), 0.0)
        assert len(course.losses) <= N_PARTS
    assert len(course.losses) >= N_PARTS // 2
    assert course.losses == sorted(course.losses, reverse=True)
    assert course.losses[0] > 9000
    assert course.losses[-1] < 1000


def test_a_sparkline() -> None:
    assert sparkline([]) == sparkline([1.0]) == ""
    assert sparkline([2.0, 2.0, 2.0]) == "▁▁▁"
    assert sparkline([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]) == "▁▂▃▄▅▆▇█"
    assert sparkline([900.0, 1.0, 2.0, 1.0]) == "█▁█▁"


def test_among_equal_scores_the_lower_loss_is_the_best() -> None:
    course = Course(100)
    losses = [7.0, 6.0, 6.5, 6.0]
    is_best = [course.note_validation(validation(i, 0.0, loss)) for i, loss in enumerate(losses)]
    assert is_best == [True, True, False, False]
    assert course.note_validation(validation(9, 1.0, 9.0))


def test_times_in_words() -> None:
    assert describe_time(0) == "0 s"
    assert describe_time(599.6) == "10 min"
    assert describe_time(3599) == "1 h 00 min"
