"""The KV cache: keys and values of earlier positions, so that a step computes only the new one.

Memory: 2 · layers · rows · G · positions · d_head numbers. Fewer key/value heads than query heads
(grouped queries) make it smaller by H / G.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from clearhead.errors import InputError
from clearhead.layers.tap import Gauge

__all__ = ["CacheGauges", "KeyValueCache"]

CHUNK = 64


@dataclass
class KeyValueCache:
    """What one self-attention remembers. Room is taken in chunks, and each entry written once."""

    length: int = 0
    _room: tuple[Tensor, Tensor] | None = field(default=None, repr=False)

    def append(
        self, k: Float[Tensor, "B G T K"], v: Float[Tensor, "B G T K"]
    ) -> tuple[Float[Tensor, "B G S K"], Float[Tensor, "B G S K"]]:
        """Write the keys and values of new positions; return all, as views without a copy."""
        start, end = self.length, self.length + k.shape[2]
        keys, values = self._reserve(k, end)
        keys[:, :, start:end] = k
        values[:, :, start:end] = v
        self.length = end
        return keys[:, :, :end], values[:, :, :end]

    def select(self, rows: Int[Tensor, " rows"]) -> "KeyValueCache":
        """Return a cache that holds these rows, in this order. Only what is in use is copied."""
        chosen = KeyValueCache()
        if self._room is not None:
            k, v = (room[:, :, : self.length].index_select(0, rows) for room in self._room)
            chosen.append(k, v)
        return chosen

    @property
    def n_bytes(self) -> int:
        """Bytes of the entries in use."""
        if self._room is None:
            return 0
        return sum(room[:, :, : self.length].numel() * room.element_size() for room in self._room)

    @property
    def n_bytes_reserved(self) -> int:
        """Bytes of the room that was taken."""
        return 0 if self._room is None else sum(room.nbytes for room in self._room)

    def _reserve(self, like: Tensor, n_positions: int) -> tuple[Tensor, Tensor]:
        """Take room for `n_positions`, half as much again each time: copying stays a constant."""
        if self._room is not None and self._room[0].shape[0] != like.shape[0]:
            raise InputError(
                f"{like.shape[0]} rows were given to a state that holds {self._room[0].shape[0]}"
            )
        capacity = 0 if self._room is None else self._room[0].shape[2]
        if n_positions > capacity:
            B, G, _, K = like.shape
            capacity = max(n_positions, capacity + max(CHUNK, capacity // 2))
            larger = like.new_empty(B, G, capacity, K), like.new_empty(B, G, capacity, K)
            for new, old in zip(larger, self._room or (), strict=False):
                new[:, :, : self.length] = old[:, :, : self.length]
            self._room = larger
        assert self._room is not None
        return self._room


class CacheGauges(nn.Module):
    """How much the caches of a stack hold, to be watched: positions and bytes, block by block."""

    def __init__(self) -> None:
        super().__init__()
        self.lengths, self.bytes = Gauge("L"), Gauge("L")

    def show(self, caches: Sequence[KeyValueCache]) -> None:
        """After a step."""
        self.lengths.show(lambda: torch.tensor([cache.length for cache in caches]))
        self.bytes.show(lambda: torch.tensor([cache.n_bytes for cache in caches]))
