"""Llama of Hugging Face: the same model, with queries, keys and values in matrices of their own."""

from collections.abc import Mapping
from typing import Any

from clearhead.config import LlamaConfig
from clearhead.convert.family import Entry, Family
from clearhead.errors import ConfigError
from clearhead.models import Llama

__all__ = ["LlamaFamily", "llama_block", "llama_ends"]


class LlamaFamily(Family[LlamaConfig]):
    """`LlamaForCausalLM`."""

    model_type = "llama"
    architecture = "LlamaForCausalLM"
    prefix = "model."
    ignored = ("*.rotary_emb.inv_freq",)

    def read_config(self, theirs: Mapping[str, Any]) -> LlamaConfig:
        """Refuses other activations, and rotary positions that are stretched."""
        if theirs.get("hidden_act", "silu") != "silu":
            raise ConfigError(f"hidden_act={theirs['hidden_act']!r} is not known here: silu is")
        if theirs.get("mlp_bias"):
            raise ConfigError("mlp_bias is not known here: only feed-forward layers without are")
        return LlamaConfig(
            n_tokens=theirs["vocab_size"],
            pad=theirs.get("pad_token_id") or 0,
            n_layers=theirs["num_hidden_layers"],
            d_model=theirs["hidden_size"],
            d_ff=theirs["intermediate_size"],
            n_heads=theirs["num_attention_heads"],
            n_kv_heads=theirs.get("num_key_value_heads"),
            d_head=theirs.get("head_dim"),
            attention_bias=theirs.get("attention_bias", False),
            rotary_base=_rotary_base(theirs),
            norm_eps=theirs.get("rms_norm_eps", 1e-6),
            is_tied=theirs.get("tie_word_embeddings", False),
        )

    def write_config(self, config: LlamaConfig) -> dict[str, Any]:
        """All that their class needs."""
        return {
            "vocab_size": config.n_tokens,
            "pad_token_id": config.pad,
            "num_hidden_layers": config.n_layers,
            "hidden_size": config.d_model,
            "intermediate_size": config.d_ff,
            "num_attention_heads": config.n_heads,
            "num_key_value_heads": config.kv_heads,
            "head_dim": config.head_width,
            "attention_bias": config.attention_bias,
            "mlp_bias": False,
            "hidden_act": "silu",
            "rope_theta": config.rotary_base,
            "rms_norm_eps": config.norm_eps,
            "tie_word_embeddings": config.is_tied,
            "max_position_embeddings": 2048,
        }

    def entries(self, config: LlamaConfig) -> list[Entry]:
        """Block by block, then both ends."""
        d_ff = config.d_ff
        found = []
        for n in range(config.n_layers):
            ours, theirs = f"decoder.blocks.{n}", f"model.layers.{n}"
            found += llama_block(config, ours, theirs)
            gate_and_up = (f"{theirs}.mlp.gate_proj.weight", f"{theirs}.mlp.up_proj.weight")
            found += [
                Entry(f"{ours}.feed_forward.w_1.weight", gate_and_up, (d_ff, d_ff)),
                Entry(f"{ours}.feed_forward.w_2.weight", (f"{theirs}.mlp.down_proj.weight",)),
            ]
        return [*llama_ends(config.is_tied), *found]

    def build(self, config: LlamaConfig) -> Llama:
        """Our Llama."""
        return Llama(config)


def llama_ends(is_tied: bool) -> list[Entry]:
    """Embedding, last norm and output."""
    output = [] if is_tied else [Entry("output.weight", ("lm_head.weight",))]
    return [
        Entry("embedding.weight", ("model.embed_tokens.weight",)),
        Entry("decoder.norm.weight", ("model.norm.weight",)),
        *output,
    ]


def llama_block(config: LlamaConfig, ours: str, theirs: str) -> list[Entry]:
    """Attention and both norms of a block."""
    width, kv = config.n_heads * config.head_width, config.kv_heads * config.head_width
    rows = (width, kv, kv)
    names = [f"{theirs}.self_attn.{part}_proj" for part in "qkv"]
    found = [
        Entry(f"{ours}.self_attention.w_qkv", tuple(f"{n}.weight" for n in names), rows),
        Entry(f"{ours}.self_attention.w_o.weight", (f"{theirs}.self_attn.o_proj.weight",)),
        Entry(f"{ours}.self_attention_residual.norm.weight", (f"{theirs}.input_layernorm.weight",)),
        Entry(
            f"{ours}.feed_forward_residual.norm.weight",
            (f"{theirs}.post_attention_layernorm.weight",),
        ),
    ]
    if config.attention_bias:
        found += [
            Entry(f"{ours}.self_attention.b_qkv", tuple(f"{n}.bias" for n in names), rows),
            Entry(f"{ours}.self_attention.w_o.bias", (f"{theirs}.self_attn.o_proj.bias",)),
        ]
    return found


def _rotary_base(theirs: Mapping[str, Any]) -> float:
    """Newer folders have it in a group; other kinds than the plain one are refused."""
    rotary = theirs.get("rope_parameters") or theirs.get("rope_scaling") or {}
    kind = rotary.get("rope_type", rotary.get("type", "default"))
    if kind != "default":
        raise ConfigError(f"rotary positions of kind {kind!r} are not known here: default is")
    return float(rotary.get("rope_theta", theirs.get("rope_theta", 10000.0)))
