"""Where training begins: an encoder whose first heads look at the neighbours of each token.

From random weights such a model guesses for thousands of steps by the frequency of tokens alone,
until some head has found out where the neighbours are. So we tell it: positions begin as waves, as
large as the vectors of tokens, and each head of the first block turns them by an offset,

    R(k) PE(pos) · PE(j)  is largest for j = pos + k,

where the rotation R(k) is that of Vaswani et al. 2017, §3.5. All of it is learned on from there.
"""

import math
from typing import cast

import torch
from jaxtyping import Float
from torch import Tensor

from clearhead.layers.attention import MultiHeadAttention
from clearhead.models import Bert

__all__ = ["look_around"]

OFFSETS = (-1, 1, -2, 2, -3, 3)
"""Where the heads of the first block look; those that are left look nowhere yet."""
SHARPNESS = 4.0
"""With it a head gives its neighbour about half of its attention."""


@torch.no_grad()
def look_around(model: Bert) -> None:
    """Put waves into the positions, and let heads of the first block turn them."""
    config = model.config
    d_model, n_pairs = config.d_model, config.d_model // 2
    # Evenly spread, unlike the paper's: only so are neighbours told apart by few of them.
    rates = math.pi * (torch.arange(n_pairs) + 0.5) / n_pairs
    model.positions.weight.copy_(_waves(torch.arange(config.n_positions), rates, d_model))
    attention = cast(MultiHeadAttention, model.encoder.blocks[0].self_attention)
    d_head = d_model // config.n_heads
    for head, offset in zip(range(config.n_heads), OFFSETS, strict=False):
        rows = slice(head * d_head, (head + 1) * d_head)
        pairs = torch.arange(head, n_pairs, config.n_heads)[: d_head // 2]
        w_q, w_k = (torch.zeros(d_head, d_model) for _ in range(2))
        for place, pair in enumerate(pairs.tolist()):
            turn = float(offset * rates[pair])
            cos, sin = math.cos(turn), math.sin(turn)
            both, here = slice(2 * pair, 2 * pair + 2), slice(2 * place, 2 * place + 2)
            w_q[here, both] = torch.tensor([[cos, sin], [-sin, cos]])
            w_k[here, both] = torch.eye(2)
        attention.w_q[rows] = w_q * SHARPNESS**0.5
        attention.w_k[rows] = w_k * SHARPNESS**0.5


def _waves(pos: Tensor, rates: Tensor, d_model: int) -> Float[Tensor, "T D"]:
    """Sines and cosines in turn, on average as large as the vectors of tokens."""
    angle = pos[:, None] * rates
    waves = torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)
    padded = torch.nn.functional.pad(waves, (0, d_model - waves.shape[1]))
    return padded * (2 / d_model) ** 0.5
