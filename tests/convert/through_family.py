"""Through a family in memory: their model → ours, and ours → their settings and weights."""

from fnmatch import fnmatch
from typing import Any

import torch
from torch import Tensor, nn

from clearhead.convert.family import Family


def take_over(family: Family[Any], theirs: Any) -> Any:
    """Our model with their weights; every weight of both must be accounted for."""
    config = family.read_config(theirs.config.to_dict())
    ours, entries = family.build(config), family.entries(config)
    weights: dict[str, Tensor] = theirs.state_dict()
    names = [name for name, _ in ours.named_parameters()]
    assert sorted(entry.ours for entry in entries) == sorted(names)
    used = {name for entry in entries for name in entry.theirs}
    assert used <= weights.keys()
    left = [name for name in weights if name not in used]
    assert [n for n in left if not any(fnmatch(n, pattern) for pattern in family.ignored)] == []
    with torch.no_grad():
        parameters = dict(ours.named_parameters())
        for entry in entries:
            parameters[entry.ours].copy_(entry.take(lambda name: weights[name]))
    return ours.eval()


def give_back(family: Family[Any], ours: nn.Module) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Their settings and their weights from our model."""
    config: Any = ours.config
    parameters, found = dict(ours.named_parameters()), {}
    for entry in family.entries(config):
        found.update(entry.give(parameters[entry.ours].detach()))
    return family.write_config(config), found


def assert_round_trip(family: Family[Any], ours: nn.Module, theirs: Any) -> dict[str, Tensor]:
    """What comes back is what was taken, to the last bit; and the settings mean the same."""
    settings, weights = give_back(family, ours)
    assert family.read_config(settings) == ours.config
    expected: dict[str, Tensor] = theirs.state_dict()
    assert all(torch.equal(weight, expected[name]) for name, weight in weights.items())
    return weights
