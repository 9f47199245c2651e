"""How many steps: what fits into the time, how models share it, and when to validate."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clearhead.text.amounts import describe_time
from clearhead.training import TrainingConfig

__all__ = ["Speed", "divide_steps", "fit_steps", "usual_epochs", "validate_every"]

FIRST_SHARE = 0.4
"""The share of all steps that first models have, if there is one for each way."""
FIRST_SHARE_OF_MORE = 0.52
"""And if there are more."""
FEWEST_FIRST_STEPS = 500
FEWEST_FIRST_EPOCHS = 16
"""A model that learned for less than this teaches less than its steps are worth to the last one."""


@dataclass(frozen=True)
class Speed:
    """What some steps on this machine showed."""

    seconds_per_step: float
    tokens_per_second: float
    precision: str
    n_bytes: int
    reason: str


def usual_epochs(n_pairs: int, has_first_models: bool) -> float:
    """How often pairs are seen, by all models together: three see more, and other words besides.

    >>> [round(usual_epochs(n, False)) for n in (500, 29_000, 10**6)], usual_epochs(30_000, True)
    ([100, 62, 5], 140.0)
    """
    n_epochs = min(100.0, max(5.0, 1_800_000 / n_pairs))
    return min(140.0, 3 * n_epochs) if has_first_models else n_epochs


def divide_steps(
    n_steps: int, n_batches: int, has_first_models: bool, settings: Mapping[str, Any]
) -> tuple[int, int, int]:
    """First models for each way, steps of each, and of the last one; what is set by hand stays.

    >>> [divide_steps(n, 120, True, {}) for n in (16_000, 10_000, 5000)]
    [(2, 2080, 7680), (1, 2000, 6000), (1, 0, 5000)]
    >>> divide_steps(6000, 120, True, {"training.n_steps": 6000, "n_each_way": 1})
    (1, 2000, 6000)
    >>> divide_steps(9000, 9, True, {"n_first_steps": 1000}), divide_steps(9000, 9, False, {})
    ((1, 1000, 7000), (1, 0, 9000))
    """
    is_last_known = "training.n_steps" in settings
    asked = _number(settings.get("n_each_way"))
    if (given := settings.get("n_first_steps")) is not None:
        n_each_way, n_first = asked or 1, _number(given)
    elif not has_first_models or "n_copies" in settings:
        n_each_way, n_first = 1, 0
    else:
        fewest = max(FEWEST_FIRST_STEPS, 0 if asked else FEWEST_FIRST_EPOCHS * n_batches)
        for n_each_way in [asked] if asked else [2, 1]:
            share = FIRST_SHARE if n_each_way == 1 else FIRST_SHARE_OF_MORE
            n_all = n_steps * share / (1 - share if is_last_known else 1)
            n_first = round(n_all / (2 * n_each_way))
            if n_first >= fewest:
                break
        n_first = n_first if n_first >= fewest else 0
    n_before = 2 * n_each_way * n_first
    return n_each_way, n_first, n_steps if is_last_known else max(1, n_steps - n_before)


def _number(given: Any) -> int:
    """What is no number is refused later."""
    return int(given) if str(given).isdecimal() else 0


def validate_every(n_steps: int, speed: Speed | None) -> int:
    """Forty times in a run, but not more than once in a minute; at least four times."""
    a_minute = 60 / speed.seconds_per_step if speed else 1
    return max(1, min(int(max(n_steps / 40, a_minute)), n_steps // 4))


def fit_steps(
    n_steps: int,
    seconds: float | None,
    usual_seconds: float,
    speed: Speed | None,
    settings: Mapping[str, Any],
) -> tuple[int, dict[str, str]]:
    """How many of some steps fit into the time, unless their number is set; and why.

    All the time is used if it was asked for, and else only what the steps need.
    """
    if "training.n_steps" in settings:
        set_by_hand = {"n_steps": settings["training.n_steps"]}
        return TrainingConfig().override(set_by_hand).n_steps, {}
    if speed is None:
        return n_steps, {}
    reasons = {"training.precision": speed.reason}
    allowed = seconds or usual_seconds
    n_possible = max(10, int(allowed / speed.seconds_per_step))
    if seconds is not None or n_steps > n_possible:
        n_steps = n_possible
        asked = "as asked" if seconds is not None else "give --time for more"
        reasons["time"] = f"{n_steps:,} steps fit into {describe_time(allowed)} ({asked})"
    return n_steps, reasons
