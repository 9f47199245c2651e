"""Adam, Muon and weight decay, beside torch's own."""

import pytest
import torch
from torch import nn

from clearhead.errors import ConfigError
from clearhead.training import TrainingConfig
from clearhead.training.optimizer import Optimizer, OptimizerKind, orthogonal

RATE, BETAS, EPS = 0.01, (0.9, 0.98), 1e-9


class Net(nn.Module):
    """A matrix inside a block, and others around it."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(8, 12)])
        self.norm, self.output = nn.LayerNorm(12), nn.Linear(12, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.output(self.norm(self.blocks[0](x)))
        return y


def after_steps(kind: str, decay: float = 0.0, n_steps: int = 20) -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    net = Net()
    ours: OptimizerKind = "muon" if kind == "muon" else "adam"
    optimizer = Optimizer(dict(net.named_parameters()), ours, decay)
    adam = torch.optim.Adam(net.parameters(), lr=RATE, betas=BETAS, eps=EPS, fused=True)
    for _ in range(n_steps):
        net(torch.randn(16, 8)).square().mean().backward()
        if kind == "theirs":
            adam.step()
            adam.zero_grad()
        else:
            optimizer.step(RATE)
            optimizer.clear()
    return {name: p.detach() for name, p in net.named_parameters()}


def test_without_decay_it_is_adam_bit_by_bit() -> None:
    ours, theirs = after_steps("adam"), after_steps("theirs")
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_muon_moves_the_matrices_of_blocks_alone() -> None:
    adam, muon = after_steps("adam", n_steps=1), after_steps("muon", n_steps=1)
    differing = {name for name in adam if not torch.equal(adam[name], muon[name])}
    assert differing == {"blocks.0.weight"}


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_muon_is_torchs_but_for_its_rounding(precision: str) -> None:
    """Theirs computes in bfloat16."""
    torch.manual_seed(0)
    ours, theirs = (nn.Parameter(torch.ones(12, 8)) for _ in range(2))
    named = {"blocks.0": ours, "bias": nn.Parameter(torch.ones(1))}
    optimizer = Optimizer(named, "muon", 0.1, precision)
    other = torch.optim.Muon(
        [theirs], lr=RATE, weight_decay=0.1, momentum=0.95, adjust_lr_fn="match_rms_adamw"
    )
    for _ in range(5):
        gradient = torch.randn(12, 8)
        ours.grad, theirs.grad = gradient.clone(), gradient.clone()
        optimizer.step(RATE)
        other.step()
    moved = (1 - theirs).norm()
    assert (ours - theirs).norm() < 0.05 * moved


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 5, 20), (4, 20, 5)])
def test_all_directions_become_alike(shape: tuple[int, int, int]) -> None:
    torch.manual_seed(0)
    x = torch.randn(shape)
    found = orthogonal(x)
    values = torch.linalg.svdvals(found)
    assert (values > 0.5).all()
    assert (values < 1.3).all()
    u, _, v = torch.linalg.svd(x, full_matrices=False)
    cosine = (found * (u @ v)).sum((1, 2)) / found.norm(dim=(1, 2)) / (u @ v).norm(dim=(1, 2))
    assert (cosine > 0.97).all()
    alone = torch.cat([orthogonal(each[None]) for each in x])
    assert torch.allclose(found, alone, atol=1e-5)  # each matrix by itself


@pytest.mark.parametrize("kind", ["adam", "muon"])
def test_only_matrices_shrink(kind: OptimizerKind) -> None:
    """A step without a gradient takes lr · decay of each matrix, and nothing of a vector."""
    layer = nn.Linear(3, 3)
    nn.init.ones_(layer.bias)
    before = layer.weight.detach().clone()
    named = {f"blocks.0.{name}": p for name, p in layer.named_parameters()}
    optimizer = Optimizer(named, kind, 0.5)
    (layer(torch.zeros(1, 3)).sum() * 0).backward()
    optimizer.step(0.1)
    assert torch.allclose(layer.weight, before * 0.95)
    assert torch.equal(layer.bias, torch.ones(3))
    optimizer.clear()
    assert layer.weight.grad is None


def test_a_wrong_setting_is_refused() -> None:
    for wrong in (-0.1, 100.0):
        with pytest.raises(ConfigError, match=r"weight_decay=.* below 1 / lr = 100:"):
            TrainingConfig(weight_decay=wrong, lr=0.01)
    with pytest.raises(ConfigError, match="choose one of adam, muon"):
        TrainingConfig().override({"optimizer": "sgd"})
