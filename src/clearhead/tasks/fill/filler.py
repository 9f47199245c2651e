"""A model that fills gaps: a text with `<mask>` in, the same text with words in their place out.

filler = Filler.load("plays-gaps")
filler("The cat <mask> on the mat.").text
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, overload

from clearhead.config import BertConfig, ModelConfig
from clearhead.errors import ConfigError, InputError
from clearhead.tasks.loaded import Loaded
from clearhead.text.framing import Framing
from clearhead.text.normal import MASK

if TYPE_CHECKING:
    from torch import Tensor

    from clearhead.models import Bert

    _Base = Loaded[Bert]
else:
    _Base = Loaded

__all__ = ["Candidate", "Filled", "Filler"]

N_BEST = 5
N_ROWS = 32


@dataclass(frozen=True)
class Candidate:
    """What could stand in a gap."""

    text: str
    """With the space before it, if it begins a word."""
    token: str
    probability: float


@dataclass(frozen=True)
class Filled:
    """A text whose gaps are filled. Its probability is the product of those of its gaps."""

    source: str
    """The text with its gaps."""
    text: str
    probability: float
    gaps: list[list[Candidate]]
    """Of each gap the candidates, the most probable first."""
    others: list[Filled] = field(default_factory=list)
    """The next best ways to fill all gaps, if they were asked for."""


class Filler(_Base):
    """A trained model with its tokenizer: call it with a text that has gaps, or with several."""

    @classmethod
    def _refuse(cls, config: ModelConfig, folder: str | Path) -> None:
        if not isinstance(config, BertConfig) or config.head != "fill":
            raise InputError(f"{folder} holds no model that fills gaps: an encoder with head fill")

    @overload
    def __call__(self, text: str, *, n_best: int = 1) -> Filled: ...
    @overload
    def __call__(self, text: list[str], *, n_best: int = 1) -> list[Filled]: ...
    def __call__(self, text: str | list[str], *, n_best: int = 1) -> Filled | list[Filled]:
        """Fill the gaps of a text, or of several in their order.

        All gaps of a text are guessed at once, each without knowing what is put into the others.
        Each has at least five candidates; with `n_best` there are so many fillings of the text.
        """
        if n_best < 1:
            raise ConfigError(f"n_best={n_best} must be at least 1")
        texts = [text] if isinstance(text, str) else list(text)
        cut = [self.parts(each) for each in texts]
        rows = [self.tokens_of(parts) for parts in cut]
        found: list[Filled] = []
        for begin in range(0, len(rows), N_ROWS):
            some = slice(begin, begin + N_ROWS)
            guessed = self._guess(rows[some], max(N_BEST, n_best))
            found += [
                _fill(each, parts, gaps, n_best)
                for each, parts, gaps in zip(texts[some], cut[some], guessed, strict=True)
            ]
        return found[0] if isinstance(text, str) else found

    @property
    def context(self) -> int:
        """How many tokens it has seen at once in training, if that is known; else all it can."""
        plan = self.card.get("plan")
        known = plan.get("context") if isinstance(plan, dict) else None
        n_positions = self.model.config.n_positions
        return min(known, n_positions) if isinstance(known, int) else n_positions

    def parts(self, text: str) -> list[str]:
        """A text cut at its gaps; one without any is refused."""
        marks = [MASK]
        if self.tokenizer.kind == "foreign":
            marks.append(self.tokenizer.tokens([self.tokenizer.mask])[0])
        parts = re.split("|".join(map(re.escape, marks)), text)
        if len(parts) == 1:
            raise InputError(
                f"{text[:40]!r} has no gap: write {' or '.join(dict.fromkeys(marks))} where a word "
                "is to be guessed"
            )
        return parts

    def tokens_of(self, parts: Sequence[str]) -> list[int]:
        """What the model reads: the tokens with gaps between the parts, and those around them."""
        tokens, _ = Framing.of(self.tokenizer).around(self.tokenizer.encode_gaps(parts))
        n_positions = self.model.config.n_positions
        if len(tokens) > n_positions:
            told = (f"{MASK}".join(parts))[:40]
            raise InputError(
                f"{told!r} … has {len(tokens)} tokens, and this model reads at most {n_positions} "
                "at once: shorten it, or divide it"
            )
        return tokens

    def _guess(self, rows: Sequence[list[int]], n_best: int) -> list[list[list[Candidate]]]:
        """Of each row, of each of its gaps: the best candidates."""
        import torch

        pad, mask = self.model.config.pad, self.tokenizer.mask
        longest = max(map(len, rows))
        table = [row + [pad] * (longest - len(row)) for row in rows]
        inputs = torch.tensor(table, device=self.device)
        is_gap = inputs == mask
        with torch.no_grad():
            x = self.model.read(inputs)[is_gap]
            p = self.model.output(x[None])[0].float().softmax(-1).cpu()
        gaps = [self._candidates(each, n_best) for each in p]
        counts = is_gap.sum(1).tolist()
        ends = [sum(counts[: n + 1]) for n in range(len(counts))]
        return [gaps[end - n : end] for n, end in zip(counts, ends, strict=True)]

    def _candidates(self, p: Tensor, n_best: int) -> list[Candidate]:
        """The most probable tokens that stand for text."""
        import torch

        from clearhead.tasks.fill.evaluate import ordinary_tokens

        ordinary = torch.from_numpy(ordinary_tokens(self.tokenizer))
        values, places = p[ordinary].topk(min(n_best, len(ordinary)))
        tokens = ordinary[places].tolist()
        pieces = self.tokenizer.tokens(tokens)
        return [
            Candidate(self._text_of(token, piece), piece, float(value))
            for token, piece, value in zip(tokens, pieces, values, strict=True)
        ]

    def _text_of(self, token: int, piece: str) -> str:
        """What a token adds to a text; decoding it by itself may lose its space, or add a mark."""
        text, word = self.tokenizer.decode([token]), piece.removeprefix("▁")
        text = word if text.endswith(word) else text
        return f" {text}" if piece.startswith("▁") and not text.startswith(" ") else text


def _fill(source: str, parts: Sequence[str], gaps: Sequence[list[Candidate]], n: int) -> Filled:
    """The best ways to fill all gaps: their probabilities are multiplied."""
    ways: list[tuple[float, list[Candidate]]] = [(1.0, [])]
    for some in gaps:
        longer = [(p * one.probability, [*way, one]) for p, way in ways for one in some]
        ways = sorted(longer, key=lambda each: -each[0])[:n]
    kept = list(gaps)
    first, *others = (Filled(source, _join(parts, way), p, kept) for p, way in ways)
    return Filled(first.source, first.text, first.probability, kept, others)


def _join(parts: Sequence[str], way: Sequence[Candidate]) -> str:
    """Put words between the parts; the space before a gap is that of the word in it, if it has one.

    >>> _join(["The cat ", " on."], [Candidate(" sat", "▁sat", 0.5)])
    'The cat sat on.'
    >>> _join(["The cat", ""], [Candidate("s", "s", 0.5)])
    'The cats'
    """
    text = parts[0]
    for word, part in zip(way, parts[1:], strict=True):
        has_space = not text or text[-1].isspace()
        text += (word.text.removeprefix(" ") if has_space else word.text) + part
    return text
