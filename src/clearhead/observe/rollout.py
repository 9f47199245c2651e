"""Attention rollout: how much of each first vector is in each last one, through all blocks.

    A_l = ½ mean over heads + ½ I,    rollout = A_L ⋯ A_2 A_1       Abnar and Zuidema 2020, §3

Each row sums to 1. It follows attention and residuals only, not what the values hold.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from clearhead.observe.forced import Forced
from clearhead.observe.watch import watch

__all__ = ["encoder_rollout", "rollout"]


def rollout(weights: Sequence[Float[Tensor, "H T T"]]) -> Float[Tensor, "T T"]:
    """Multiply the mixtures of all blocks, the first one first."""
    n = weights[0].shape[-1]
    total = torch.eye(n)
    for each in weights:
        total = (each.float().mean(0) + torch.eye(n)) / 2 @ total
    return total


@torch.no_grad()
def encoder_rollout(pair: Forced) -> Float[Tensor, "S S"]:
    """For each position after the encoder, its share of each source token."""
    n_blocks = len(pair.model.encoder.blocks)
    names = [f"encoder.blocks.{n}.self_attention.weights" for n in range(n_blocks)]
    with watch(pair.model, *names) as seen:
        pair.model.encode(pair.inputs[0])
    return rollout([seen.steps(name)[0].tensor for name in names])
