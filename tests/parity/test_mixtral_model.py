"""Our Mixtral is that of Hugging Face: the same logits, gradients and continuations."""

from typing import Any

import pytest
import torch
from transformers import MixtralConfig as TheirConfig
from transformers import MixtralForCausalLM

from clearhead.models import Mixtral, MixtralConfig
from tests.parity.compare import assert_near, assert_same_gradients, backward, randomise
from tests.parity.weights import hf_mixtral

B, T, V = 2, 11, 53
SIZES: dict[str, dict[str, Any]] = {
    "small": {},
    "all experts, wide heads": {"n_experts": 3, "n_chosen": 3, "d_head": 12, "n_kv_heads": 1},
    "tied": {"is_tied": True, "rotary_base": 500.0, "n_experts": 5},
}


def twin_models(kind: str) -> tuple[Mixtral, Any]:
    """Ours and Mixtral's, with the same random weights."""
    sizes: dict[str, Any] = {
        "n_layers": 2,
        "d_model": 32,
        "d_ff": 24,
        "n_heads": 4,
        "n_kv_heads": 2,
        "n_experts": 4,
        "is_tied": False,
    }
    config = MixtralConfig(n_tokens=V, **sizes | SIZES[kind])
    theirs = MixtralForCausalLM(
        TheirConfig(
            vocab_size=V,
            hidden_size=config.d_model,
            intermediate_size=config.d_ff,
            num_hidden_layers=config.n_layers,
            num_attention_heads=config.n_heads,
            num_key_value_heads=config.kv_heads,
            head_dim=config.head_width,
            num_local_experts=config.n_experts,
            num_experts_per_tok=config.n_chosen,
            rms_norm_eps=config.norm_eps,
            rope_parameters={"rope_type": "default", "rope_theta": config.rotary_base},
            tie_word_embeddings=config.is_tied,
            experts_implementation="eager",
            attn_implementation="eager",
        )
    )
    randomise(theirs)
    ours = Mixtral(config)
    ours.load_state_dict(hf_mixtral(theirs.state_dict()))
    return ours.eval(), theirs.eval()


@pytest.mark.parametrize("kind", SIZES)
def test_the_model_is_mixtral(kind: str) -> None:
    ours, theirs = twin_models(kind)
    tokens = torch.randint(1, V, (B, T))
    output, expected = ours(tokens), theirs(tokens).logits
    assert_near(output, expected, 1e-4)
    backward(output, expected)
    assert_same_gradients(ours, theirs, hf_mixtral, 1e-4)


@pytest.mark.parametrize("kind", SIZES)
@torch.no_grad()
def test_greedy_writes_what_mixtral_writes(kind: str) -> None:
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


@torch.no_grad()
def test_the_balance_of_one_block_is_mixtrals() -> None:
    """Theirs = n_chosen · ours, as in test_mixtral, when there is a single block."""
    ours, theirs = twin_models("small")
    del ours.decoder.blocks[1:]
    del theirs.model.layers[1:]
    tokens = torch.randint(1, V, (B, T))
    tokens[1, 7:] = ours.config.pad
    vectors, balance = ours.read_with_balance(tokens)
    assert torch.equal(vectors, ours.read(tokens))
    is_token = tokens != ours.config.pad
    result = theirs(tokens, attention_mask=is_token.long(), output_router_logits=True)
    assert_near(ours.config.n_chosen * balance, result.aux_loss)
