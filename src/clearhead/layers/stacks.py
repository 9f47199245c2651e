"""Stacks: the same block N times over, and what a decoder remembers between steps."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from clearhead.config import BlockConfig
from clearhead.errors import ConfigError, InputError
from clearhead.layers import masks
from clearhead.layers.attention import KeysValues
from clearhead.layers.blocks import CrossBlock, DecoderBlock, EncoderBlock, SelfBlock
from clearhead.layers.cache import CacheGauges, KeyValueCache
from clearhead.layers.norms import LayerNorm
from clearhead.layers.positions import RelativeBias
from clearhead.layers.tap import ROWS, Tap, remember_listeners

__all__ = ["Decoder", "DecoderStack", "DecoderState", "Encoder", "EncoderStack", "Stack"]


class Stack(nn.Module):
    """Blocks, and a norm of the last output.

    With `recomputes` set, training keeps only the blocks' inputs and computes the rest again in
    the backward pass: less memory, about a third more time.
    """

    def __init__(self, blocks: Iterable[nn.Module], norm: nn.Module) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(blocks)
        if not self.blocks:
            raise ConfigError("n_layers=0 must be at least 1")
        self.norm = norm
        self.recomputes = False
        self.input = Tap("B T D")

    def _run(self, block: nn.Module, x: Tensor, *others: object) -> Tensor:
        if self.recomputes and self.training and torch.is_grad_enabled():
            return checkpoint(remember_listeners(block), x, *others, use_reentrant=False)
        return block(x, *others)


class EncoderStack(Stack):
    """Reads the whole source at once. All blocks share relative positions, if there are any."""

    def __init__(
        self,
        blocks: Iterable[SelfBlock],
        norm: nn.Module,
        positions: RelativeBias | None = None,
    ) -> None:
        super().__init__(blocks, norm)
        self.positions = positions

    def forward(
        self, x: Float[Tensor, "B S D"], may_attend: Bool[Tensor, "B 1 1 S"] | None
    ) -> Float[Tensor, "B S D"]:
        """Turn embedded tokens into vectors that know their context."""
        x = self.input(x)
        bias = None if self.positions is None else self.positions(x.shape[1], x.shape[1])
        for block in self.blocks:
            x = self._run(block, x, may_attend, None, bias)
        return self.norm(x)


class Encoder(EncoderStack):
    """The encoder of 2017."""

    def __init__(self, config: BlockConfig, n_layers: int) -> None:
        super().__init__((EncoderBlock(config) for _ in range(n_layers)), _last_norm(config))


class DecoderStack(Stack):
    """Reads the target from left to right, and the source at every position.

    All blocks share relative positions in the target, if there are any.
    """

    def __init__(
        self,
        blocks: Iterable[CrossBlock],
        norm: nn.Module,
        positions: RelativeBias | None = None,
    ) -> None:
        super().__init__(blocks, norm)
        self.positions = positions
        self.cache = CacheGauges()

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        memory: Float[Tensor, "B S D"],
        may_attend_memory: Bool[Tensor, "B 1 1 S"],
    ) -> Float[Tensor, "B T D"]:
        """All positions at once, as in training. No position sees a later one."""
        x = self.input(x)
        may_attend = masks.causal(x.shape[1], device=x.device)
        bias = None if self.positions is None else self.positions(x.shape[1], x.shape[1])
        for block in self.blocks:
            x = self._run(block, x, memory, may_attend, may_attend_memory, None, bias)
        return self.norm(x)

    def start(
        self, memory: Float[Tensor, "B S D"], may_attend_memory: Bool[Tensor, "B 1 1 S"]
    ) -> "DecoderState":
        """Project the source for every block, once."""
        return DecoderState(
            caches=[KeyValueCache() for _ in self.blocks],
            memories=[
                cast(CrossBlock, block).cross_attention.keys_values(memory) for block in self.blocks
            ],
            may_attend_memory=may_attend_memory,
            origins=torch.arange(len(memory), device=memory.device),
        )

    def step(self, x: Float[Tensor, "B T D"], state: "DecoderState") -> Float[Tensor, "B T D"]:
        """Only the new positions; the state holds the earlier ones, and takes the new ones in."""
        if len(x) != state.n_rows:
            raise InputError(f"{len(x)} rows were given to a state that holds {state.n_rows}")
        x = self.input(x)
        # A single new position may read everything before it, so it needs no mask.
        n_new, n_keys = x.shape[1], state.length + x.shape[1]
        may_attend = masks.causal(n_new, n_keys, x.device) if n_new > 1 else None
        bias = None if self.positions is None else self.positions(n_new, n_keys)
        for block, memory, cache in zip(self.blocks, state.memories, state.caches, strict=True):
            x = block(x, memory, may_attend, state.may_attend_memory, cache, bias)
        self.cache.show(state.caches)
        return self.norm(x)


class Decoder(DecoderStack):
    """The decoder of 2017."""

    def __init__(self, config: BlockConfig, n_layers: int) -> None:
        super().__init__((DecoderBlock(config) for _ in range(n_layers)), _last_norm(config))


def _last_norm(config: BlockConfig) -> nn.Module:
    """A pre-norm stack normalises its last output too."""
    return LayerNorm(config.d_model) if config.norm == "pre" else nn.Identity()


@dataclass
class DecoderState:
    """What a decoder remembers: earlier keys and values, and those of the source.

    A step writes into its state: go on with the state that it returns. `reorder` and `keep` return
    another state and leave this one as it was.
    """

    caches: list[KeyValueCache]
    memories: list[KeysValues]
    may_attend_memory: Bool[Tensor, "B 1 1 S"]
    origins: Int[Tensor, " B"]
    """Which source each row reads."""

    @property
    def n_rows(self) -> int:
        """How many sequences are being continued."""
        return len(self.may_attend_memory)

    @property
    def length(self) -> int:
        """How many positions have been decoded."""
        return self.caches[0].length

    @property
    def n_bytes(self) -> int:
        """Bytes of all keys and values in use, those of the source included."""
        source = sum(memory.k.nbytes + memory.v.nbytes for memory in self.memories)
        return source + sum(cache.n_bytes for cache in self.caches)

    def reorder(self, rows: Int[Tensor, " rows"]) -> "DecoderState":
        """These rows, in this order, as often as named: how beam search follows its hypotheses."""
        rows = ROWS(rows)
        caches = [cache.select(rows) for cache in self.caches]
        origins = self.origins[rows]
        if torch.equal(origins, self.origins):  # beams changed places: they read the same sources
            return DecoderState(caches, self.memories, self.may_attend_memory, origins)
        memories = [KeysValues(memory.k[rows], memory.v[rows]) for memory in self.memories]
        return DecoderState(caches, memories, self.may_attend_memory[rows], origins)

    def keep(self, rows: Bool[Tensor, " B"]) -> "DecoderState":
        """Drop the rows that are False: finished sequences cost nothing more."""
        return self if bool(rows.all()) else self.reorder(rows.nonzero()[:, 0])
