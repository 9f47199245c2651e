"""A question and its context as rows that a model can read.

    <bos> who ran ? <eos> in 1973 a dog ran … <eos>
      0    0   0  0   0   1   2   1  1   3      1     segments, n_hints = 1

A context that is too long for one row is read in windows that overlap. With `n_hints`, segments
also tell what needs no learning: how many words of the question the sentence of a token has, from
1, few, to `n_hints`, most; the same again for names and numbers; and the highest number is for the
words that the question has itself.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearhead.config import Config
from clearhead.data.question_files import Span
from clearhead.data.rows import Row
from clearhead.errors import ConfigError, InputError
from clearhead.tasks.answer.overlap import Word, near_question, shared_words, words_of
from clearhead.text import AnyTokenizer
from clearhead.text.framing import Framing
from clearhead.text.places import Placed, encode_places

__all__ = ["Read", "Reader", "ReadingConfig"]

N_OFTEN = 4
"""A word that a context has more often is no hint by itself."""


@dataclass(frozen=True, kw_only=True)
class ReadingConfig(Config):
    """How questions and contexts become rows, and which spans may be answers."""

    n_window: int = 384
    """Tokens of a row, the question and what stands around both included."""
    n_overlap: int = 128
    """Tokens of the context that two windows share."""
    n_question: int = 64
    """Tokens of a question; what is longer is cut."""
    n_longest: int = 30
    """Tokens of the longest answer."""
    n_hints: int = 0
    """In how many degrees segments tell what a sentence shares with the question; 0 for none."""
    has_refusals: bool = False
    """Whether a context may hold no answer; the first token stands for that."""

    def __post_init__(self) -> None:
        """Refuse windows that do not get on."""
        super().__post_init__()
        for name in ("n_window", "n_question", "n_longest"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be at least 1")
        for name in ("n_overlap", "n_hints"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name}={getattr(self, name)} must be at least 0")
        n_needed = self.n_question + 3 + self.n_overlap
        if self.n_window <= n_needed:
            raise ConfigError(
                f"n_window={self.n_window} leaves no room for the context: it must be more than "
                f"n_question={self.n_question}, n_overlap={self.n_overlap} and 3 together"
            )

    @property
    def n_segments(self) -> int:
        """How many segments a model needs for it."""
        return 2 + 2 * self.n_hints


@dataclass(frozen=True)
class Read:
    """A question with its context, ready for a model: a row for each window."""

    context: str
    placed: Placed
    """The tokens of the whole context."""
    rows: list[Row]
    begins: list[int]
    """Which token of the context is the first of each window."""
    n_before: int
    """Tokens of each row before the context."""

    def n_context(self, window: int) -> int:
        """How many tokens of the context a window has."""
        return len(self.rows[window].tokens) - self.n_before - 1

    def text(self, first: int, last: int) -> tuple[str, int, int]:
        """What the context says from one token to another, and where."""
        start, end = self.placed.starts[first], self.placed.ends[last]
        return self.context[start:end], start, end


class Reader:
    """Makes rows of questions, as a configuration says."""

    def __init__(self, tokenizer: AnyTokenizer, config: ReadingConfig) -> None:
        self.tokenizer, self.config = tokenizer, config
        self.framing = Framing.of(tokenizer)

    def read(self, questions: Sequence[tuple[str, str]]) -> list[Read]:
        """Rows for (question, context), without labels; a context is looked at once."""
        contexts = list(dict.fromkeys(context for _, context in questions))
        placed = dict(zip(contexts, encode_places(self.tokenizer, contexts), strict=True))
        words = {context: words_of(context) for context in contexts} if self.config.n_hints else {}
        asked = self.tokenizer.encode_batch([question for question, _ in questions])
        return [
            self._rows(question, tokens, context, placed[context], words.get(context, []))
            for (question, context), tokens in zip(questions, asked, strict=True)
        ]

    def _rows(
        self, question: str, tokens: list[int], context: str, placed: Placed, words: list[Word]
    ) -> Read:
        if not tokens or not placed.tokens:
            raise InputError("both the question and the context need at least one word")
        config = self.config
        tokens = tokens[: config.n_question]
        hints = self._hints(question, placed, words)
        n_before = len(tokens) + 2
        room = config.n_window - n_before - 1
        step = room - config.n_overlap
        begins = [*range(0, max(1, len(placed.tokens) - config.n_overlap), step)]
        rows = []
        for begin in begins:
            row, segments = self.framing.around(tokens, placed.tokens[begin : begin + room])
            segments[n_before:-1] = hints[begin : begin + room]
            rows.append(Row(row, (0, 0), segments))
        return Read(context, placed, rows, begins, n_before)

    def _hints(self, question: str, placed: Placed, words: list[Word]) -> list[int]:
        """The segment of each token of a context."""
        n_hints = self.config.n_hints
        if not n_hints or not words:
            return [1] * len(placed.tokens)
        shared = shared_words(question, words)
        levels = 1 + np.minimum(n_hints - 1, (near_question(shared, words) * n_hints).astype(int))
        is_name = np.array([word.is_name for word in words])
        starts = np.array([word.start for word in words])
        ends = np.array([word.end for word in words])
        at: NDArray[np.int64] = np.array(placed.starts)
        of = np.maximum(0, np.searchsorted(starts, at, "right") - 1)
        is_inside = at < ends[of]  # and no mark between words
        is_shared = is_inside & (shared[of] * N_OFTEN >= 1)
        hints = levels[of] + n_hints * (is_inside & is_name[of])
        return np.where(is_shared, 2 * n_hints + 1, hints).tolist()

    def label(self, read: Read, answer: Span | None) -> list[Row]:
        """The same rows with the place of the answer; where it is not whole, the first token."""
        return [
            Row(row.tokens, self._place(read, window, answer), row.segments)
            for window, row in enumerate(read.rows)
        ]

    def _place(self, read: Read, window: int, answer: Span | None) -> tuple[int, int]:
        if answer is None:
            return 0, 0
        placed, begin = read.placed, read.begins[window]
        inside = range(begin, begin + read.n_context(window))
        first = bisect_right(placed.ends, answer.start)
        last = bisect_left(placed.starts, answer.end) - 1
        if first not in inside or last not in inside or first > last:
            return 0, 0
        return first - begin + read.n_before, last - begin + read.n_before
