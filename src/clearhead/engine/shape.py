"""What the engine must know of a model's configuration, and whether it can serve it."""

from typing import Final

from clearhead.config import (
    KINDS,
    Config,
    GPTConfig,
    LlamaConfig,
    MixtralConfig,
    TransformerConfig,
)
from clearhead.engine.library import Shape

__all__ = ["AnyConfig", "is_decoder", "n_written", "shape_of", "why_not"]

AnyConfig = (
    TransformerConfig | LlamaConfig | GPTConfig
)  # what the engine can serve, if `why_not` says so
ACTIVATIONS: Final = {"relu": 1, "gelu": 2, "gelu_tanh": 3, "swiglu": 0}

N_LEAST: Final = 32
"""Positions that are needed to try how fast a model is."""


def why_not(config: Config) -> str | None:
    """What the engine cannot do with such a model; nothing if it can serve it."""
    if isinstance(config, GPTConfig) and config.n_positions < N_LEAST:
        return f"the engine tries texts of {N_LEAST} tokens, and the model has fewer positions"
    if type(config) in (LlamaConfig, MixtralConfig, GPTConfig):
        return None
    if not isinstance(config, TransformerConfig):
        kinds = [name for name, known in KINDS.items() if known is type(config)]
        return f"the engine does not know models of kind {kinds[0] if kinds else 'unknown'}"
    if config.positions == "learned":
        return "the engine does not know learned positions"
    if config.block.activation not in ACTIVATIONS:
        return f"the engine does not know the activation {config.block.activation}"
    if config.has_output_bias:
        return "the engine does not know an output with a bias"
    return None


def is_decoder(config: AnyConfig) -> bool:
    """Whether a model is a decoder by itself."""
    return isinstance(config, LlamaConfig | GPTConfig)


def n_written(config: AnyConfig) -> int:
    """How many tokens there are to write."""
    if isinstance(config, TransformerConfig):
        return config.n_target_tokens
    return config.n_tokens


def shape_of(config: AnyConfig) -> Shape:
    """The same for the compiled part."""
    if isinstance(config, LlamaConfig):
        experts = (0, 0)
        if isinstance(config, MixtralConfig):
            experts = (config.n_experts, config.n_chosen)
        return Shape(
            d_model=config.d_model, d_ff=config.d_ff, n_heads=config.n_heads,
            n_kv_heads=config.kv_heads, n_decoder_layers=config.n_layers, is_pre_norm=True,
            n_source_tokens=config.n_tokens, n_target_tokens=config.n_tokens,
            d_head=config.head_width, is_causal=True, is_rotary=True, is_rms_norm=True,
            is_gated=True, is_tied=config.is_tied, norm_eps=config.norm_eps, embedding_scale=1.0,
            n_experts=experts[0], n_chosen=experts[1],
        )  # fmt: skip
    if isinstance(config, GPTConfig):
        return Shape(
            d_model=config.d_model, d_ff=config.d_ff, n_heads=config.n_heads,
            n_kv_heads=config.n_heads, n_decoder_layers=config.n_layers, is_pre_norm=True,
            activation=ACTIVATIONS[config.activation], n_source_tokens=config.n_tokens,
            n_target_tokens=config.n_tokens, d_head=config.d_model // config.n_heads,
            is_causal=True, is_tied=config.is_tied, norm_eps=config.norm_eps, embedding_scale=1.0,
        )  # fmt: skip
    block = config.block
    return Shape(
        d_model=block.d_model, d_ff=block.d_ff, n_heads=block.n_heads,
        n_kv_heads=block.n_kv_heads or block.n_heads, n_encoder_layers=config.n_encoder_layers,
        n_decoder_layers=config.n_decoder_layers, is_pre_norm=block.norm == "pre",
        activation=ACTIVATIONS[block.activation], n_source_tokens=config.n_source_tokens,
        n_target_tokens=config.n_target_tokens, d_head=block.d_model // block.n_heads,
        is_gated=block.activation == "swiglu", is_tied=True, norm_eps=1e-5,
        embedding_scale=block.d_model**0.5,
    )  # fmt: skip
