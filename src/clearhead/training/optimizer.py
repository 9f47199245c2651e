"""The optimizer: Adam, and beside it each matrix shrinks by itself.

    θ ← θ − lr · (m̂ / (√v̂ + ε) + λ θ)                           Loshchilov & Hutter 2019, alg. 2

β = (0.9, 0.98) and ε = 10⁻⁹ are those of Vaswani et al. 2017, §5.3. With λ = 0 it is Adam.
"""

from collections.abc import Iterable

import torch
from torch import nn

__all__ = ["adam"]


def adam(parameters: Iterable[nn.Parameter], weight_decay: float = 0.0) -> torch.optim.AdamW:
    """Adam over all parameters; biases, norms and single vectors do not shrink."""
    matrices: list[nn.Parameter] = []
    others: list[nn.Parameter] = []
    for parameter in parameters:
        (matrices if parameter.dim() > 1 else others).append(parameter)
    groups = [
        {"params": some, "weight_decay": decay}
        for some, decay in ((matrices, weight_decay), (others, 0.0))
        if some
    ]
    return torch.optim.AdamW(groups, betas=(0.9, 0.98), eps=1e-9, fused=True)
