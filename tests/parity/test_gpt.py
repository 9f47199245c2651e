"""Our GPT is GPT-2 of Hugging Face: the same logits, gradients and continuations."""

from typing import Any

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from clearhead.layers import FeedForward
from clearhead.models import GPT, GPTConfig
from tests.parity.compare import assert_near, assert_same_gradients, backward, randomise
from tests.parity.weights import hf_gpt2

B, T, V, N = 2, 11, 53, 40
SIZES: dict[str, dict[str, Any]] = {
    "small": {},
    "one head, narrow": {"n_heads": 1, "d_ff": 20, "n_layers": 1},
    "untied": {"is_tied": False, "norm_eps": 1e-3},
    "exact GELU": {"activation": "gelu"},
    "ReLU": {"activation": "relu", "n_heads": 8},
}
THEIR_NAMES = {"gelu_tanh": "gelu_new", "gelu": "gelu", "relu": "relu"}


def twin_models(kind: str) -> tuple[GPT, Any]:
    """Ours and GPT-2, with the same random weights."""
    sizes: dict[str, Any] = {"n_layers": 3, "d_model": 32, "d_ff": 40, "n_heads": 4}
    ours_config = GPTConfig(n_tokens=V, n_positions=N, **sizes | SIZES[kind])
    theirs = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=V,
            n_positions=N,
            n_layer=ours_config.n_layers,
            n_embd=ours_config.d_model,
            n_inner=ours_config.d_ff,
            n_head=ours_config.n_heads,
            activation_function=THEIR_NAMES[ours_config.activation],
            layer_norm_epsilon=ours_config.norm_eps,
            tie_word_embeddings=ours_config.is_tied,
            bos_token_id=None,
            eos_token_id=None,
        )
    )
    randomise(theirs)
    ours = GPT(ours_config)
    ours.load_state_dict(hf_gpt2(theirs.state_dict()))
    return ours.eval(), theirs.eval()


@pytest.mark.parametrize("kind", SIZES)
def test_the_model_is_gpt2(kind: str) -> None:
    ours, theirs = twin_models(kind)
    tokens = torch.randint(1, V, (B, T))
    output, expected = ours(tokens), theirs(tokens).logits
    assert_near(output, expected, 1e-4)
    backward(output, expected)
    assert_same_gradients(ours, theirs, hf_gpt2, 1e-4)


def test_another_activation_is_noticed() -> None:
    ours, theirs = twin_models("small")
    tokens = torch.randint(1, V, (B, T))
    for part in ours.modules():
        if isinstance(part, FeedForward):
            part.activation = "relu"
    assert (ours(tokens) - theirs(tokens).logits).abs().max() > 0.01


@pytest.mark.parametrize("kind", SIZES)
@torch.no_grad()
def test_greedy_writes_what_gpt2_writes(kind: str) -> None:
    """Prompts of different lengths, each beside the others, and then by itself in theirs."""
    ours, theirs = twin_models(kind)
    prompts = [[5, 9, 3], [7], [8, 8, 30, 41, 2, 6]]
    rows = torch.zeros(3, 5, dtype=torch.long)
    for row, prompt in zip(rows, prompts, strict=True):
        row[: len(prompt) - 1] = torch.tensor(prompt[:-1])
    state = ours.start(rows)
    tokens = torch.tensor([prompt[-1:] for prompt in prompts])
    for _ in range(20):
        logits, state = ours.step(tokens, state)
        for i, prompt in enumerate(prompts):
            expected = theirs(torch.tensor([prompt])).logits[0, -1]
            assert_near(logits[i], expected, 1e-4)
            assert int(logits[i].argmax()) == int(expected.argmax())
            prompt.append(int(expected.argmax()))
        tokens = torch.tensor([prompt[-1:] for prompt in prompts])
