"""Rotary positions, grouped queries and SwiGLU are Llama's."""

from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import (
    LlamaAttention,
    LlamaForCausalLM,
    LlamaMLP,
    LlamaRMSNorm,
    LlamaRotaryEmbedding,
    apply_rotary_pos_emb,
)

from clearhead import models
from clearhead.layers import (
    FeedForward,
    KeyValueCache,
    MultiHeadAttention,
    RMSNorm,
    Rotary,
    masks,
)
from tests.parity.compare import (
    Path,
    additive,
    assert_near,
    assert_same_gradients,
    backward,
    both_paths,
    gradient,
    randomise,
    take,
    twins,
)
from tests.parity.weights import hf_attention, hf_gated_feed_forward, hf_llama, unchanged

B, T, D, F = 2, 7, 32, 40


def config(
    n_heads: int = 4, n_kv_heads: int = 2, d_head: int = 8, base: float = 10000.0, **more: bool
) -> LlamaConfig:
    return LlamaConfig(
        hidden_size=D,
        intermediate_size=F,
        num_attention_heads=n_heads,
        num_key_value_heads=n_kv_heads,
        head_dim=d_head,
        rope_parameters={"rope_type": "default", "rope_theta": base},
        attn_implementation="eager",
        **more,
    )


def their_turns(llama: LlamaConfig, n_positions: int, offset: int = 0) -> tuple[Tensor, Tensor]:
    """Llama's cosines and sines."""
    positions = torch.arange(offset, offset + n_positions)[None]
    return LlamaRotaryEmbedding(llama)(torch.zeros(1), positions)


@pytest.mark.parametrize("offset", [0, 5, 100])
@pytest.mark.parametrize(("d_head", "base"), [(8, 10000.0), (8, 500000.0), (2, 100.0)])
def test_rotary_is_llamas(d_head: int, base: float, offset: int) -> None:
    (q, their_q), (k, their_k) = twins(B, 4, T, d_head), twins(B, 2, T, d_head)
    turns = their_turns(config(d_head=d_head, base=base), T, offset)
    expected_q, expected_k = apply_rotary_pos_emb(their_q, their_k, *turns)
    rotary = Rotary(d_head, base)
    turned_q, turned_k = rotary(q, offset), rotary(k, offset)
    assert_near(turned_q, expected_q)
    assert_near(turned_k, expected_k)
    backward(turned_q, expected_q)
    backward(turned_k, expected_k)
    assert_near(gradient(q), gradient(their_q))
    assert_near(gradient(k), gradient(their_k))


def test_rotary_stretched_is_llamas_linear_scaling() -> None:
    llama = config()
    llama.rope_parameters = {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}
    x = torch.randn(B, 4, T, 8)
    expected, _ = apply_rotary_pos_emb(x, x, *their_turns(llama, T))
    assert_near(Rotary(8, stretch=4.0)(x), expected)
    assert (Rotary(8)(x) - expected).abs().max() > 0.01


def twin_attentions(llama: LlamaConfig) -> tuple[MultiHeadAttention, LlamaAttention]:
    """Ours and Llama's, with the same random weights."""
    theirs = LlamaAttention(llama, layer_idx=0)
    randomise(theirs)
    ours = MultiHeadAttention(
        D,
        llama.num_attention_heads,
        llama.num_key_value_heads,
        d_head=llama.head_dim,
        bias=llama.attention_bias,
        rotary=Rotary(llama.head_dim, llama.rope_parameters["rope_theta"]),
    )
    ours.load_state_dict(hf_attention(theirs.state_dict()))
    return ours, theirs


ATTENTIONS = {
    "multi-head": config(n_heads=4, n_kv_heads=4),
    "grouped": config(n_heads=4, n_kv_heads=2),
    "multi-query": config(n_heads=4, n_kv_heads=1),
    "wide heads": config(n_heads=4, n_kv_heads=2, d_head=12),
    "bias": config(n_heads=8, n_kv_heads=2, d_head=4, base=500.0, attention_bias=True),
}


@pytest.mark.parametrize("is_training", [True, False])
@pytest.mark.parametrize("name", ATTENTIONS)
@both_paths
def test_attention_is_llamas(
    path: Path, name: str, is_training: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(path, monkeypatch)
    ours, theirs = twin_attentions(ATTENTIONS[name])
    ours.train(is_training)
    theirs.train(is_training)
    x, y = twins(B, T, D)
    is_token = torch.arange(T) < torch.tensor([T, 4])[:, None]
    may_attend = masks.causal(T) & masks.padding(is_token)

    output = ours(x, may_attend=may_attend)
    expected, _ = theirs(y, their_turns(ATTENTIONS[name], T), additive(may_attend))
    assert_near(output, expected)
    backward(output, expected)
    assert_near(gradient(x), gradient(y))
    assert_same_gradients(ours, theirs, hf_attention)
    assert (ours(x, may_attend=masks.causal(T)) - expected).abs().max() > 0.01


@pytest.mark.parametrize("parts", [[1] * T, [3, 1, 1, 2], [T]], ids=str)
@pytest.mark.parametrize("name", ATTENTIONS)
@both_paths
@torch.no_grad()
def test_attention_with_a_cache_is_llamas(
    path: Path, name: str, parts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    take(path, monkeypatch)
    ours, theirs = twin_attentions(ATTENTIONS[name])
    x = torch.randn(B, T, D)
    expected, _ = theirs(x, their_turns(ATTENTIONS[name], T), additive(masks.causal(T)))

    cache, outputs = KeyValueCache(), []
    for new in x.split(parts, dim=1):
        n_new = new.shape[1]
        may_attend = masks.causal(n_new, cache.length + n_new)
        outputs.append(ours(new, may_attend=may_attend, cache=cache))
    assert_near(torch.cat(outputs, dim=1), expected)


def test_swiglu_is_llamas() -> None:
    theirs, ours = LlamaMLP(config()), FeedForward(D, F, "swiglu", bias=False)
    randomise(theirs)
    ours.load_state_dict(hf_gated_feed_forward(theirs.state_dict()))
    x, y = twins(B, T, D)
    output, expected = ours(x), theirs(y)
    assert_near(output, expected)
    backward(output, expected)
    assert_near(gradient(x), gradient(y))
    assert_same_gradients(ours, theirs, hf_gated_feed_forward)


def test_rms_norm_is_llamas() -> None:
    theirs, ours = LlamaRMSNorm(D, eps=1e-6), RMSNorm(D)
    randomise(theirs)
    ours.load_state_dict(theirs.state_dict())
    x, y = twins(B, T, D)
    output, expected = ours(x), theirs(y)
    assert_near(output, expected)
    backward(output, expected)
    assert_near(gradient(x), gradient(y))
    assert_same_gradients(ours, theirs, unchanged)


MODELS: dict[str, dict[str, Any]] = {
    "small": {"n_kv_heads": 4},
    "grouped, tied": {"n_kv_heads": 2, "is_tied": True},
    "wide heads, biases": {"n_kv_heads": 1, "d_head": 12, "base": 500.0, "bias": True},
}


def twin_models(kind: str) -> tuple[models.Llama, Any]:
    """Ours and Llama's, with the same random weights."""
    sizes = MODELS[kind]
    base, bias, is_tied = (sizes.get(name) for name in ("base", "bias", "is_tied"))
    d_head = sizes.get("d_head", 8)
    theirs_config = config(
        4, sizes["n_kv_heads"], d_head, base or 10000.0, attention_bias=bool(bias)
    )
    theirs_config.update(
        {"vocab_size": 53, "num_hidden_layers": 3, "tie_word_embeddings": bool(is_tied)}
    )
    theirs = LlamaForCausalLM(theirs_config)
    randomise(theirs)
    ours = models.Llama(
        models.LlamaConfig(
            n_tokens=53,
            n_layers=3,
            d_model=D,
            d_ff=F,
            n_heads=4,
            n_kv_heads=sizes["n_kv_heads"],
            d_head=d_head,
            attention_bias=bool(bias),
            rotary_base=base or 10000.0,
            norm_eps=theirs_config.rms_norm_eps,
            is_tied=bool(is_tied),
        )
    )
    missing, unknown = ours.load_state_dict(hf_llama(theirs.state_dict()), strict=False)
    assert not unknown
    assert set(missing) <= {"output.weight"}
    return ours.eval(), theirs.eval()


@pytest.mark.parametrize("kind", MODELS)
def test_the_model_is_llama(kind: str) -> None:
    ours, theirs = twin_models(kind)
    tokens = torch.randint(1, 53, (B, 11))
    output, expected = ours(tokens), theirs(tokens).logits
    assert_near(output, expected, 1e-4)
    backward(output, expected)
    assert_same_gradients(ours, theirs, hf_llama, 1e-4)


@pytest.mark.parametrize("kind", MODELS)
@torch.no_grad()
def test_the_model_continues_as_llama_does(kind: str) -> None:
    """Prompts of different lengths, each beside the others, and then by itself in theirs."""
    ours, theirs = twin_models(kind)
    prompts = [[5, 9, 3], [7], [8, 8, 30, 41, 2, 6]]
    rows = torch.zeros(3, 6, dtype=torch.long)
    for row, prompt in zip(rows, prompts, strict=True):
        row[: len(prompt)] = torch.tensor(prompt)
    state = ours.start(rows)
    new = torch.randint(1, 53, (3, 5))
    for t in range(5):
        logits, state = ours.step(new[:, t : t + 1], state)
        for i, prompt in enumerate(prompts):
            text = torch.tensor([[*prompt, *new[i, : t + 1].tolist()]])
            assert_near(logits[i], theirs(text).logits[0, -1], 1e-4)
