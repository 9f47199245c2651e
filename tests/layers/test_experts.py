"""Experts: grouped work against a loop over tokens, places, balance, and what can be watched."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from clearhead.config.block import Activation
from clearhead.errors import ConfigError
from clearhead.layers import Experts, FeedForward
from clearhead.layers.experts import load_balance, within_capacity
from clearhead.layers.feed_forward import activate
from clearhead.layers.tap import Handler, listen, taps


class Heard:
    """What passed the named places of some experts during one run."""

    def __init__(self, experts: Experts, x: Tensor, *names: str) -> None:
        self.values: dict[str, Tensor] = {}
        handlers = {}
        for name in names:
            tap = taps(experts)[name]
            handlers[tap] = self._handler(name)
        with listen(handlers):
            self.output = experts(x)

    def _handler(self, name: str) -> Handler:
        def keep(value: Tensor) -> Tensor:
            self.values[name] = value
            return value

        return keep


def naive(experts: Experts, x: Tensor, served: Tensor | None = None) -> Tensor:
    """One token after the other, one chosen expert after the other."""
    result = torch.zeros_like(x)
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            probability = experts.w_r(x[b, t]).softmax(-1)
            best = probability.topk(experts.n_chosen).indices.tolist()
            total = probability[best].sum() if experts.n_chosen > 1 else 1
            for c, e in enumerate(best):
                if served is None or served[b, t, c]:
                    hidden = activate(x[b, t] @ experts.w_1[e].T, experts.activation)
                    result[b, t] += probability[e] / total * (hidden @ experts.w_2[e].T)
    return result


@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_tanh", "swish", "swiglu", "geglu"])
def test_one_expert_is_the_dense_network(activation: Activation) -> None:
    experts = Experts(6, 10, n_experts=1, n_chosen=1, activation=activation)
    dense = FeedForward(6, 10, activation, bias=False)
    with torch.no_grad():
        dense.w_1.weight.copy_(experts.w_1[0])
        dense.w_2.weight.copy_(experts.w_2[0])
    x = torch.randn(2, 5, 6)
    torch.testing.assert_close(experts(x), dense(x))


@pytest.mark.parametrize(("n_experts", "n_chosen"), [(2, 1), (4, 2), (8, 3), (3, 3), (16, 2)])
def test_grouped_equals_one_by_one(n_experts: int, n_chosen: int) -> None:
    experts, x = Experts(6, 10, n_experts, n_chosen), torch.randn(2, 7, 6)
    torch.testing.assert_close(experts(x), naive(experts, x), atol=1e-5, rtol=1e-4)


def test_all_experts_is_the_plain_mixture() -> None:
    """With n_chosen = n_experts nothing is left out, so the weights are the whole softmax."""
    experts, x = Experts(6, 10, 4, 4), torch.randn(1, 5, 6)
    heard = Heard(experts, x, "weights", "chosen", "router")
    p = heard.values["router"].softmax(-1)
    by_expert = torch.zeros_like(p).scatter(-1, heard.values["chosen"], heard.values["weights"])
    torch.testing.assert_close(by_expert, p)


@pytest.mark.parametrize(("n_places", "n_chosen"), [(1, 1), (2, 2), (3, 1), (5, 3)])
def test_places_are_given_first_come_first_served(n_places: int, n_chosen: int) -> None:
    """First choices of all tokens, in order, then the second choices."""
    chosen = torch.rand(2, 9, 4).topk(n_chosen).indices
    taken = [0] * 4
    expected = torch.zeros(2, 9, n_chosen, dtype=torch.bool)
    for c in range(n_chosen):
        for b in range(2):
            for t in range(9):
                e = int(chosen[b, t, c])
                expected[b, t, c] = taken[e] < n_places
                taken[e] += 1
    assert torch.equal(within_capacity(chosen, 4, n_places), expected)


def test_overflow_adds_nothing() -> None:
    """Every token wants expert 0; with capacity 1 a quarter finds a place, the rest gets 0."""
    experts = Experts(6, 10, n_experts=4, n_chosen=1, capacity=1.0)
    with torch.no_grad():
        experts.w_r.weight.zero_()
        experts.w_r.weight[0] = 1.0
    x = torch.rand(1, 8, 6) + 0.1
    heard = Heard(experts, x, "served", "chosen")
    assert heard.values["chosen"].eq(0).all()
    assert heard.values["served"].flatten().tolist() == [True] * 2 + [False] * 6
    assert heard.output[0, 2:].eq(0).all()
    assert heard.output[0, :2].ne(0).any(-1).all()


def test_limited_capacity_equals_one_by_one() -> None:
    experts, x = Experts(6, 10, 4, 2, capacity=0.7), torch.randn(2, 7, 6)
    heard = Heard(experts, x, "served")
    served = heard.values["served"]
    assert not served.all()
    torch.testing.assert_close(heard.output, naive(experts, x, served), atol=1e-5, rtol=1e-4)


def test_large_capacity_is_dropless() -> None:
    """Room for every token at every expert: capacity = n_experts / n_chosen."""
    x, limited = torch.randn(2, 7, 6), Experts(6, 10, 4, 2, capacity=2.0)
    dropless = Experts(6, 10, 4, 2)
    dropless.load_state_dict(limited.state_dict())
    heard = Heard(limited, x, "served")
    assert heard.values["served"].all()
    assert torch.equal(heard.output, dropless(x))


def test_routing_can_be_watched() -> None:
    experts, x = Experts(6, 10, 4, 2), torch.randn(2, 7, 6)
    heard = Heard(experts, x, "router", "chosen", "weights", "output")
    router, chosen = heard.values["router"], heard.values["chosen"]
    torch.testing.assert_close(router, x @ experts.w_r.weight.T)
    assert torch.equal(chosen, router.topk(2).indices)
    torch.testing.assert_close(heard.values["weights"], router.topk(2).values.softmax(-1))
    assert heard.values["output"] is heard.output
    assert torch.equal(heard.output, experts(x))


def test_routing_can_be_edited() -> None:
    """Send every token to expert 3, whatever the router says."""
    experts, x = Experts(6, 10, 4, 2), torch.randn(2, 7, 6)
    with listen({experts.chosen: lambda chosen: torch.full_like(chosen, 3)}):
        sent = experts(x)
    hidden = activate(F.linear(x, experts.w_1[3]), "swiglu")
    torch.testing.assert_close(sent, F.linear(hidden, experts.w_2[3]))


def test_a_single_choice_still_teaches_the_router() -> None:
    """Fedus et al. 2022, eq. 2: the output is p · FFN(x), so that p gets a gradient."""
    experts = Experts(6, 10, 4, 1)
    experts(torch.randn(2, 7, 6)).square().sum().backward()
    assert experts.w_r.weight.grad is not None
    assert experts.w_r.weight.grad.any()


@pytest.mark.parametrize("n_experts", [2, 5])
def test_balance_is_1_when_even(n_experts: int) -> None:
    chosen = torch.arange(n_experts)[None, :, None]
    router = 50.0 * F.one_hot(chosen[..., 0], n_experts).float()
    assert load_balance(router, chosen).item() == pytest.approx(1)
    assert load_balance(torch.zeros_like(router), chosen).item() == pytest.approx(1)


@pytest.mark.parametrize("n_experts", [2, 5])
def test_balance_is_n_experts_when_all_go_to_one(n_experts: int) -> None:
    chosen = torch.zeros(2, 7, 1, dtype=torch.long)
    router = 50.0 * F.one_hot(chosen[..., 0], n_experts).float()
    assert load_balance(router, chosen).item() == pytest.approx(n_experts)


def test_balance_by_hand() -> None:
    """E Σ f P with two choices each: f counts assignments, P is a mean over tokens."""
    router = torch.randn(2, 3, 4)
    chosen = router.topk(2).indices
    f = [chosen.eq(e).sum().item() / 12 for e in range(4)]
    p = router.softmax(-1).flatten(0, 1).mean(0).tolist()
    expected = 4 * sum(f[e] * p[e] for e in range(4))
    assert load_balance(router, chosen).item() == pytest.approx(expected)


def test_balance_leaves_padding_out() -> None:
    router = torch.randn(2, 5, 4)
    chosen = router.topk(2).indices
    is_token = torch.tensor([[True, True, True, False, False], [True, True, False, False, False]])
    real_router, real_chosen = router[is_token][None], chosen[is_token][None]
    with_padding = load_balance(router, chosen, is_token)
    torch.testing.assert_close(with_padding, load_balance(real_router, real_chosen))
    assert not torch.isclose(with_padding, load_balance(router, chosen))


def test_balance_pulls_towards_even() -> None:
    """Its gradient lowers the router's score of the crowded expert."""
    router = torch.zeros(1, 6, 3, requires_grad=True)
    load_balance(router, torch.zeros(1, 6, 1, dtype=torch.long)).backward()
    assert router.grad is not None
    assert (router.grad[..., 0] > 0).all()
    assert (router.grad[..., 1:] < 0).all()


def test_expert_without_tokens() -> None:
    """Nobody chooses experts 2 to 15; the result and the gradients are still right."""
    experts = Experts(6, 10, 16, 2)
    with torch.no_grad():
        experts.w_r.weight[2:] = 0.0
        experts.w_r.weight[:2] = 1.0
    x = torch.rand(1, 4, 6) + 0.1
    output = experts(x)
    torch.testing.assert_close(output, naive(experts, x), atol=1e-5, rtol=1e-4)
    output.sum().backward()
    assert experts.w_1.grad is not None
    assert experts.w_1.grad[:2].ne(0).any()
    assert experts.w_1.grad[2:].eq(0).all()


def test_every_used_expert_learns() -> None:
    experts = Experts(6, 10, 4, 2).train()
    experts(torch.randn(4, 16, 6)).square().sum().backward()
    assert experts.w_r.weight.grad is not None
    assert experts.w_r.weight.grad.ne(0).any(-1).all()
    for weight in (experts.w_1, experts.w_2):
        assert weight.grad is not None
        assert weight.grad.flatten(1).ne(0).any(-1).all()


@pytest.mark.parametrize(("n_experts", "n_chosen"), [(4, 0), (4, 5), (0, 1)])
def test_counts_are_checked(n_experts: int, n_chosen: int) -> None:
    with pytest.raises(ConfigError, match=f"n_chosen={n_chosen} .* n_experts={n_experts}"):
        Experts(6, 10, n_experts, n_chosen)


@pytest.mark.parametrize("capacity", [0.0, -1.0])
def test_capacity_is_checked(capacity: float) -> None:
    with pytest.raises(ConfigError, match=f"capacity={capacity} must be above 0"):
        Experts(6, 10, 4, capacity=capacity)
