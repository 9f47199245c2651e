"""Our experts are Mixtral's, and so is the loss that balances their load."""

import pytest
import torch
from torch import Tensor
from transformers import MixtralConfig
from transformers.models.mixtral.modeling_mixtral import (
    MixtralSparseMoeBlock,
    load_balancing_loss_func,
)

from clearhead.layers import Experts
from clearhead.layers.experts import load_balance
from tests.parity.compare import (
    assert_near,
    assert_same_gradients,
    backward,
    gradient,
    randomise,
    twins,
)
from tests.parity.weights import hf_experts

B, T, D, F = 3, 5, 16, 12


def twin_experts(n_experts: int, n_chosen: int) -> tuple[Experts, MixtralSparseMoeBlock]:
    """Ours and Mixtral's, with the same random weights."""
    config = MixtralConfig(
        hidden_size=D,
        intermediate_size=F,
        num_local_experts=n_experts,
        num_experts_per_tok=n_chosen,
        experts_implementation="eager",
    )
    theirs = MixtralSparseMoeBlock(config)
    randomise(theirs)
    ours = Experts(D, F, n_experts, n_chosen)
    ours.load_state_dict(hf_experts(theirs.state_dict()))
    return ours, theirs


@pytest.mark.parametrize("is_training", [True, False])
@pytest.mark.parametrize(("n_experts", "n_chosen"), [(8, 2), (3, 3), (40, 2)])
def test_experts_are_mixtrals(n_experts: int, n_chosen: int, is_training: bool) -> None:
    ours, theirs = twin_experts(n_experts, n_chosen)
    ours.train(is_training)
    theirs.train(is_training)
    x, y = twins(B, T, D)
    output, expected = ours(x), theirs(y)
    assert_near(output, expected)
    backward(output, expected)
    assert_near(gradient(x), gradient(y))
    assert_same_gradients(ours, theirs, hf_experts)


def test_a_single_expert_is_mixtrals_times_its_probability() -> None:
    """Mixtral would give a single choice the weight 1; we keep its probability, as Switch does."""
    ours, theirs = twin_experts(4, 1)
    x, y = twins(B, T, D)
    router, _, _ = theirs.gate(y)
    probability = router.softmax(-1).amax(-1).view(B, T, 1)
    output, expected = ours(x), probability * theirs(y)
    assert_near(output, expected)
    backward(output, expected)
    assert_near(gradient(x), gradient(y))
    assert_same_gradients(ours, theirs, hf_experts)


def test_experts_of_a_wrong_number_are_noticed() -> None:
    ours, theirs = twin_experts(8, 2)
    ours.n_chosen = 3
    x = torch.randn(B, T, D)
    assert (ours(x) - theirs(x)).abs().max() > 0.01


def test_ample_capacity_changes_nothing() -> None:
    ours, theirs = twin_experts(4, 2)
    ours.capacity = 4.0
    x = torch.randn(B, T, D)
    assert_near(ours(x), theirs(x))


@pytest.mark.parametrize("with_padding", [True, False])
@pytest.mark.parametrize(("n_experts", "n_chosen"), [(8, 2), (4, 1), (6, 3)])
def test_load_balance_is_mixtrals(n_experts: int, n_chosen: int, with_padding: bool) -> None:
    """Theirs = n_chosen · ours: they count experts per token, we count shares of all assignments.

    So ours is 1 when the load is even, however many experts a token visits.
    """
    router, theirs = twins(B, T, n_experts)
    is_token: Tensor | None = None
    if with_padding:
        is_token = torch.arange(T) < torch.tensor([T, 3, 1])[:, None]
    chosen = router.topk(n_chosen, dim=-1).indices

    loss = load_balance(router, chosen, is_token)
    expected = load_balancing_loss_func(
        (theirs.flatten(0, 1),), n_experts, n_chosen, attention_mask=is_token
    )
    assert_near(n_chosen * loss, expected)
    (n_chosen * loss).backward()
    expected.backward()
    assert_near(gradient(router), gradient(theirs))
