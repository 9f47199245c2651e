"""The feed-forward network against its formulas."""

import math
from typing import get_args

import pytest
import torch
from torch import Tensor, nn

from clearhead.config.block import GATED, Activation
from clearhead.errors import ConfigError
from clearhead.layers import FeedForward
from clearhead.layers.tap import listen

ACTIVATIONS: tuple[Activation, ...] = get_args(Activation)


def built(activation: Activation, **options: bool) -> FeedForward:
    """Return a small network whose biases are not zero."""
    feed_forward = FeedForward(6, 10, activation, **options)
    for parameter in feed_forward.parameters():
        nn.init.normal_(parameter)
    return feed_forward


def by_hand(feed_forward: FeedForward, x: Tensor) -> Tensor:
    """Work the formulas of the paper out, with each activation spelt out."""
    w_1, w_2 = feed_forward.w_1, feed_forward.w_2
    inner = x @ w_1.weight.T + (0 if w_1.bias is None else w_1.bias)
    if feed_forward.activation == "relu":
        inner = inner.clamp(min=0)
    elif feed_forward.activation == "gelu":
        inner = inner * 0.5 * (1 + torch.erf(inner / math.sqrt(2)))
    elif feed_forward.activation == "gelu_tanh":
        inside = math.sqrt(2 / math.pi) * (inner + 0.044715 * inner**3)
        inner = inner * 0.5 * (1 + inside.tanh())
    elif feed_forward.activation == "swish":
        inner = inner / (1 + (-inner).exp())
    elif feed_forward.activation == "swiglu":
        gate, value = inner[..., :10], inner[..., 10:]
        inner = gate / (1 + (-gate).exp()) * value
    else:
        gate, value = inner[..., :10], inner[..., 10:]
        curve = math.sqrt(2 / math.pi) * (gate + 0.044715 * gate**3)
        inner = gate * 0.5 * (1 + curve.tanh()) * value
    return inner @ w_2.weight.T + (0 if w_2.bias is None else w_2.bias)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_formula(activation: Activation, bias: bool) -> None:
    feed_forward, x = built(activation, bias=bias), torch.randn(2, 3, 6)
    torch.testing.assert_close(feed_forward(x), by_hand(feed_forward, x), atol=1e-4, rtol=1e-4)
    assert (feed_forward.w_1.bias is not None) is bias


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_positions_do_not_meet(activation: Activation) -> None:
    feed_forward, x = built(activation), torch.randn(2, 5, 6)
    torch.testing.assert_close(feed_forward(x)[:, 2:3], feed_forward(x[:, 2:3]))


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_hidden_width_is_d_ff(activation: Activation) -> None:
    """Also for the gated one, whose first matrix has twice as many rows."""
    feed_forward, seen = built(activation), []

    def watch(hidden: Tensor) -> Tensor:
        seen.append(hidden.shape)
        return hidden

    with listen({feed_forward.hidden: watch}):
        feed_forward(torch.randn(2, 3, 6))
    assert seen == [(2, 3, 10)]
    assert feed_forward.w_1.weight.shape == (20 if activation in GATED else 10, 6)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_parameter_learns(activation: Activation) -> None:
    feed_forward = FeedForward(6, 10, activation, dropout=0.1)
    feed_forward(torch.randn(8, 3, 6)).square().sum().backward()
    for name, parameter in feed_forward.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.ne(0).any(), name


def test_dropout_acts_on_the_hidden_numbers_while_training() -> None:
    """All hidden numbers kept or scaled: what is left is a sum over some rows of W_2."""
    feed_forward = FeedForward(6, 10, dropout=0.5)
    with torch.no_grad():
        feed_forward.w_1.bias.fill_(1.0)
        feed_forward.w_1.weight.zero_()
        feed_forward.w_2.weight.fill_(1.0)
    x = torch.randn(4, 50, 6)
    counts = feed_forward(x)
    torch.testing.assert_close(counts / 2, (counts / 2).round())
    assert len(counts.unique()) > 3
    torch.testing.assert_close(feed_forward.eval()(x), torch.full_like(x, 10.0))


@pytest.mark.parametrize(("d_model", "d_ff"), [(0, 4), (4, 0), (4, -1)])
def test_sizes_are_checked(d_model: int, d_ff: int) -> None:
    with pytest.raises(ConfigError, match=f"d_model={d_model} and d_ff={d_ff} must be at least 1"):
        FeedForward(d_model, d_ff)


@pytest.mark.usefixtures("unchecked")
def test_unknown_activation() -> None:
    with pytest.raises(ConfigError, match="'tanh' is not allowed: choose one of relu, gelu"):
        FeedForward(4, 8, "tanh")  # type: ignore[arg-type]
