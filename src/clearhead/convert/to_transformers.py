"""Out to Hugging Face: `M2M100ForConditionalGeneration` is our Transformer with the norm first."""

from typing import Any, Final

import torch
from torch import Tensor, nn

from clearhead.config.block import GATED
from clearhead.errors import ConfigError
from clearhead.layers.attention import MultiHeadAttention
from clearhead.layers.positions import sinusoids
from clearhead.models import Transformer

__all__ = ["as_m2m100", "put_positions"]

N_POSITIONS: Final = 1024
ACTIVATIONS: Final = {"gelu_tanh": "gelu_new"}
"""Where their name is another one."""


def as_m2m100(model: Transformer, *, bos: int, eos: int) -> Any:
    """The same weights in their class; it gives the same logits."""
    from transformers import M2M100Config, M2M100ForConditionalGeneration  # an optional dependency

    config, block = model.config, model.config.block
    if block.norm != "pre" or not config.is_joint or config.positions != "sinusoidal":
        raise ConfigError("M2M100 has its norms first, one vocabulary, and sinusoidal positions")
    if block.n_kv_heads not in (None, block.n_heads):
        raise ConfigError(f"M2M100 has no n_kv_heads={block.n_kv_heads}")
    if block.activation in GATED or config.has_output_bias:
        raise ConfigError("M2M100 has no gated feed-forward layers and no bias of its output")
    theirs = M2M100ForConditionalGeneration(
        M2M100Config(
            vocab_size=config.n_source_tokens, d_model=block.d_model,
            encoder_layers=config.n_encoder_layers, decoder_layers=config.n_decoder_layers,
            encoder_ffn_dim=block.d_ff, decoder_ffn_dim=block.d_ff,
            encoder_attention_heads=block.n_heads, decoder_attention_heads=block.n_heads,
            activation_function=ACTIVATIONS.get(block.activation, block.activation),
            scale_embedding=True,
            max_position_embeddings=N_POSITIONS, pad_token_id=config.pad, bos_token_id=bos,
            eos_token_id=eos, decoder_start_token_id=bos,
        )
    )  # fmt: skip
    weights = _weights(model)
    missing, unknown = theirs.load_state_dict(weights, strict=False)
    biases = {name for name in missing if name.endswith("_proj.bias")}
    if unknown or set(missing) - biases:
        raise ConfigError(f"M2M100 has other weights: {[*unknown, *sorted(set(missing) - biases)]}")
    with torch.no_grad():
        for name, parameter in theirs.named_parameters():
            if name in biases:  # ours has none
                parameter.zero_()
    put_positions(theirs)
    return theirs.eval()


def put_positions(theirs: Any) -> None:
    """Give their model our vectors of positions; they are not saved with its weights."""
    # Padding has a place of its own, and positions are counted from the one after it.
    vectors = sinusoids(N_POSITIONS, theirs.config.d_model)
    before = vectors.new_zeros(theirs.config.pad_token_id + 1, theirs.config.d_model)
    for stack in (theirs.model.encoder, theirs.model.decoder):
        stack.embed_positions.weights = torch.cat([before, vectors])


def _weights(model: Transformer) -> dict[str, Tensor]:
    shared = model.source_embedding.weight.detach()
    names = ("model.shared", "model.encoder.embed_tokens", "model.decoder.embed_tokens", "lm_head")
    found = {f"{name}.weight": shared for name in names}
    stacks: dict[str, Any] = {"encoder": model.encoder, "decoder": model.decoder}
    for name, stack in stacks.items():
        found |= _linear(f"model.{name}.layer_norm", stack.norm)
        for number, block in enumerate(stack.blocks):
            place = f"model.{name}.layers.{number}"
            found |= _attention(f"{place}.self_attn", block.self_attention)
            found |= _linear(f"{place}.self_attn_layer_norm", block.self_attention_residual.norm)
            if name == "decoder":
                found |= _attention(f"{place}.encoder_attn", block.cross_attention)
                norm = block.cross_attention_residual.norm
                found |= _linear(f"{place}.encoder_attn_layer_norm", norm)
            found |= _linear(f"{place}.fc1", block.feed_forward.w_1)
            found |= _linear(f"{place}.fc2", block.feed_forward.w_2)
            found |= _linear(f"{place}.final_layer_norm", block.feed_forward_residual.norm)
    return found


def _attention(place: str, ours: MultiHeadAttention) -> dict[str, Tensor]:
    found = _linear(f"{place}.out_proj", ours.w_o)
    for name, weight in zip("qkv", ours.w_qkv.detach().chunk(3), strict=True):
        found[f"{place}.{name}_proj.weight"] = weight
    if ours.b_qkv is not None:
        for name, bias in zip("qkv", ours.b_qkv.detach().chunk(3), strict=True):
            found[f"{place}.{name}_proj.bias"] = bias
    return found


def _linear(place: str, ours: nn.Module) -> dict[str, Tensor]:
    return {f"{place}.{name}": value.detach() for name, value in ours.named_parameters()}
