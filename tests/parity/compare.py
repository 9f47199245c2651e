"""Comparing two implementations: same weights in, same numbers and same gradients out."""

import math
from collections.abc import Callable, Mapping
from typing import Literal

import pytest
import torch
from torch import Tensor, nn

from clearhead.layers import attention

TOLERANCE = 1e-5

Weights = Mapping[str, Tensor]
Convert = Callable[[Weights], dict[str, Tensor]]

Path = Literal["explicit", "fused"]
both_paths = pytest.mark.parametrize("path", ["explicit", "fused"])


def assert_near(ours: Tensor, theirs: Tensor, tolerance: float = TOLERANCE, name: str = "") -> None:
    """Check each number: an absolute tolerance, so that small numbers are not excused."""

    def message(text: str) -> str:
        return f"{name}: {text}"

    torch.testing.assert_close(ours, theirs, rtol=0, atol=tolerance, msg=message)


def randomise(*modules: nn.Module) -> None:
    """Draw every weight anew: biases of 0 and norms of 1 would hide mistakes."""
    with torch.no_grad():
        for parameter in nn.ModuleList(modules).parameters():
            if not parameter.requires_grad:
                continue
            if parameter.dim() > 1:
                parameter.normal_(std=1 / math.sqrt(parameter.shape[-1]))
            else:
                is_scale = bool((parameter == 1).all())
                parameter.normal_(mean=1.0 if is_scale else 0.0, std=0.3)


def backward(*outputs: Tensor) -> None:
    """Run backwards from sums in which each number has its own weight, the same in every sum.

    Together the weights have a fixed length, so that large outputs have no larger gradients.
    """
    weight = torch.randn(outputs[0].shape, generator=torch.Generator().manual_seed(1))
    weight *= 4 / weight.norm()
    for output in outputs:
        (output * weight.to(output.dtype)).sum().backward()


def gradient(x: Tensor) -> Tensor:
    """Return the gradient that must have reached `x`."""
    assert x.grad is not None, "no gradient has arrived"
    return x.grad


def gradients(module: nn.Module) -> dict[str, Tensor]:
    """Return the gradients of a module by name; tied weights appear under each of their names."""
    named = module.named_parameters(remove_duplicate=False)
    return {name: parameter.grad for name, parameter in named if parameter.grad is not None}


def assert_same_gradients(
    ours: nn.Module, theirs: nn.Module, convert: Convert, tolerance: float = TOLERANCE
) -> None:
    """Check every weight's gradient; what converts weights converts gradients too."""
    expected = convert(gradients(theirs))
    for name, parameter in ours.named_parameters():
        assert_near(gradient(parameter), expected[name], tolerance, name)


def twins(*shape: int) -> tuple[Tensor, Tensor]:
    """Two equal random inputs, each with a gradient of its own."""
    x = torch.randn(*shape)
    return x.clone().requires_grad_(), x.clone().requires_grad_()


def additive(may_attend: Tensor) -> Tensor:
    """Return the mask as others want it: numbers to be added to the scores."""
    return torch.zeros(may_attend.shape).masked_fill(~may_attend, float("-inf"))


def take(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make all our attention go one way, whatever its length."""
    monkeypatch.setattr(attention, "is_fused_faster", lambda q, k: path == "fused")
