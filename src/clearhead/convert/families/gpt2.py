"""GPT-2 of Hugging Face: the same model, with every matrix stored as (inputs, outputs)."""

from collections.abc import Mapping
from typing import Any, Final

from clearhead.config import GPTConfig
from clearhead.convert.family import Entry, Family
from clearhead.errors import ConfigError, nearest
from clearhead.models import GPT

__all__ = ["GPT2Family"]

ACTIVATIONS: Final = {
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu": "gelu",
    "relu": "relu",
}
END: Final = 50256
"""The token of GPT-2 that ends a text, and what their class takes where nothing is said."""


class GPT2Family(Family[GPTConfig]):
    """`GPT2LMHeadModel`."""

    model_type = "gpt2"
    architecture = "GPT2LMHeadModel"
    prefix = "transformer."
    ignored = ("*attn.bias", "*attn.masked_bias")

    def read_config(self, theirs: Mapping[str, Any]) -> GPTConfig:
        """Refuses other activations, other scales of the scores, and a second attention."""
        activation = theirs.get("activation_function", "gelu_new")
        if activation not in ACTIVATIONS:
            known = nearest(activation, ACTIVATIONS)
            raise ConfigError(f"activation_function={activation!r} is not known here: {known}")
        if not theirs.get("scale_attn_weights", True):
            raise ConfigError("scale_attn_weights=False is not known here: scores are scaled")
        for name in ("scale_attn_by_inverse_layer_idx", "add_cross_attention"):
            if theirs.get(name):
                raise ConfigError(f"{name}=True is not known here: only models without are")
        return GPTConfig.from_dict(
            {
                "n_tokens": theirs["vocab_size"],
                "pad": _padding(theirs),
                "n_positions": theirs.get("n_positions", 1024),
                "n_layers": theirs["n_layer"],
                "d_model": theirs["n_embd"],
                "d_ff": theirs.get("n_inner") or 4 * theirs["n_embd"],
                "n_heads": theirs["n_head"],
                "activation": ACTIVATIONS[activation],
                "norm_eps": theirs.get("layer_norm_epsilon", 1e-5),
                "is_tied": theirs.get("tie_word_embeddings", True),
                "dropout": theirs.get("resid_pdrop", 0.1),
                "attention_dropout": theirs.get("attn_pdrop", 0.1),
            }
        )

    def write_config(self, config: GPTConfig) -> dict[str, Any]:
        """All that their class needs."""
        # Without them their class takes the ends of GPT-2's own vocabulary.
        no_ends = {"bos_token_id": None, "eos_token_id": None} if config.n_tokens <= END else {}
        theirs = {ours: theirs for theirs, ours in reversed(ACTIVATIONS.items())}
        return {
            "vocab_size": config.n_tokens,
            "pad_token_id": config.pad,
            "n_positions": config.n_positions,
            "n_layer": config.n_layers,
            "n_embd": config.d_model,
            "n_inner": config.d_ff,
            "n_head": config.n_heads,
            "activation_function": theirs[config.activation],
            "layer_norm_epsilon": config.norm_eps,
            "tie_word_embeddings": config.is_tied,
            "embd_pdrop": config.dropout,
            "resid_pdrop": config.dropout,
            "attn_pdrop": config.attention_dropout,
            **no_ends,
        }

    def entries(self, config: GPTConfig) -> list[Entry]:
        """Both ends, then block by block."""
        found = [
            Entry("embedding.weight", ("transformer.wte.weight",)),
            Entry("positions.weight", ("transformer.wpe.weight",)),
            *_norm("decoder.norm", "transformer.ln_f"),
        ]
        if not config.is_tied:
            found.append(Entry("output.weight", ("lm_head.weight",)))
        for n in range(config.n_layers):
            ours, theirs = f"decoder.blocks.{n}", f"transformer.h.{n}"
            attention, feed_forward = f"{ours}.self_attention", f"{ours}.feed_forward"
            found += [
                Entry(f"{attention}.w_qkv", (f"{theirs}.attn.c_attn.weight",), is_transposed=True),
                Entry(f"{attention}.b_qkv", (f"{theirs}.attn.c_attn.bias",)),
                *_linear(f"{attention}.w_o", f"{theirs}.attn.c_proj"),
                *_linear(f"{feed_forward}.w_1", f"{theirs}.mlp.c_fc"),
                *_linear(f"{feed_forward}.w_2", f"{theirs}.mlp.c_proj"),
                *_norm(f"{attention}_residual.norm", f"{theirs}.ln_1"),
                *_norm(f"{feed_forward}_residual.norm", f"{theirs}.ln_2"),
            ]
        return found

    def build(self, config: GPTConfig) -> GPT:
        """Our GPT."""
        return GPT(config)


def _linear(ours: str, theirs: str) -> list[Entry]:
    return [
        Entry(f"{ours}.weight", (f"{theirs}.weight",), is_transposed=True),
        Entry(f"{ours}.bias", (f"{theirs}.bias",)),
    ]


def _norm(ours: str, theirs: str) -> list[Entry]:
    return [Entry(f"{ours}.{part}", (f"{theirs}.{part}",)) for part in ("weight", "bias")]


def _padding(theirs: Mapping[str, Any]) -> int:
    """GPT-2 has no padding: the end of a text serves, because 0 is an exclamation mark."""
    if theirs.get("pad_token_id") is not None:
        return int(theirs["pad_token_id"])
    end = theirs.get("eos_token_id")
    return end if end is not None and end < theirs["vocab_size"] else 0
