"""Gaps to learn from: some tokens of a text are hidden, and are to be guessed from both sides.

    tokens     the dog runs after the ball
    inputs     the <mask> runs after ball ball
    is_hidden       x             x

Of what is hidden, 80 % is really gone, 10 % is another token at random and 10 % is still there, so
that a model never knows which of the tokens it reads are right (Devlin et al. 2019, §3.1). Gaps are
drawn anew for each batch of each epoch (Liu et al. 2019, §4.1), from (seed, epoch, batch) alone.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from jaxtyping import Bool, Int
from numpy.typing import NDArray
from torch import Tensor

from clearhead.data.windows import Windows
from clearhead.errors import ConfigError

__all__ = ["GapBatch", "GapBatches", "Hider", "frame_rows", "words_begin"]

GONE, OTHER = 0.8, 0.1
"""Shares of the hidden tokens that become a gap, and another token."""


@dataclass(frozen=True)
class Hider:
    """Hides tokens at random."""

    mask: int
    """What stands for a gap."""
    ordinary: NDArray[np.int64]
    """The tokens that may be hidden, and that may stand in for another."""
    share: float = 0.15
    begins: NDArray[np.bool_] | None = None
    """Of each token whether a word begins with it, to hide whole words; nothing for tokens."""

    def __post_init__(self) -> None:
        """Refuse a share of nothing or all."""
        if not 0 < self.share < 1:
            raise ConfigError(f"share={self.share} must be above 0 and below 1")

    def choose(self, tokens: NDArray[np.integer], random: np.random.Generator) -> NDArray[np.bool_]:
        """Which tokens of some rows are hidden: each by itself, or with its word; at least one."""
        drawn = random.random(tokens.shape)
        if self.begins is not None:  # all pieces of a word share the number of its first
            first = np.where(self.begins[tokens], np.arange(tokens.shape[1]), 0)
            drawn = np.take_along_axis(drawn, np.maximum.accumulate(first, axis=1), axis=1)
        drawn[~np.isin(tokens, self.ordinary)] = 1.0
        return (drawn < self.share) | ((drawn == drawn.min()) & (drawn < 1))

    def __call__(
        self, tokens: NDArray[np.integer], random: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Rows as a model reads them, and what is hidden in them."""
        is_hidden = self.choose(tokens, random)
        kind = random.random(tokens.shape)
        others = random.choice(self.ordinary, tokens.shape)
        inputs = np.where(is_hidden & (kind < GONE), self.mask, tokens)
        return np.where(is_hidden & (kind >= 1 - OTHER), others, inputs), is_hidden


@dataclass(frozen=True)
class GapBatch:
    """Rows with hidden tokens under each other."""

    inputs: Int[Tensor, "B S"]
    targets: Int[Tensor, "B S"]
    """What stands there really."""
    is_hidden: Bool[Tensor, "B S"]

    def to(self, device: torch.device) -> "GapBatch":
        """The same on another device."""
        moved = (each.to(device) for each in (self.inputs, self.targets, self.is_hidden))
        return GapBatch(*moved)

    @property
    def n_tokens(self) -> int:
        """How many tokens are to be guessed."""
        return int(self.is_hidden.sum())


class GapBatches:
    """Windows of a long row of tokens, framed and with gaps."""

    def __init__(self, windows: Windows, hider: Hider, frame: tuple[int, int]) -> None:
        self.windows, self.hider, self.frame = windows, hider, frame

    def n_batches(self, epoch: int) -> int:
        """How many batches an epoch has."""
        return self.windows.n_batches(epoch)

    def epoch(self, number: int, start: int = 0) -> Iterator[GapBatch]:
        """Yield the batches of an epoch; `start=k` gives exactly what comes after the first k."""
        for place, batch in enumerate(self.windows.epoch(number, start), start):
            rows = frame_rows(batch.inputs.numpy(), self.frame)
            random = np.random.default_rng([self.windows.seed, number, place])
            inputs, is_hidden = self.hider(rows, random)
            yield GapBatch(*map(torch.from_numpy, (inputs, rows, is_hidden)))

    def some(self, n_batches: int) -> list[GapBatch]:
        """A few batches to try things with."""
        return list(islice(self.epoch(0), n_batches + 1))

    def padding_share(self, epoch: int = 0) -> float:
        """Windows have no padding."""
        return 0.0


def frame_rows(rows: NDArray[np.integer], frame: tuple[int, int]) -> NDArray[np.int64]:
    """Put a token before and one after each row."""
    sides = ((0, 0), (1, 1))
    return np.pad(rows.astype(np.int64), sides, constant_values=((0, 0), frame))


def words_begin(pieces: Sequence[str]) -> NDArray[np.bool_]:
    """Of each piece of a vocabulary whether it can begin a word; a space is written ▁.

    >>> words_begin(["▁run", "ning", ".", "<0xE2>"]).tolist()
    [True, False, True, False]
    """
    return np.array([not _goes_on(piece) for piece in pieces])


def _goes_on(piece: str) -> bool:
    """Whether a piece begins with a letter, a mark or a byte of one, and no space before."""
    return piece.startswith("<0x") or unicodedata.category(piece[:1] or " ")[0] in "LM"
