"""Norms against their formulas, worked out in double precision."""

import pytest
import torch
from torch import nn

from clearhead.layers import BatchNorm, LayerNorm, RMSNorm
from clearhead.layers.tap import listen


@pytest.mark.parametrize("bias", [True, False])
def test_layer_norm(bias: bool) -> None:
    norm, x = LayerNorm(7, bias=bias), 5 * torch.randn(2, 3, 7) + 2
    nn.init.normal_(norm.weight)
    wide = x.double()
    mean = wide.mean(-1, keepdim=True)
    variance = ((wide - mean) ** 2).mean(-1, keepdim=True)
    expected = (wide - mean) / (variance + norm.eps).sqrt() * norm.weight.double()
    if norm.bias is not None:
        nn.init.normal_(norm.bias)
        expected = expected + norm.bias.double()
    torch.testing.assert_close(norm(x), expected.float())
    assert (norm.bias is not None) is bias


def test_rms_norm() -> None:
    norm, x = RMSNorm(7), 5 * torch.randn(2, 3, 7) + 2
    nn.init.normal_(norm.weight)
    wide = x.double()
    mean_square = (wide**2).mean(-1, keepdim=True)
    expected = wide / (mean_square + norm.eps).sqrt() * norm.weight.double()
    torch.testing.assert_close(norm(x), expected.float())


@pytest.mark.parametrize("norm", [LayerNorm(16), RMSNorm(16)])
def test_each_position_by_itself(norm: nn.Module) -> None:
    x = torch.randn(2, 5, 16)
    alone = torch.stack([norm(x[:, t : t + 1])[:, 0] for t in range(5)], dim=1)
    torch.testing.assert_close(norm(x), alone)


def test_layer_norm_ignores_scale_and_shift_but_rms_norm_only_scale() -> None:
    x = torch.randn(1, 4, 64)
    torch.testing.assert_close(LayerNorm(64)(3 * x + 5), LayerNorm(64)(x), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(RMSNorm(64)(3 * x), RMSNorm(64)(x), atol=1e-4, rtol=1e-4)
    assert not torch.allclose(RMSNorm(64)(x + 5), RMSNorm(64)(x), atol=0.1)


@pytest.mark.parametrize("norm", [LayerNorm(8), RMSNorm(8), BatchNorm(8)])
def test_zeros_are_no_danger(norm: nn.Module) -> None:
    x = torch.zeros(2, 3, 8, requires_grad=True)
    y = norm(x)
    y.sum().backward()
    assert y.eq(0).all()
    assert x.grad is not None
    assert x.grad.isfinite().all()


def test_batch_norm_while_training() -> None:
    norm, x = BatchNorm(4), 5 * torch.randn(6, 3, 4) + 2
    flat = x.double().flatten(0, 1)
    expected = (flat - flat.mean(0)) / (flat.var(0, unbiased=False) + 1e-5).sqrt()
    torch.testing.assert_close(norm(x), expected.view_as(x).float())


def test_batch_norm_afterwards() -> None:
    """In eval mode the running statistics serve, and positions no longer see each other."""
    norm = BatchNorm(4)
    for _ in range(200):
        norm(5 * torch.randn(32, 4, 4) + 2)
    norm.eval()
    x = torch.randn(2, 3, 4)
    torch.testing.assert_close(norm(x)[:1, :1], norm(x[:1, :1]))
    torch.testing.assert_close(norm(x), (x - 2) / 5, atol=0.1, rtol=0.1)


def test_batch_norm_takes_a_turned_table() -> None:
    norm, x = BatchNorm(4), torch.randn(3, 6, 4).transpose(0, 1)
    torch.testing.assert_close(norm(x), norm(x.contiguous()))


@pytest.mark.parametrize("norm", [LayerNorm(8), RMSNorm(8), BatchNorm(8)])
def test_taps_before_and_after(norm: LayerNorm | RMSNorm | BatchNorm) -> None:
    x = torch.randn(2, 3, 8)
    expected = norm(x)
    with listen({norm.input: lambda _: x, norm.output: lambda y: y + 1}):
        torch.testing.assert_close(norm(torch.zeros(2, 3, 8)), expected + 1)


@pytest.mark.parametrize("norm", [LayerNorm(8), RMSNorm(8), BatchNorm(8)])
def test_every_parameter_learns(norm: nn.Module) -> None:
    (norm(torch.randn(2, 3, 8)) * torch.randn(2, 3, 8)).sum().backward()
    for parameter in norm.parameters():
        assert parameter.grad is not None
        assert parameter.grad.ne(0).all()


def test_the_gradient_of_rms_norm_is_that_of_torch() -> None:
    norm = RMSNorm(7)
    with torch.no_grad():
        norm.weight.normal_()
    x = torch.randn(2, 3, 7, requires_grad=True)
    after = torch.randn(2, 3, 7)
    ours = torch.autograd.grad(norm(x), (x, norm.weight), after)
    theirs = torch.autograd.grad(
        torch.nn.functional.rms_norm(x, (7,), norm.weight, norm.eps), (x, norm.weight), after
    )
    for found, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
