"""A text longer than what a model has seen at once, written piece by piece.

Positions that never came in training say nothing, so a model gets worse beyond its context. When
the context is full, its second half is read again as a beginning, and the text goes on from there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from clearhead.decoding import Hypothesis, Request

__all__ = ["Pieces"]

PER_PIECE = 1_000_003
"""Each piece draws with a seed of its own."""


@dataclass
class Pieces:
    """One continuation: what is asked for, and what is written so far."""

    request: Request
    context: int | None
    """How many tokens the model has seen at once; none for no limit."""
    written: list[int] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)
    answers: list[Hypothesis] | None = None
    """What came of it, once it is done."""
    n_pieces: int = 0

    def next(self) -> Request:
        """What to ask the decoder for now."""
        asked = self.request
        if self.context is None or asked.config.n_rows > 1:  # many answers share one beginning
            return asked
        row = [*asked.source, *self.written]
        if len(row) >= self.context:
            row = row[-max(1, self.context // 2) :]
        n_left = asked.max_length - len(self.written)
        seed = asked.config.seed + PER_PIECE * self.n_pieces
        n_least = max(0, asked.config.min_length - len(self.written))
        self.n_pieces += 1
        return replace(
            asked,
            source=row,
            max_length=max(1, min(n_left, self.context - len(row))),
            config=asked.config.override({"seed": seed, "min_length": n_least}),
            is_wrong=self._with_all(asked.is_wrong),
            is_enough=self._with_all(asked.is_enough),
        )

    def take(self, piece: Request, found: Sequence[Hypothesis]) -> None:
        """Hear what the decoder answered to a piece."""
        if piece is self.request or not found:
            self.answers = list(found)
            if self.written and not found:
                self.answers = [self._whole(is_finished=False)]
            return
        (one,) = found
        self.written += one.tokens
        self.log_probs += one.log_probs
        if one.is_finished or len(self.written) >= self.request.max_length:
            self.answers = [self._whole(one.is_finished)]

    def _whole(self, is_finished: bool) -> Hypothesis:
        total, n = sum(self.log_probs), max(1, len(self.log_probs))
        score = self.request.config.normalise(total, n)
        return Hypothesis(self.written, self.log_probs, score, is_finished)

    def _with_all(
        self, test: Callable[[tuple[int, ...]], bool] | None
    ) -> Callable[[tuple[int, ...]], bool] | None:
        """A rule of the whole answer, for a piece of it."""
        if test is None:
            return None
        before = tuple(self.written)
        return lambda tokens: test((*before, *tokens))
