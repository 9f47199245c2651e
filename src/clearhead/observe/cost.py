"""What a Transformer costs: parameters, multiplications and cache, block by block.

A multiplication and an addition count as two operations. Norms, activations and softmax are left
out: they are small beside the products.
"""

from dataclasses import dataclass

from clearhead.config import TransformerConfig
from clearhead.config.block import GATED
from clearhead.models import Model, Transformer

__all__ = ["Cost", "costs", "encoder_costs"]


@dataclass(frozen=True)
class Cost:
    """Of one part of a model."""

    part: str
    n_parameters: int
    read: int
    """Operations to read the source once."""
    step: int
    """Operations for the last new token, with a cache."""
    step_without: int
    """The same without a cache: everything written so far is computed again."""
    cache_bytes: int
    """Keys and values that are kept when the last token is written, in float32."""


def costs(model: Transformer, n_source: int, n_target: int) -> list[Cost]:
    """All parts for one sentence: its source, and a target of `n_target` tokens."""
    config = model.config
    return [
        *(_encoder(model, config, n, n_source) for n in range(config.n_encoder_layers)),
        *(_decoder(model, config, n, n_source, n_target) for n in range(config.n_decoder_layers)),
        _ends(model, config, n_target),
    ]


def encoder_costs(model: Model, d_model: int, d_ff: int, n_positions: int) -> list[Cost]:
    """The same for an encoder by itself, which writes nothing."""
    n_blocks = len(list(model.get_submodule("encoder.blocks").children()))
    names = [f"encoder.blocks.{n}" for n in range(n_blocks)]
    each = 2 * d_model * 4 * d_model + 2 * d_model * 2 * d_ff + 2 * 2 * d_model * n_positions
    found = [Cost(name, _count(model, name), n_positions * each, 0, 0, 0) for name in names]
    rest = model.n_parameters - sum(cost.n_parameters for cost in found)
    ends = _count(model, "embedding.w"), _count(model, "output")
    read = 2 * (n_positions * ends[0] + ends[1])
    return [*found, Cost("embeddings, output, last norm", rest, read, 0, 0, 0)]


def _count(model: Model, part: str) -> int:
    return sum(p.numel() for p in model.get_submodule(part).parameters())


def _sizes(config: TransformerConfig) -> tuple[int, int, int, int]:
    """What one position costs: its projections, keys and values alone, feed-forward, the width."""
    block = config.block
    d, d_kv = block.d_model, block.d_model // block.n_heads * (block.n_kv_heads or block.n_heads)
    up = 2 * block.d_ff if block.activation in GATED else block.d_ff
    return 2 * d * (2 * d + 2 * d_kv), 2 * d * 2 * d_kv, 2 * d * (up + block.d_ff), d


def _encoder(model: Transformer, config: TransformerConfig, n: int, n_source: int) -> Cost:
    projections, _, feed_forward, d = _sizes(config)
    read = n_source * (projections + feed_forward + 2 * 2 * d * n_source)
    part = f"encoder.blocks.{n}"
    return Cost(part, _count(model, part), read, 0, 0, 0)


def _decoder(
    model: Transformer, config: TransformerConfig, n: int, n_source: int, n_target: int
) -> Cost:
    projections, keys_values, feed_forward, d = _sizes(config)
    cross = projections - keys_values + 2 * 2 * d * n_source
    own = projections + 2 * 2 * d * n_target
    step = own + cross + feed_forward
    without = sum(projections + 2 * 2 * d * t for t in range(1, n_target + 1))
    without += n_target * (cross + feed_forward) + n_source * keys_values
    kept = 4 * (n_source + n_target) * keys_values // (2 * d)
    part = f"decoder.blocks.{n}"
    return Cost(part, _count(model, part), n_source * keys_values, step, without, kept)


def _ends(model: Transformer, config: TransformerConfig, n_target: int) -> Cost:
    """The embeddings and the output, which share their weights in a joint vocabulary."""
    inside = _count(model, "encoder.blocks") + _count(model, "decoder.blocks")
    output = 2 * config.block.d_model * config.n_target_tokens
    name = "embeddings, output, last norms"
    return Cost(name, model.n_parameters - inside, 0, output, output, 0)
