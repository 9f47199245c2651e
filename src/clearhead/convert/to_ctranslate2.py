"""Out to CTranslate2: a folder that it opens, with the same weights and tokens.

CTranslate2 quantises while it loads (`compute_type="int8"`), so the folder holds float32.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from torch import Tensor, nn

from clearhead.errors import ConfigError
from clearhead.layers.attention import MultiHeadAttention
from clearhead.layers.embedding import TokenScores
from clearhead.models import GPT, Llama, Transformer

__all__ = ["save_for_ctranslate2"]

N_POSITIONS: Final = 1024


def save_for_ctranslate2(
    model: Transformer | Llama | GPT,
    vocabulary: Sequence[str],
    folder: Path,
    *,
    bos: str,
    eos: str,
    unk: str,
) -> None:
    """Write the model and its tokens, in the order of their ids, to a new folder."""
    from ctranslate2.specs import TransformerSpec, common_spec  # an optional dependency

    if isinstance(model, Llama | GPT):
        spec = _llama(model) if isinstance(model, Llama) else _gpt(model)
        spec.register_vocabulary(list(vocabulary))
        spec.config.bos_token, spec.config.eos_token, spec.config.unk_token = bos, eos, unk
        spec.config.layer_norm_epsilon = model.config.norm_eps
        _save(spec, folder)
        return
    block, config = model.config.block, model.config
    activations = {
        "relu": common_spec.Activation.RELU,
        "gelu": common_spec.Activation.GELU,
        "swish": common_spec.Activation.SWISH,
    }
    if block.activation not in activations or block.n_kv_heads not in (None, block.n_heads):
        raise ConfigError(
            f"activation={block.activation!r} with n_kv_heads={block.n_kv_heads} has no form in "
            f"CTranslate2's encoder–decoder"
        )
    spec = TransformerSpec.from_config(
        (config.n_encoder_layers, config.n_decoder_layers),
        block.n_heads,
        pre_norm=block.norm == "pre",
        activation=activations[block.activation],
    )
    for stack, part, embedding in (
        (spec.encoder, model.encoder, model.source_embedding),
        (spec.decoder, model.decoder, model.target_embedding),
    ):
        first = stack.embeddings
        target = first[0] if isinstance(first, list) else first
        target.weight = _array(embedding.weight)
        stack.scale_embeddings = True
        stack.position_encodings.encodings = _array(model.source_positions(N_POSITIONS))
        for layer, ours in zip(stack.layer, part.blocks, strict=True):
            _put_block(layer, ours)
        if block.norm == "pre":
            _put_norm(stack.layer_norm, part.norm)
    _put_linear(spec.decoder.projection, model.output)
    spec.register_source_vocabulary(list(vocabulary))
    spec.register_target_vocabulary(list(vocabulary))
    spec.config.bos_token = spec.config.decoder_start_token = bos
    spec.config.eos_token, spec.config.unk_token = eos, unk
    spec.config.add_source_eos = spec.config.add_source_bos = False
    _save(spec, folder)


def _llama(model: Llama) -> Any:
    """A decoder by itself, which CTranslate2's `Generator` opens."""
    from ctranslate2.specs import TransformerDecoderModelSpec, common_spec

    config = model.config
    if config.attention_bias or config.d_head not in (None, config.d_model // config.n_heads):
        raise ConfigError("CTranslate2's Llama has no biases, and heads of d_model / n_heads")
    spec = TransformerDecoderModelSpec.from_config(
        config.n_layers,
        config.n_heads,
        activation=common_spec.Activation.SWISH,
        pre_norm=True,
        ffn_glu=True,
        rms_norm=True,
        rotary_dim=0,
        rotary_interleave=False,
        rotary_base=config.rotary_base,
        num_heads_kv=None if config.kv_heads == config.n_heads else config.kv_heads,
    )
    decoder: Any = spec.decoder
    norm: Any = model.decoder.norm
    decoder.scale_embeddings = False
    decoder.embeddings.weight = _array(model.embedding.weight)
    decoder.projection.weight = _array(model.output.weight)
    decoder.layer_norm.gamma = _array(norm.weight)
    for layer, ours in zip(decoder.layer, model.decoder.blocks, strict=True):
        block: Any = ours
        _put_attention(layer.self_attention, block.self_attention, [(0, None)])
        layer.self_attention.layer_norm.gamma = _array(block.self_attention_residual.norm.weight)
        gate, up = block.feed_forward.w_1.weight.chunk(2)
        layer.ffn.linear_0.weight, layer.ffn.linear_0_noact.weight = _array(gate), _array(up)
        _put_linear(layer.ffn.linear_1, block.feed_forward.w_2)
        layer.ffn.layer_norm.gamma = _array(block.feed_forward_residual.norm.weight)
    return spec


def _gpt(model: GPT) -> Any:
    """The same for GPT-2."""
    from ctranslate2.specs import TransformerDecoderModelSpec, common_spec

    config = model.config
    activations = {
        "relu": common_spec.Activation.RELU,
        "gelu": common_spec.Activation.GELU,
        "gelu_tanh": common_spec.Activation.GELUTanh,
    }
    spec = TransformerDecoderModelSpec.from_config(
        config.n_layers, config.n_heads, activation=activations[config.activation], pre_norm=True
    )
    decoder: Any = spec.decoder
    decoder.scale_embeddings = False
    decoder.embeddings.weight = _array(model.embedding.weight)
    decoder.position_encodings.encodings = _array(model.positions.weight)
    decoder.projection.weight = _array(model.output.weight)
    _put_norm(decoder.layer_norm, model.decoder.norm)
    for layer, ours in zip(decoder.layer, model.decoder.blocks, strict=True):
        _put_block(layer, ours)
    return spec


def _save(spec: Any, folder: Path) -> None:
    spec.validate()
    folder.mkdir(parents=True, exist_ok=True)
    spec.save(str(folder))


def _put_block(layer: Any, ours: Any) -> None:
    _put_attention(layer.self_attention, ours.self_attention, [(0, None)])
    _put_norm(layer.self_attention.layer_norm, ours.self_attention_residual.norm)
    if hasattr(layer, "attention"):
        d_q = ours.cross_attention.w_qkv.shape[0] // 3
        _put_attention(layer.attention, ours.cross_attention, [(0, d_q), (d_q, None)])
        _put_norm(layer.attention.layer_norm, ours.cross_attention_residual.norm)
    _put_linear(layer.ffn.linear_0, ours.feed_forward.w_1)
    _put_linear(layer.ffn.linear_1, ours.feed_forward.w_2)
    _put_norm(layer.ffn.layer_norm, ours.feed_forward_residual.norm)


def _put_attention(
    spec: Any, ours: MultiHeadAttention, parts: list[tuple[int, int | None]]
) -> None:
    """The fused projections in the parts that CTranslate2 has, then the output."""
    for linear, (begin, end) in zip(spec.linear[:-1], parts, strict=True):
        linear.weight = _array(ours.w_qkv[begin:end])
        if ours.b_qkv is not None:
            linear.bias = _array(ours.b_qkv[begin:end])
    _put_linear(spec.linear[-1], ours.w_o)


def _put_linear(spec: Any, ours: nn.Linear | TokenScores) -> None:
    spec.weight = _array(ours.weight)
    if ours.bias is not None:
        spec.bias = _array(ours.bias)


def _put_norm(spec: Any, ours: Any) -> None:
    spec.gamma, spec.beta = _array(ours.weight), _array(ours.bias)


def _array(value: Tensor) -> np.ndarray[Any, Any]:
    return np.ascontiguousarray(value.detach().float().cpu().numpy())
