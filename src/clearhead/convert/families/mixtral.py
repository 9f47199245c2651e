"""Mixtral of Hugging Face: a Llama whose experts have three matrices each."""

from collections.abc import Mapping
from typing import Any, Final

from clearhead.config import MixtralConfig
from clearhead.convert.families.llama import LlamaFamily, llama_block, llama_ends
from clearhead.convert.family import Entry, Family
from clearhead.errors import ConfigError
from clearhead.models import Mixtral

__all__ = ["MixtralFamily"]

DEFAULTS: Final = {"num_key_value_heads": 8, "rms_norm_eps": 1e-5, "rope_theta": 1e6}
"""Where their Mixtral differs from their Llama, if config.json does not say it."""


class MixtralFamily(Family[MixtralConfig]):
    """`MixtralForCausalLM`, as its files are written: each expert by itself."""

    model_type = "mixtral"
    architecture = "MixtralForCausalLM"
    ignored = LlamaFamily.ignored

    def read_config(self, theirs: Mapping[str, Any]) -> MixtralConfig:
        """Refuses what Llama refuses, windows, and a single expert for each token."""
        if theirs.get("sliding_window") is not None:
            raise ConfigError("sliding_window is not known here: every position is read")
        n_chosen = theirs.get("num_experts_per_tok", 2)
        _check_chosen(n_chosen)
        llama = LlamaFamily().read_config({**DEFAULTS, **theirs})
        n_experts = theirs.get("num_local_experts", 8)
        return MixtralConfig(**llama.to_dict(), n_experts=n_experts, n_chosen=n_chosen)

    def write_config(self, config: MixtralConfig) -> dict[str, Any]:
        """Llama's settings, and the experts'."""
        _check_chosen(config.n_chosen)
        if config.attention_bias:
            raise ConfigError("attention_bias has no form in Mixtral of Hugging Face")
        theirs = LlamaFamily().write_config(config)
        del theirs["attention_bias"], theirs["mlp_bias"]
        return {
            **theirs,
            "num_local_experts": config.n_experts,
            "num_experts_per_tok": config.n_chosen,
            "sliding_window": None,
        }

    def entries(self, config: MixtralConfig) -> list[Entry]:
        """Both ends, then block by block."""
        found = llama_ends(config.is_tied)
        for n in range(config.n_layers):
            ours, theirs = f"decoder.blocks.{n}", f"model.layers.{n}"
            found += llama_block(config, ours, theirs)
            found += _experts(config, f"{ours}.feed_forward", f"{theirs}.block_sparse_moe")
        return found

    def build(self, config: MixtralConfig) -> Mixtral:
        """Our Mixtral."""
        return Mixtral(config)


def _experts(config: MixtralConfig, ours: str, theirs: str) -> list[Entry]:
    """The router, then gate (w1) above value (w3) of each expert, then the ways back (w2)."""
    experts = [f"{theirs}.experts.{e}" for e in range(config.n_experts)]
    gates_and_values = tuple(f"{e}.{part}.weight" for e in experts for part in ("w1", "w3"))
    back = tuple(f"{expert}.w2.weight" for expert in experts)
    return [
        Entry(f"{ours}.w_r.weight", (f"{theirs}.gate.weight",)),
        Entry(f"{ours}.w_1", gates_and_values, (config.d_ff, config.d_ff), is_stacked=True),
        Entry(f"{ours}.w_2", back, is_stacked=True),
    ]


def _check_chosen(n_chosen: int) -> None:
    """With a single choice theirs has the weight 1, and ours its probability."""
    if n_chosen == 1:
        raise ConfigError("a single expert for each token is computed otherwise there: choose two")
