"""The optimizers: Adam for everything, or Muon for matrices inside blocks and Adam for the rest.

    Adam   θ ← θ − lr · (m̂ / (√v̂ + ε) + λ θ)                    Loshchilov & Hutter 2019, alg. 2
    Muon   θ ← θ − lr · (0.2 √max(rows, columns) · U Vᵀ + λ θ)   Jordan et al. 2024; Liu et al. 2025
           m = U S Vᵀ, the mean of the gradients

β = (0.9, 0.98) and ε = 10⁻⁹ of Adam are those of Vaswani et al. 2017, §5.3. Muon moves a matrix in
all its directions alike, however small their share of the gradient is: small models learn in about
half the steps. U Vᵀ is found without U and V, by a polynomial that brings all singular values near
1. The factor makes a step about as large as one of Adam, so that one learning rate serves both.
Where a run computes in bfloat16, so does the polynomial, which is not exact anyway.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

__all__ = ["Optimizer", "OptimizerKind", "orthogonal"]

OptimizerKind = Literal["adam", "muon"]
MOMENTUM = 0.95
ADAMS_SIZE = 0.2
"""The usual root mean square of a step of Adam, as a share of the learning rate."""
N_ROUNDS = 5
POLYNOMIAL = (3.4445, -4.7750, 2.0315)
"""x ↦ a x + b x³ + c x⁵, five times over, brings 0.01 to 1 to between 0.7 and 1.2."""


class Optimizer:
    """Moves parameters by their gradients; the matrices shrink by themselves (`weight_decay`)."""

    def __init__(
        self,
        parameters: Mapping[str, nn.Parameter],
        kind: OptimizerKind = "adam",
        weight_decay: float = 0.0,
        precision: str = "float32",
    ) -> None:
        inner, matrices, others = [], [], []
        for name, parameter in parameters.items():
            if parameter.dim() < 2:
                others.append(parameter)
            # Embeddings, positions and outputs are tables of vectors, and no maps.
            elif kind == "muon" and parameter.dim() == 2 and "blocks." in name:
                inner.append(parameter)
            else:
                matrices.append(parameter)
        groups = [
            {"params": some, "weight_decay": decay}
            for some, decay in ((matrices, weight_decay), (others, 0.0))
            if some
        ]
        self.adam = torch.optim.AdamW(groups, betas=(0.9, 0.98), eps=1e-9, fused=True)
        self.muon = _Muon(inner, weight_decay, getattr(torch, precision))

    def step(self, rate: float) -> None:
        """Move all parameters that have a gradient."""
        for options in self.adam.param_groups:
            options["lr"] = rate
        self.adam.step()
        self.muon.step(rate)

    def clear(self) -> None:
        """Forget the gradients."""
        self.adam.zero_grad(set_to_none=True)
        self.muon.clear()

    def state(self, parameter: nn.Parameter) -> dict[str, Tensor]:
        """What is remembered of a parameter; it can be put back."""
        if parameter in self.muon.states:
            return self.muon.states[parameter]
        return self.adam.state[parameter]


class _Muon:
    """Matrices of one shape take their steps together."""

    def __init__(
        self, parameters: Sequence[nn.Parameter], weight_decay: float, kind: torch.dtype
    ) -> None:
        self.weight_decay, self.kind = weight_decay, kind
        self.states = {p: {"momentum": torch.zeros_like(p)} for p in parameters}
        self.shapes: dict[torch.Size, list[nn.Parameter]] = {}
        for parameter in parameters:
            self.shapes.setdefault(parameter.shape, []).append(parameter)

    @torch.no_grad()
    def step(self, rate: float) -> None:
        for shape, some in self.shapes.items():
            moved = [(p, p.grad) for p in some if p.grad is not None]
            if not moved:
                continue
            directions = []
            for parameter, gradient in moved:
                mean = self.states[parameter]["momentum"].lerp_(gradient, 1 - MOMENTUM)
                directions.append(gradient.lerp(mean, MOMENTUM))  # Nesterov: one step ahead
            steps = orthogonal(torch.stack(directions).to(self.kind))
            size = rate * ADAMS_SIZE * math.sqrt(max(shape))
            for (parameter, _), step in zip(moved, steps, strict=True):
                parameter.mul_(1 - rate * self.weight_decay).sub_(step, alpha=size)

    def clear(self) -> None:
        for parameter in self.states:
            parameter.grad = None


def orthogonal(x: Float[Tensor, "_ _ _"]) -> Float[Tensor, "_ _ _"]:
    """U Vᵀ of each matrix U S Vᵀ, nearly: all singular values are brought near 1."""
    is_tall = x.shape[1] > x.shape[2]
    x = x.mT if is_tall else x
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    a, b, c = POLYNOMIAL
    for _ in range(N_ROUNDS):
        square = x @ x.mT
        x = a * x + (b * square + c * square @ square) @ x
    return x.mT if is_tall else x
