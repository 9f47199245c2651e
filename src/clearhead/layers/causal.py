"""A decoder by itself: what it reads is the beginning of what it writes."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from clearhead.errors import InputError
from clearhead.layers import masks
from clearhead.layers.cache import CacheGauges, KeyValueCache
from clearhead.layers.stacks import Stack
from clearhead.layers.tap import ROWS

__all__ = ["CausalStack", "CausalState", "move_padding"]


class CausalStack(Stack):
    """Blocks of self-attention in which no position sees a later one."""

    def __init__(self, blocks: Iterable[nn.Module], norm: nn.Module) -> None:
        super().__init__(blocks, norm)
        self.cache = CacheGauges()

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        """All positions at once, as in training; padding after the end changes nothing before."""
        x = self.input(x)
        may_attend = masks.causal(x.shape[1], device=x.device)
        for block in self.blocks:
            x = self._run(block, x, may_attend)
        return self.norm(x)

    def start(self, n_padding: Int[Tensor, " B"]) -> "CausalState":
        """Nothing is read yet; so many of the first positions of each row will be padding."""
        return CausalState([KeyValueCache() for _ in self.blocks], n_padding)

    def step(self, x: Float[Tensor, "B T D"], state: "CausalState") -> Float[Tensor, "B T D"]:
        """Only the new positions; the state holds the earlier ones, and takes the new ones in."""
        state.check_rows(len(x))
        x = self.input(x)
        may_attend = state.may_attend(x.shape[1])
        for block, cache in zip(self.blocks, state.caches, strict=True):
            x = block(x, may_attend, cache)
        self.cache.show(state.caches)
        return self.norm(x)


@dataclass
class CausalState:
    """What such a decoder remembers: keys and values of all earlier positions.

    A step writes into its state: go on with the state that it returns. `reorder` and `keep` return
    another state and leave this one as it was.
    """

    caches: list[KeyValueCache]
    n_padding: Int[Tensor, " B"]
    """How many positions of each row, the first ones, hold no token."""

    @property
    def n_rows(self) -> int:
        """How many sequences are being continued."""
        return len(self.n_padding)

    @property
    def length(self) -> int:
        """How many positions have been read, padding included."""
        return self.caches[0].length

    @property
    def n_bytes(self) -> int:
        """Bytes of all keys and values in use."""
        return sum(cache.n_bytes for cache in self.caches)

    def may_attend(self, n_new: int) -> Bool[Tensor, "#B 1 #T S"] | None:
        """What the next positions may read: all, if it is a single one and there is no padding."""
        device, n_keys = self.n_padding.device, self.length + n_new
        is_causal = masks.causal(n_new, n_keys, device) if n_new > 1 else None
        if not bool(self.n_padding.any()):
            return is_causal
        is_token = torch.arange(n_keys, device=device) >= self.n_padding[:, None]
        readable = masks.padding(is_token)
        return readable if is_causal is None else readable & is_causal

    def check_rows(self, n_rows: int) -> None:
        """Refuse tokens for another number of rows."""
        if n_rows != self.n_rows:
            raise InputError(f"{n_rows} rows were given to a state that holds {self.n_rows}")

    def places(self, n_new: int) -> Int[Tensor, "B T"]:
        """Which positions of their texts the next ones are; below 0 they are padding."""
        new = torch.arange(self.length, self.length + n_new, device=self.n_padding.device)
        return new - self.n_padding[:, None]

    def reorder(self, rows: Int[Tensor, " rows"]) -> "CausalState":
        """These rows, in this order, as often as named."""
        rows = ROWS(rows)
        return CausalState([cache.select(rows) for cache in self.caches], self.n_padding[rows])

    def keep(self, rows: Bool[Tensor, " B"]) -> "CausalState":
        """Drop the rows that are False: finished sequences cost nothing more."""
        return self if bool(rows.all()) else self.reorder(rows.nonzero()[:, 0])


def move_padding(
    tokens: Int[Tensor, "B S"], pad: int
) -> tuple[Int[Tensor, "B S"], Int[Tensor, " B"]]:
    """Bring padding from the end of each row to its beginning; return how much each row has.

    So all rows end at the same position, and go on together.
    """
    count = torch.arange(1, tokens.shape[1] + 1, device=tokens.device)
    # Up to the last that is not padding: what stands between tokens is a token.
    n_tokens = (count * (tokens != pad)).amax(1) if len(count) else count.new_zeros(len(tokens))
    n_padding = tokens.shape[1] - n_tokens
    places = count - 1 - n_padding[:, None]
    moved = tokens.gather(1, places.clamp(min=0))
    return moved.masked_fill(places < 0, pad), n_padding
