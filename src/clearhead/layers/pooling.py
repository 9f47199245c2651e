"""Pooling: one vector for a whole text, from those of its tokens.

first  tanh(x_1 W + b), or x_1 alone                        Devlin et al. 2019, §3.1
mean   Σ x_i / n, over the n tokens that are not padding    Reimers & Gurevych 2019, §3
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from clearhead.config.block import PoolingKind
from clearhead.layers.tap import Tap

__all__ = ["Pooling", "mean_over"]


class Pooling(nn.Module):
    """The first vector or the mean; `d_dense` gives the first a dense layer of that width."""

    def __init__(self, kind: PoolingKind, d_dense: int | None = None) -> None:
        super().__init__()
        self.kind = kind
        self.dense = None
        if d_dense is not None and kind == "first":
            self.dense = nn.Linear(d_dense, d_dense)
            nn.init.xavier_uniform_(self.dense.weight)
            nn.init.zeros_(self.dense.bias)
        self.vectors = Tap("B D")

    def forward(
        self, x: Float[Tensor, "B S D"], is_token: Bool[Tensor, "B S"]
    ) -> Float[Tensor, "B D"]:
        """One vector for each row."""
        if self.kind == "mean":
            return self.vectors(mean_over(x, is_token))
        first = x[:, 0]
        return self.vectors(first if self.dense is None else torch.tanh(self.dense(first)))


def mean_over(x: Float[Tensor, "B S D"], is_token: Bool[Tensor, "B S"]) -> Float[Tensor, "B D"]:
    """The mean of the vectors of real tokens; zero for a row that has none.

    >>> mean_over(torch.tensor([[[2.0], [4.0], [9.0]]]), torch.tensor([[True, True, False]]))
    tensor([[3.]])
    """
    share = is_token.to(x.dtype)
    share = share / share.sum(1, keepdim=True).clamp(min=1)
    return torch.einsum("bs,bsd->bd", share, x)
