"""Norms: bring the numbers of a position to a common scale.

LayerNorm(x) = (x − mean) / √(variance + ε) ⊙ γ + β         Ba et al. 2016, over the width of x
RMSNorm(x)   = x / √(mean(x²) + ε) ⊙ γ                      Zhang & Sennrich 2019, eq. 4
BatchNorm    : as LayerNorm, but over all positions of the batch
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from clearhead.layers.tap import Tap

__all__ = ["BatchNorm", "LayerNorm", "RMSNorm"]


class LayerNorm(nn.Module):
    """Layer normalisation: each position by itself, whatever its neighbours are."""

    def __init__(self, d_model: int, eps: float = 1e-5, *, bias: bool = True) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model)) if bias else None
        self.input, self.output = Tap("B T D"), Tap("B T D")

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        """Normalise each position."""
        x = self.input(x)
        return self.output(F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps))


class RMSNorm(nn.Module):
    """Root-mean-square normalisation: LayerNorm without the mean and the shift."""

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.input, self.output = Tap("B T D"), Tap("B T D")

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        """Normalise each position."""
        x = self.input(x)
        if torch.is_grad_enabled() and x.device.type == "cpu" and x.dtype == torch.float32:
            return self.output(_TrainedRMSNorm.apply(x, self.weight, self.eps))
        return self.output(F.rms_norm(x, self.weight.shape, self.weight, self.eps))


class _TrainedRMSNorm(torch.autograd.Function):
    """RMSNorm with a gradient of few steps: torch has none of its own for processors.

    y = n ⊙ γ, n = x r:   dγ = Σ dy ⊙ n,   dx = r (dy ⊙ γ − n · mean(dy ⊙ γ ⊙ n))
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        r = x.square().mean(-1, keepdim=True).add_(eps).rsqrt_()
        n = x * r
        ctx.save_for_backward(n, r, weight)
        return n * weight

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        n, r, weight = ctx.saved_tensors
        (grad,) = grads
        along = grad * n
        of_weight = along.flatten(0, -2).sum(0)
        mean = torch.mv(along.flatten(0, -2), weight).div_(len(weight)).view_as(r)
        return (grad * weight).addcmul_(n, mean, value=-1).mul_(r), of_weight, None


class BatchNorm(nn.Module):
    """Batch normalisation, for comparison only: it mixes positions, and padding pollutes it.

    While training it uses the statistics of the batch, afterwards the running ones.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(d_model, eps=eps)
        self.input, self.output = Tap("B T D"), Tap("B T D")

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        """Normalise each of the D numbers over all positions of the batch."""
        return self.output(self.norm(self.input(x).flatten(0, 1)).view_as(x))
