"""Sentence pairs to batches: pairs of like length together, so that little is padding.

Shift-right happens here and nowhere else (Vaswani et al. 2017, section 3.1): the decoder reads
`<bos> the dog` and has to say `the dog <eos>`.

    source      the dog runs <eos>
    target_in   <bos> der Hund rennt
    target_out  der Hund rennt <eos>
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, NamedTuple, TypeVar

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor

from clearhead.data.shards import Shards, Swapped, Tokens
from clearhead.errors import ConfigError, InputError
from clearhead.text.normal import BOS, EOS, PAD

__all__ = ["Batch", "Batches", "InTurn", "evaluation_batches", "in_order", "make_batch"]

Pair = tuple[Sequence[int] | Tokens, Sequence[int] | Tokens]
Result = TypeVar("Result")

POOL: Final = 2**18
"""Pairs that are sorted together; larger pools save padding, smaller ones mix more."""
MANY: Final = 2**16


@dataclass(frozen=True)
class Batch:
    """Some pairs as tensors, padded on the right, and how much of them is padding."""

    source: Int[Tensor, "B S"]
    target_in: Int[Tensor, "B T"]
    target_out: Int[Tensor, "B T"]
    rows: Int[Tensor, " B"]
    """Where each row stands in the data."""
    n_source_tokens: int
    """Real tokens of the source, `<eos>` included."""
    n_target_tokens: int
    """Real tokens to predict, `<eos>` included."""

    def to(self, device: torch.device) -> "Batch":
        """The same on another device; nothing is copied when it is there already."""
        source, target_in = self.source.to(device), self.target_in.to(device)
        return replace(
            self, source=source, target_in=target_in, target_out=self.target_out.to(device)
        )

    @property
    def n_padding(self) -> int:
        """Places in `source` and `target_out` that hold no token."""
        places = self.source.numel() + self.target_out.numel()
        return places - self.n_source_tokens - self.n_target_tokens

    @property
    def padding_share(self) -> float:
        """Which part of the places is padding, from 0 to 1."""
        return self.n_padding / (self.source.numel() + self.target_out.numel())


def make_batch(pairs: Sequence[Pair], rows: Sequence[int]) -> Batch:
    """Put pairs without special tokens under each other, and add `<bos>`, `<eos>` and padding."""
    lengths = np.array([(len(source) + 1, len(target) + 1) for source, target in pairs])
    n_source, n_target = lengths.max(axis=0)
    source = np.full((len(pairs), n_source), PAD, np.int64)
    target = np.full((len(pairs), n_target + 1), PAD, np.int64)
    target[:, 0] = BOS
    for row, ((words, answer), (end, last)) in enumerate(zip(pairs, lengths, strict=True)):
        source[row, : end - 1] = words
        source[row, end - 1] = EOS
        target[row, 1:last] = answer
        target[row, last] = EOS
    target_in = target[:, :-1].copy()
    target_in[np.arange(n_target) >= lengths[:, 1:]] = PAD  # the last word is read, `<eos>` is not
    return Batch(
        torch.from_numpy(source),
        torch.from_numpy(target_in),
        torch.from_numpy(target[:, 1:].copy()),
        torch.tensor(rows),
        *lengths.sum(axis=0).tolist(),
    )


class _Plan(NamedTuple):
    """One epoch: pairs in the order of use, and where in it each batch begins and ends."""

    order: NDArray[np.uint32]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]


class Batches:
    """All pairs of the shards once in each epoch, in batches of at most `n_tokens` a side.

    A batch has at most `n_tokens` places in `source`, and as many in `target_in`, padding included.
    A pair that is longer than this by itself is a batch of its own, not left out. Batches at the
    end of a pool (the last of a small corpus) are smaller, and are kept.

    An epoch's order is made from (seed, epoch) alone: all pairs are shuffled, pools of 262,144 are
    sorted by length and cut, and the batches are shuffled. It takes 4 bytes of memory for each pair
    and less than a second for each million of them.
    """

    def __init__(
        self, shards: Shards | Swapped, n_tokens: int, seed: int = 0, pool: int = POOL
    ) -> None:
        if n_tokens < 1 or seed < 0 or pool < 1:
            raise ConfigError(
                f"n_tokens={n_tokens} and pool={pool} must be at least 1, seed={seed} at least 0"
            )
        if len(shards) >= 2**32:
            raise InputError(
                f"{len(shards)} pairs are too many for one corpus, at most {2**32 - 1}"
            )
        self.shards = shards
        self.n_tokens = n_tokens
        self.seed = seed
        self.pool = pool
        self._planned: tuple[int, _Plan] | None = None

    def n_batches(self, epoch: int) -> int:
        """How many batches an epoch has; epochs differ by a few."""
        return len(self._plan(epoch).begins)

    def epoch(self, number: int, start: int = 0) -> Iterator[Batch]:
        """Yield the batches of an epoch; `start=k` gives exactly what comes after the first k."""
        plan = self._plan(number)
        if not 0 <= start <= len(plan.begins):
            raise InputError(f"start={start}, but epoch {number} has {len(plan.begins)} batches")
        for begin, end in zip(plan.begins[start:], plan.ends[start:], strict=True):
            rows = plan.order[begin:end].tolist()
            yield make_batch([self.shards[row] for row in rows], rows)

    def some(self, n_batches: int) -> list[Batch]:
        """A few batches to try things with: the largest of them first, and then all in order."""
        found = list(islice(self.epoch(0), n_batches))
        return [
            max(found, key=lambda batch: batch.source.numel() * batch.target_in.shape[1]),
            *found,
        ]

    def padding_share(self, epoch: int = 0) -> float:
        """Which part of an epoch's places is padding, from 0 to 1, without making the batches."""
        plan = self._plan(epoch)
        lengths = self.shards.lengths[plan.order]
        return 1 - (lengths.sum() + lengths.size) / _n_places(lengths, np.sort(plan.begins))

    def _plan(self, epoch: int) -> _Plan:
        if self._planned is None or self._planned[0] != epoch:
            self._planned = None  # never hold two
            self._planned = (epoch, self._make_plan(epoch))
        return self._planned[1]

    def _make_plan(self, epoch: int) -> _Plan:
        if epoch < 0:
            raise InputError(f"epoch={epoch} must be at least 0")
        random = np.random.default_rng([self.seed, epoch])
        order = np.arange(len(self.shards), dtype=np.uint32)
        random.shuffle(order)
        cuts = []
        for begin in range(0, len(order), self.pool):
            pool = order[begin : begin + self.pool]
            lengths = self.shards.lengths[pool]
            by_length, cut = _sort_and_cut(lengths, self.n_tokens)
            pool[:] = pool[by_length]
            cuts.append(cut + begin)
        begins = np.concatenate(cuts)
        ends = np.append(begins[1:], len(order))
        shuffled = random.permutation(len(begins))
        return _Plan(order, begins[shuffled], ends[shuffled])


class InTurn:
    """Some epochs of one corpus, and then epochs of another."""

    def __init__(self, first: Batches, n_epochs: int, then: Batches) -> None:
        self.first, self.n_epochs, self.then = first, n_epochs, then

    def n_batches(self, epoch: int) -> int:
        """How many batches an epoch has."""
        batches, number = self._in(epoch)
        return batches.n_batches(number)

    def epoch(self, number: int, start: int = 0) -> Iterator[Batch]:
        """Yield the batches of an epoch, from number `start` on."""
        batches, number = self._in(number)
        return batches.epoch(number, start)

    def some(self, n_batches: int) -> list[Batch]:
        """A few batches of the first epoch."""
        return self._in(0)[0].some(n_batches)

    def padding_share(self, epoch: int = 0) -> float:
        """Which part of an epoch's places is padding."""
        batches, number = self._in(epoch)
        return batches.padding_share(number)

    def _in(self, epoch: int) -> tuple[Batches, int]:
        """Whose epoch that is, and which one."""
        is_first = epoch < self.n_epochs
        return (self.first, epoch) if is_first else (self.then, epoch - self.n_epochs)


def evaluation_batches(pairs: Sequence[Pair], n_tokens: int) -> Iterator[Batch]:
    """Yield pairs in batches by length, longest first; `in_order` undoes the sorting.

    Without reference translations, give empty targets. The longest come first, so that too little
    memory shows at once.
    """
    if not pairs:
        return
    lengths = np.array([(len(source), len(target)) for source, target in pairs])
    order = _strips(lengths[:, 0], lengths[:, 1])[::-1]
    begins = _cut(lengths[order], n_tokens)
    for begin, end in zip(begins, [*begins[1:], len(pairs)], strict=True):
        rows = order[begin:end].tolist()
        yield make_batch([pairs[row] for row in rows], rows)


def in_order(results: Iterable[tuple[Batch, Sequence[Result]]]) -> list[Result]:
    """Put what was computed for each row of each batch back into the order of the data."""
    found: dict[int, Result] = {}
    for batch, values in results:
        found.update(zip(batch.rows.tolist(), values, strict=True))
    return [found[row] for row in sorted(found)]


def _sort_and_cut(
    lengths: NDArray[np.int32], n_tokens: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Order pairs so that neighbours have like lengths; return the order, and where batches begin.

    With many pairs, sorting by source and then by target leaves nearly no padding. Of few, a batch
    is a large part; so several ways are tried, and the one with the least padding is taken.
    """
    source, target = lengths.T
    if len(lengths) > MANY:
        orders = [_strips(source, target)]
    else:
        orders = [_strips(source, target, width) for width in (1, 2, 3, 4)]
        orders += [_strips(lengths.max(axis=1), lengths.min(axis=1))]
    tried = [(order, _cut(lengths[order], n_tokens)) for order in orders]
    return min(tried, key=lambda way: _n_places(lengths[way[0]], way[1]))


def _strips(
    length: NDArray[np.int32], other: NDArray[np.int32], width: int = 1
) -> NDArray[np.int64]:
    """Sort into strips of `width` lengths; within them the other side runs up and down in turn."""
    strip = length // width
    return np.lexsort((np.where(strip % 2, -other, other), strip))


def _n_places(lengths: NDArray[np.int32], begins: NDArray[np.int64]) -> int:
    """Places of all batches, both sides, padding included."""
    widths = np.maximum.reduceat(lengths, begins, axis=0).sum(axis=1, dtype=np.int64) + 2
    return int(widths @ np.diff(begins, append=len(lengths)))


def _cut(lengths: NDArray[np.int32], n_tokens: int) -> NDArray[np.int64]:
    """Where batches begin, when each takes as many rows as fit."""
    longest = lengths.max(axis=1).astype(np.int64) + 1
    begins, begin = [], 0
    while begin < len(longest):
        begins.append(begin)
        widths = np.maximum.accumulate(longest[begin : begin + max(1, n_tokens // longest[begin])])
        places = widths * np.arange(1, len(widths) + 1)
        begin += max(1, int(np.searchsorted(places, n_tokens, side="right")))
    return np.array(begins)
