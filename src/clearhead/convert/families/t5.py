"""T5 of Hugging Face, version 1.0 (t5-small and so on) and version 1.1 (Flan-T5 too)."""

from collections.abc import Mapping
from typing import Any, Final

from clearhead.config import T5Config
from clearhead.config.block import GATED
from clearhead.convert.family import Entry, Family
from clearhead.errors import ConfigError
from clearhead.models import T5

__all__ = ["T5Family"]

ACTIVATIONS: Final = {"relu": "relu", "gated-gelu": "geglu", "gated-silu": "swiglu"}
"""Theirs and ours; a plain GELU of theirs is another one in each version of their library."""


class T5Family(Family[T5Config]):
    """`T5ForConditionalGeneration`."""

    model_type = "t5"
    architecture = "T5ForConditionalGeneration"
    # The second attention of the decoder has no positions; old folders hold a table all the same.
    ignored = ("*.embed_tokens.weight", "lm_head.weight", "*.EncDecAttention.relative_*")

    stand_ins = {"lm_head.weight": "shared.weight"}  # noqa: RUF012 - nobody changes it

    def read_config(self, theirs: Mapping[str, Any]) -> T5Config:
        """Refuses other activations, and targets that begin with another token than padding."""
        kind = theirs.get("feed_forward_proj", "relu")
        if kind not in ACTIVATIONS:
            known = ", ".join(ACTIVATIONS)
            raise ConfigError(f"feed_forward_proj={kind!r} is not known here: {known} are")
        pad = theirs.get("pad_token_id") or 0
        start = theirs.get("decoder_start_token_id")
        if start not in (None, pad):
            raise ConfigError(
                f"decoder_start_token_id={start} is not known here: targets begin with "
                f"pad_token_id={pad}"
            )
        return T5Config.from_dict(
            {
                "n_tokens": theirs["vocab_size"],
                "pad": pad,
                "n_encoder_layers": theirs["num_layers"],
                "n_decoder_layers": theirs.get("num_decoder_layers") or theirs["num_layers"],
                "d_model": theirs["d_model"],
                "d_ff": theirs["d_ff"],
                "n_heads": theirs["num_heads"],
                "d_head": theirs["d_kv"],
                "activation": ACTIVATIONS[kind],
                "n_buckets": theirs.get("relative_attention_num_buckets", 32),
                "max_distance": theirs.get("relative_attention_max_distance", 128),
                "norm_eps": theirs.get("layer_norm_epsilon", 1e-6),
                "is_tied": _is_tied(theirs),
                "dropout": theirs.get("dropout_rate", 0.1),
            }
        )

    def write_config(self, config: T5Config) -> dict[str, Any]:
        """All that their class needs; refuses an activation that theirs has not."""
        names = {ours: theirs for theirs, ours in ACTIVATIONS.items()}
        if config.activation not in names:
            raise ConfigError(f"their T5 has no activation {config.activation!r}")
        return {
            "vocab_size": config.n_tokens,
            "pad_token_id": config.pad,
            "decoder_start_token_id": config.pad,
            "num_layers": config.n_encoder_layers,
            "num_decoder_layers": config.n_decoder_layers,
            "d_model": config.d_model,
            "d_ff": config.d_ff,
            "num_heads": config.n_heads,
            "d_kv": config.d_head,
            "feed_forward_proj": names[config.activation],
            "relative_attention_num_buckets": config.n_buckets,
            "relative_attention_max_distance": config.max_distance,
            "layer_norm_epsilon": config.norm_eps,
            "tie_word_embeddings": config.is_tied,
            "dropout_rate": config.dropout,
            "is_encoder_decoder": True,
        }

    def entries(self, config: T5Config) -> list[Entry]:
        """Both ends, then block by block; their first block holds the positions of all."""
        found = [Entry("source_embedding.weight", ("shared.weight",))]
        if not config.is_tied:
            found.append(Entry("output.weight", ("lm_head.weight",)))
        for stack in ("encoder", "decoder"):
            place = f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
            found += [
                Entry(f"{stack}.positions.weight", (place,)),
                Entry(f"{stack}.norm.weight", (f"{stack}.final_layer_norm.weight",)),
            ]
        for n in range(config.n_encoder_layers):
            found += _block(config, f"encoder.blocks.{n}", f"encoder.block.{n}.layer")
        for n in range(config.n_decoder_layers):
            ours, theirs = f"decoder.blocks.{n}", f"decoder.block.{n}.layer"
            found += _block(config, ours, theirs, is_decoder=True)
        return found

    def build(self, config: T5Config) -> T5:
        """Our T5."""
        return T5(config)


def _is_tied(theirs: Mapping[str, Any]) -> bool:
    """Newer folders call every output tied; only that of version 1.0 is scaled as well."""
    is_tied: bool = theirs.get("scale_decoder_outputs", theirs.get("tie_word_embeddings", True))
    return is_tied


def _block(config: T5Config, ours: str, theirs: str, *, is_decoder: bool = False) -> list[Entry]:
    """Their sub-layers have numbers: attention to itself, to the source, feed-forward."""
    last = 2 if is_decoder else 1
    found = _attention(config, f"{ours}.self_attention", f"{theirs}.0", "SelfAttention")
    if is_decoder:
        found += _attention(config, f"{ours}.cross_attention", f"{theirs}.1", "EncDecAttention")
    dense, w_1 = f"{theirs}.{last}.DenseReluDense", f"{ours}.feed_forward.w_1.weight"
    if config.activation in GATED:
        gate_and_up = (f"{dense}.wi_0.weight", f"{dense}.wi_1.weight")
        found.append(Entry(w_1, gate_and_up, (config.d_ff, config.d_ff)))
    else:
        found.append(Entry(w_1, (f"{dense}.wi.weight",)))
    norm = f"{theirs}.{last}.layer_norm.weight"
    return [
        *found,
        Entry(f"{ours}.feed_forward.w_2.weight", (f"{dense}.wo.weight",)),
        Entry(f"{ours}.feed_forward_residual.norm.weight", (norm,)),
    ]


def _attention(config: T5Config, ours: str, theirs: str, kind: str) -> list[Entry]:
    rows = (config.n_heads * config.d_head,) * 3
    parts = tuple(f"{theirs}.{kind}.{part}.weight" for part in "qkv")
    return [
        Entry(f"{ours}.w_qkv", parts, rows),
        Entry(f"{ours}.w_o.weight", (f"{theirs}.{kind}.o.weight",)),
        Entry(f"{ours}_residual.norm.weight", (f"{theirs}.layer_norm.weight",)),
    ]
