"""Adam and weight decay, beside torch's own."""

import pytest
import torch
from torch import nn

from clearhead.errors import ConfigError
from clearhead.training import TrainingConfig
from clearhead.training.optimizer import adam

SETTINGS = {"lr": 0.01, "betas": (0.9, 0.98), "eps": 1e-9}


def after_steps(kind: str, decay: float = 0.0) -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.Linear(8, 1))
    optimizer: torch.optim.Optimizer
    if kind == "ours":
        optimizer = adam(model.parameters(), decay)
        for group in optimizer.param_groups:
            group["lr"] = SETTINGS["lr"]
    elif kind == "adam":
        optimizer = torch.optim.Adam(model.parameters(), **SETTINGS, fused=True)  # type: ignore[arg-type]
    else:
        optimizer = torch.optim.AdamW(model.parameters(), **SETTINGS, weight_decay=decay)  # type: ignore[arg-type]
    for _ in range(20):
        model(torch.randn(16, 4)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    return {name: p.detach() for name, p in model.named_parameters()}


def test_without_decay_it_is_adam_bit_by_bit() -> None:
    ours, theirs = after_steps("ours"), after_steps("adam")
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_only_matrices_shrink() -> None:
    """A step without a gradient takes lr · decay of each matrix, and nothing of a vector."""
    layer = nn.Linear(3, 3)
    nn.init.ones_(layer.bias)
    before = layer.weight.detach().clone()
    optimizer = adam(layer.parameters(), 0.5)
    for group in optimizer.param_groups:
        group["lr"] = 0.1
    (layer(torch.zeros(1, 3)).sum() * 0).backward()
    optimizer.step()
    assert torch.allclose(layer.weight, before * 0.95)
    assert torch.equal(layer.bias, torch.ones(3))
    ours, theirs = after_steps("ours", 0.1), after_steps("adamw", 0.1)
    assert not torch.allclose(ours["1.weight"], theirs["1.weight"])  # theirs shrinks norms, too


def test_a_wrong_decay_is_refused() -> None:
    for wrong in (-0.1, 1.0):
        with pytest.raises(ConfigError, match="weight_decay"):
            TrainingConfig(weight_decay=wrong)
