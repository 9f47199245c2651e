"""What a model costs: parameters, multiplications and cache, block by block.

A multiplication and an addition count as two operations. Norms, activations and softmax are left
out: they are small beside the products. All is counted from the weights that a block has, so that
every model is served: encoders, decoders, both, and experts, of which a token visits a few.
"""

from dataclasses import dataclass
from typing import Any

from torch import nn

from clearhead.layers.attention import MultiHeadAttention
from clearhead.layers.experts import Experts
from clearhead.models import Model

__all__ = ["Cost", "costs"]


@dataclass(frozen=True)
class Cost:
    """Of one part of a model."""

    part: str
    n_parameters: int
    read: int
    """Operations to read the source, or the beginning, once."""
    step: int
    """Operations for the last new token, with a cache."""
    step_without: int
    """The same without a cache: everything written so far is computed again."""
    cache_bytes: int
    """Keys and values that are kept when the last token is written, in float32."""


def costs(model: Model, n_source: int, n_target: int = 0, n_scored: int = 1) -> list[Cost]:
    """All parts for one text: so many tokens (or patches) are read, and so many written.

    What only reads has its output at one place, or at `n_scored`, the gaps of a text, say.
    """
    found = [
        _reading(f"encoder.blocks.{n}", block, n_source)
        for n, block in enumerate(_blocks(model, "encoder"))
    ]
    for n, block in enumerate(_blocks(model, "decoder")):
        write = _crossing if hasattr(block, "cross_attention") else _continuing
        found.append(write(f"decoder.blocks.{n}", block, n_source, n_target))
    n_inside = sum(cost.n_parameters for cost in found)
    output = 2 * _n_output(model)
    is_writer = n_target > 0
    seeing = 2 * getattr(getattr(model, "embedding", None), "n_products", 0)  # of pictures
    name = "embeddings, output, last norms"
    ends = Cost(
        name,
        model.n_parameters - n_inside,
        0 if is_writer else n_scored * output + seeing,
        output if is_writer else 0,
        output if is_writer else 0,
        0,
    )
    return [*found, ends]


def _blocks(model: Model, stack: str) -> list[Any]:
    return list(getattr(getattr(model, stack, None), "blocks", ()))


def _n_output(model: Model) -> int:
    """Weights of the output: of each token, or of each label."""
    output: Any = getattr(model, "output", None)
    weight = getattr(output, "weight", None)
    if weight is not None:  # of every token, maybe tied
        return int(weight.numel())
    return _n_weights(output) if isinstance(output, nn.Module) else 0


def _n_weights(module: nn.Module) -> int:
    """Weights that a position is multiplied with; an expert's only if it is visited."""
    if isinstance(module, Experts):
        visited = (module.w_1.numel() + module.w_2.numel()) * module.n_chosen // module.n_experts
        return visited + module.w_r.weight.numel()
    return sum(p.numel() for p in module.parameters() if p.dim() > 1)


def _n_all(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def _products(attention: MultiHeadAttention, n_keys: int) -> int:
    """A query with so many keys, and their values summed."""
    return 2 * 2 * attention.n_heads * attention.d_head * n_keys


def _n_kept(attention: MultiHeadAttention) -> int:
    """Numbers of one position's keys and values."""
    return 2 * attention.n_kv_heads * attention.d_head


def _keys_values(attention: MultiHeadAttention) -> int:
    """Operations for one position's keys and values."""
    return 2 * _n_kept(attention) * attention.w_qkv.shape[1]


def _reading(part: str, block: Any, n: int) -> Cost:
    """All positions read all."""
    each = 2 * (_n_weights(block.self_attention) + _n_weights(block.feed_forward))
    return Cost(part, _n_all(block), n * (each + _products(block.self_attention, n)), 0, 0, 0)


def _crossing(part: str, block: Any, n_source: int, n_target: int) -> Cost:
    """A block that reads what an encoder has made of the source."""
    own, cross = block.self_attention, block.cross_attention
    each = 2 * (_n_weights(own) + _n_weights(cross) + _n_weights(block.feed_forward))
    each += _products(cross, n_source) - _keys_values(cross)  # those of the source are there
    memory = n_source * _keys_values(cross)
    without = memory + sum(each + _products(own, t) for t in range(1, n_target + 1))
    kept = 4 * (n_source * _n_kept(cross) + n_target * _n_kept(own))
    return Cost(part, _n_all(block), memory, each + _products(own, n_target), without, kept)


def _continuing(part: str, block: Any, n_read: int, n_written: int) -> Cost:
    """A block of a decoder by itself: what it reads is the beginning of what it writes."""
    own, n_all = block.self_attention, n_read + n_written
    each = 2 * (_n_weights(own) + _n_weights(block.feed_forward))
    through = [each + _products(own, t) for t in range(1, n_all + 1)]
    kept = 4 * n_all * _n_kept(own)
    return Cost(part, _n_all(block), sum(through[:n_read]), through[-1], sum(through), kept)
