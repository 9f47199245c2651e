"""The course of a run: the numbers that a display shows, kept cheaply as the steps go by."""

import math
from collections import deque
from typing import Any

__all__ = ["Course", "sparkline"]

BARS = "▁▂▃▄▅▆▇█"
KEEP = 0.98
"""The smoothed loss is an average over about the last 1 / (1 − KEEP) = 50 steps."""
N_SPEEDS = 50
N_PARTS = 24
"""How many bars the curve of the loss has at most."""
N_KNOWN = 10
"""Steps after which their own pace says more about the time left than the plan does."""


def sparkline(values: list[float]) -> str:
    """Draw values as small bars.

    The first quarter may go over the top: a loss falls so fast at first that nothing else would be
    seen.

    >>> sparkline([9, 4, 3, 2.5, 2])
    '███▅▁'
    """
    if len(values) < 2:
        return ""
    later = values[(len(values) + 3) // 4 :]
    low, high = min(values), max(later)
    scale = (len(BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(BARS[min(len(BARS) - 1, round((value - low) * scale))] for value in values)


class Course:
    """Where a run is and how it goes, since this process began or went on with it.

    `per_step` is how many seconds the plan expects for a step, until the steps speak themselves;
    `n_after` are the steps of other models that come after this one.
    """

    def __init__(self, n_steps: int = 0, per_step: float = 0.0, n_after: int = 0) -> None:
        self.n_steps, self.per_step, self.n_after = n_steps, per_step, n_after
        self.step = self.epoch = 0
        self.rate = self.loss = math.nan
        self.resumed_step = 0
        self.knows_all = True  # the scores of an earlier process are known only if they are told
        self.best_score, self.best_step = -math.inf, 0
        self._best_loss = math.inf
        self.score = math.nan
        self.samples: list[dict[str, str]] = []
        self.validated_step = 0
        self._start: tuple[int, float] | None = None  # the first step seen, and when
        self._last = 0.0
        self._weight = self._sum = 0.0
        self._speeds: deque[float] = deque(maxlen=N_SPEEDS)
        self._parts: list[float] = []
        self._n_in_part = 1
        self._part, self._n_part = 0.0, 0

    def note_step(self, facts: dict[str, Any], now: float) -> None:
        """Take the facts of one step that was done at the time `now`."""
        self.step, self.epoch, self.rate = facts["step"], facts["epoch"], facts["rate"]
        self._last = now
        if self._start is None:
            self._start = self.step, now
        self._speeds.append(facts["tokens_per_second"])
        if math.isfinite(facts["loss"]):  # one that is not is told as a skipped step
            self._note_loss(facts["loss"])

    def note_resume(self, facts: dict[str, Any]) -> None:
        """Take where an earlier process left the run."""
        self.step = self.resumed_step = facts["step"]
        self.n_steps, self.knows_all = facts["n_steps"], "best_score" in facts
        if self.knows_all:
            self.best_score, self.best_step = facts["best_score"], facts["best_step"]

    def note_validation(self, facts: dict[str, Any]) -> bool:
        """Take a score; return whether it is the best so far.

        Who trains may tell which one is the best; if not, it is the higher score that was seen
        here, and among equals the lower loss.
        """
        self.score, self.validated_step = facts["score"], facts["step"]
        self.samples = facts["samples"]
        if "best_step" in facts:
            self.knows_all = True
            self.best_score, self.best_step = facts["best_score"], facts["best_step"]
        elif (self.score, -facts["loss"]) > (self.best_score, -self._best_loss):
            self.best_score, self.best_step = self.score, self.validated_step
        self._best_loss = min(self._best_loss, facts["loss"])
        return self.best_step == self.validated_step

    @property
    def share(self) -> float:
        """How much of the run is done, from 0 to 1."""
        return min(1.0, self.step / self.n_steps) if self.n_steps else 0.0

    @property
    def tokens_per_second(self) -> float:
        """The mean of the last steps."""
        return sum(self._speeds) / len(self._speeds) if self._speeds else math.nan

    @property
    def losses(self) -> list[float]:
        """The loss from the first step to the last one, as the means of equal parts."""
        is_full = self._n_part > self._n_in_part // 2
        return [*self._parts, self._part / self._n_part] if is_full else self._parts

    def time_gone(self, now: float) -> float:
        """Seconds since the first step that was seen."""
        return now - self._start[1] if self._start else 0.0

    def time_left(self, now: float) -> float:
        """Seconds to the last step, at the pace of all steps so far, validations included."""
        n_left = max(0, self.n_steps - self.step) + self.n_after
        per_step = self.per_step
        if self._start is not None and self.step - self._start[0] >= N_KNOWN:
            per_step = (self._last - self._start[1]) / (self.step - self._start[0])
        since = now - self._last if self._start else 0.0
        return max(0.0, n_left * per_step - since)

    def _note_loss(self, loss: float) -> None:
        self._weight = KEEP * self._weight + (1 - KEEP)
        self._sum = KEEP * self._sum + (1 - KEEP) * loss
        self.loss = self._sum / self._weight
        self._part, self._n_part = self._part + loss, self._n_part + 1
        if self._n_part < self._n_in_part:
            return
        self._parts.append(self._part / self._n_part)
        self._part, self._n_part = 0.0, 0
        if len(self._parts) == N_PARTS:  # two become one, and from now on a part is twice as long
            pairs = zip(self._parts[::2], self._parts[1::2], strict=True)
            self._parts = [(a + b) / 2 for a, b in pairs]
            self._n_in_part *= 2
