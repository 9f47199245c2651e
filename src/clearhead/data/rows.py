"""Rows of tokens with labels → batches by length: texts that are classified, questions, spans.

All rows are held in memory. An epoch's order is made from (seed, epoch) alone, so that a run that
was stopped goes on at the exact batch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor

from clearhead.errors import ConfigError, InputError

__all__ = ["Row", "RowBatch", "RowBatches", "make_rows", "rows_in_order"]

POOL = 64
"""So many batches are sorted by length together."""


@dataclass(frozen=True)
class Row:
    """Tokens as the model reads them, whose each of them is, and what is to be said of them."""

    tokens: Sequence[int]
    labels: tuple[int, ...]
    """One number for a label, two for a span."""
    segments: Sequence[int] | None = None


@dataclass(frozen=True)
class RowBatch:
    """Some rows under each other, padded on the right."""

    tokens: Int[Tensor, "B S"]
    segments: Int[Tensor, "B S"]
    labels: Int[Tensor, "B Y"]
    rows: Int[Tensor, " B"]
    """Where each row stands in the data."""
    n_tokens: int
    """Real tokens."""

    def to(self, device: torch.device) -> "RowBatch":
        """The same on another device."""
        tokens, segments = self.tokens.to(device), self.segments.to(device)
        return RowBatch(tokens, segments, self.labels.to(device), self.rows, self.n_tokens)


def make_rows(rows: Sequence[Row], places: Sequence[int], pad: int) -> RowBatch:
    """Put rows under each other."""
    lengths = [len(row.tokens) for row in rows]
    tokens = np.full((len(rows), max(lengths)), pad, np.int64)
    segments = np.zeros_like(tokens)
    for place, row in enumerate(rows):
        tokens[place, : lengths[place]] = row.tokens
        if row.segments is not None:
            segments[place, : lengths[place]] = row.segments
    return RowBatch(
        torch.from_numpy(tokens),
        torch.from_numpy(segments),
        torch.tensor([row.labels for row in rows]),
        torch.tensor(places),
        sum(lengths),
    )


class RowBatches:
    """All rows once in each epoch, in batches of at most `n_tokens` places, padding included."""

    def __init__(self, rows: Sequence[Row], n_tokens: int, pad: int, seed: int = 0) -> None:
        if n_tokens < 1 or seed < 0:
            raise ConfigError(f"n_tokens={n_tokens} must be at least 1, seed={seed} at least 0")
        if not rows:
            raise InputError("there is nothing to make batches of")
        self.rows, self.n_tokens, self.pad, self.seed = rows, n_tokens, pad, seed
        self.lengths: NDArray[np.int64] = np.array([len(row.tokens) for row in rows])
        self._cut_last: tuple[int, list[NDArray[np.int64]]] | None = None

    def n_batches(self, epoch: int) -> int:
        """How many batches an epoch has; epochs differ by a few."""
        return len(self._cut(epoch))

    def epoch(self, number: int, start: int = 0) -> Iterator[RowBatch]:
        """Yield the batches of an epoch; `start=k` gives exactly what comes after the first k."""
        batches = self._cut(number)
        if not 0 <= start <= len(batches):
            raise InputError(f"start={start}, but epoch {number} has {len(batches)} batches")
        for places in batches[start:]:
            yield self._batch(places)

    def in_length_order(self) -> Iterator[RowBatch]:
        """Yield all rows, the longest first; `rows_in_order` undoes the sorting."""
        for places in _cut(np.argsort(-self.lengths, kind="stable"), self.lengths, self.n_tokens):
            yield self._batch(places)

    def some(self, n_batches: int) -> list[RowBatch]:
        """A few batches to try things with, a largest one first."""
        found = [self._batch(places) for places in self._cut(0)[:n_batches]]
        return [max(found, key=lambda batch: batch.tokens.shape[1]), *found]

    def padding_share(self, epoch: int = 0) -> float:
        """Which part of an epoch's places is padding, from 0 to 1."""
        n_places = sum(len(each) * int(self.lengths[each].max()) for each in self._cut(epoch))
        return 1 - float(self.lengths.sum()) / n_places

    def _batch(self, places: NDArray[np.int64]) -> RowBatch:
        return make_rows([self.rows[place] for place in places], places.tolist(), self.pad)

    def _cut(self, epoch: int) -> list[NDArray[np.int64]]:
        """Which rows each batch of an epoch has."""
        if epoch < 0:
            raise InputError(f"epoch={epoch} must be at least 0")
        if self._cut_last is None or self._cut_last[0] != epoch:
            random = np.random.default_rng([self.seed, epoch])
            order = random.permutation(len(self.rows))
            n_pool = POOL * max(1, int(self.n_tokens / self.lengths.mean()))
            batches = []
            for begin in range(0, len(order), n_pool):
                pool = order[begin : begin + n_pool]
                pool = pool[np.argsort(self.lengths[pool], kind="stable")]
                batches += _cut(pool, self.lengths, self.n_tokens)
            mixed = random.permutation(len(batches))
            self._cut_last = (epoch, [batches[place] for place in mixed])
        return self._cut_last[1]


def rows_in_order(found: Sequence[tuple[RowBatch, Tensor]]) -> Tensor:
    """Put what was computed for each row of each batch back into the order of the data."""
    rows = torch.cat([batch.rows for batch, _ in found])
    values = torch.cat([value for _, value in found])
    return values[torch.argsort(rows)]


def _cut(
    order: NDArray[np.int64], lengths: NDArray[np.int64], n_tokens: int
) -> list[NDArray[np.int64]]:
    """Cut an order of rows into batches, each as large as fits; a row too long is one by itself."""
    batches, begin, longest = [], 0, 0
    for end, place in enumerate(order):
        longest = max(longest, int(lengths[place]))
        if end > begin and longest * (end - begin + 1) > n_tokens:
            batches.append(order[begin:end])
            begin, longest = end, int(lengths[place])
    return [*batches, order[begin:]]
