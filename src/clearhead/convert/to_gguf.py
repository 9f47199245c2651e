"""Out to GGUF: one file with weights and tokens, which llama.cpp and all that build on it open.

Queries and keys change the places of their rows: we turn halves of a head, (i, i + d_head/2), and
llama.cpp turns neighbours, (2i, 2i + 1).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from torch import Tensor, nn

from clearhead.config import GPTConfig, LlamaConfig, MixtralConfig
from clearhead.convert.gguf_tokens import GgufTokens, tokens_for_gguf
from clearhead.errors import ConfigError, InputError
from clearhead.models import GPT, Llama, Mixtral
from clearhead.text import AnyTokenizer

__all__ = ["save_as_gguf"]

N_POSITIONS: Final = 2048
"""How long a text may get where nobody knows what the model was trained with."""
FILE_TYPES: Final = {"float32": 0, "float16": 1}
KEPT_WHOLE: Final = {"position_embd.weight"}
"""Beside vectors and the router, what has float32 in every file."""


def save_as_gguf(
    model: Llama | Mixtral | GPT,
    tokenizer: AnyTokenizer | None,
    path: Path,
    *,
    n_positions: int | None = None,
    precision: Literal["float32", "float16"] = "float32",
) -> tuple[str, ...]:
    """Write the model and its tokens to one file; returns what is not the same in llama.cpp.

    `n_positions` says how long the texts of its training were; 2,048 without it. In float16,
    vectors, positions and the router keep float32, as everywhere in llama.cpp. Without a tokenizer
    the file is for programs that have tokens already.
    """
    try:
        from gguf import GGUFWriter  # an optional dependency
    except ImportError:
        raise InputError("writing GGUF needs the package gguf: pip install gguf") from None
    config = model.config
    if isinstance(config, MixtralConfig) and config.n_chosen == 1:
        raise ConfigError("a single expert for each token is computed otherwise in llama.cpp")
    if isinstance(config, GPTConfig) and config.activation != "gelu_tanh":
        raise ConfigError(f"activation={config.activation!r} has no form in llama.cpp's GPT-2")
    tokens = None if tokenizer is None else tokens_for_gguf(tokenizer, config.n_tokens)
    writer = GGUFWriter(path, "gpt2" if isinstance(config, GPTConfig) else "llama")
    try:
        writer.add_file_type(FILE_TYPES[precision])
        _add_sizes(writer, config, n_positions or N_POSITIONS)
        _add_tokens(writer, tokens)
        for name, weight in _weights(model):
            is_matrix = weight.dim() > 1 and name not in KEPT_WHOLE and "gate_inp" not in name
            writer.add_tensor(name, _array(weight, precision if is_matrix else "float32"))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()
    return () if tokens is None else tokens.notes


def _add_sizes(writer: Any, config: LlamaConfig | GPTConfig, n_positions: int) -> None:
    writer.add_vocab_size(config.n_tokens)
    writer.add_block_count(config.n_layers)
    writer.add_embedding_length(config.d_model)
    writer.add_feed_forward_length(config.d_ff)
    writer.add_head_count(config.n_heads)
    if isinstance(config, GPTConfig):
        writer.add_context_length(config.n_positions)
        writer.add_layer_norm_eps(config.norm_eps)
        return
    writer.add_context_length(n_positions)
    writer.add_head_count_kv(config.kv_heads)
    writer.add_key_length(config.head_width)
    writer.add_value_length(config.head_width)
    writer.add_rope_dimension_count(config.head_width)
    writer.add_rope_freq_base(config.rotary_base)
    writer.add_layer_norm_rms_eps(config.norm_eps)
    if isinstance(config, MixtralConfig):
        writer.add_expert_count(config.n_experts)
        writer.add_expert_used_count(config.n_chosen)


def _add_tokens(writer: Any, tokens: GgufTokens | None) -> None:
    if tokens is None:
        writer.add_tokenizer_model("no_vocab")
        return
    writer.add_tokenizer_model(tokens.model)
    writer.add_tokenizer_pre(tokens.cut)
    writer.add_token_list(tokens.pieces)
    writer.add_token_types([int(kind) for kind in tokens.kinds])
    if tokens.scores:
        writer.add_token_scores(tokens.scores)
    if tokens.merges:
        writer.add_token_merges(tokens.merges)
    for role, token in tokens.specials.items():
        getattr(writer, f"add_{role}_token_id")(token)
    writer.add_add_space_prefix(tokens.adds_space)
    writer.add_add_bos_token(tokens.adds_bos)
    writer.add_add_eos_token(tokens.adds_eos)


def _weights(model: Llama | Mixtral | GPT) -> Iterator[tuple[str, Tensor]]:
    """Every weight with its name in llama.cpp."""
    config = model.config
    yield "token_embd.weight", model.embedding.weight
    if isinstance(model, GPT):
        yield "position_embd.weight", model.positions.weight
    for n, block in enumerate(model.decoder.blocks):
        named = _gpt_block(block) if isinstance(config, GPTConfig) else _block(block, config)
        for name, weight in named:
            yield f"blk.{n}.{name}", weight
    yield from _both("output_norm", model.decoder.norm)
    if not config.is_tied:
        yield "output.weight", model.output.weight


def _gpt_block(block: Any) -> Iterator[tuple[str, Tensor]]:
    attention, feed_forward = block.self_attention, block.feed_forward
    yield from _both("attn_norm", block.self_attention_residual.norm)
    yield "attn_qkv.weight", attention.w_qkv
    yield "attn_qkv.bias", attention.b_qkv
    yield from _both("attn_output", attention.w_o)
    yield from _both("ffn_norm", block.feed_forward_residual.norm)
    yield from _both("ffn_up", feed_forward.w_1)
    yield from _both("ffn_down", feed_forward.w_2)


def _both(name: str, part: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """Weight and bias, of which a norm of Llama has only the first."""
    for kind, weight in part.named_parameters():
        yield f"{name}.{kind}", weight


def _block(block: Any, config: LlamaConfig) -> Iterator[tuple[str, Tensor]]:
    attention, feed_forward = block.self_attention, block.feed_forward
    yield "attn_norm.weight", block.self_attention_residual.norm.weight
    yield from _queries_keys_values("weight", attention.w_qkv, config)
    yield "attn_output.weight", attention.w_o.weight
    if config.attention_bias:
        yield from _queries_keys_values("bias", attention.b_qkv, config)
        yield "attn_output.bias", attention.w_o.bias
    yield "ffn_norm.weight", block.feed_forward_residual.norm.weight
    if isinstance(config, MixtralConfig):
        gates, values = feed_forward.w_1.chunk(2, dim=1)
        yield "ffn_gate_inp.weight", feed_forward.w_r.weight
        yield "ffn_gate_exps.weight", gates
        yield "ffn_up_exps.weight", values
        yield "ffn_down_exps.weight", feed_forward.w_2
    else:
        gate, value = feed_forward.w_1.weight.chunk(2)
        yield "ffn_gate.weight", gate
        yield "ffn_up.weight", value
        yield "ffn_down.weight", feed_forward.w_2.weight


def _queries_keys_values(
    what: str, fused: Tensor, config: LlamaConfig
) -> Iterator[tuple[str, Tensor]]:
    """The three parts of a fused weight or bias, queries and keys with neighbours as pairs."""
    width, kv = config.n_heads * config.head_width, config.kv_heads * config.head_width
    q, k, v = fused.split((width, kv, kv))
    yield f"attn_q.{what}", _neighbours(q, config.n_heads)
    yield f"attn_k.{what}", _neighbours(k, config.kv_heads)
    yield f"attn_v.{what}", v


def _neighbours(weight: Tensor, n_heads: int) -> Tensor:
    """Rows (i, i + d_head/2) of each head become rows (2i, 2i + 1)."""
    return weight.unflatten(0, (n_heads, 2, -1)).transpose(1, 2).flatten(0, 2)


def _array(value: Tensor, precision: str) -> np.ndarray[Any, Any]:
    return np.ascontiguousarray(value.detach().float().cpu().numpy().astype(precision, copy=False))
