"""Masks: which position may read which. Boolean, and True is permission.

Combine two with `&`. All have the axes batch, head, query, key, where an axis of size 1 stands for
"the same for all".
"""

import torch
from jaxtyping import Bool
from torch import Tensor

__all__ = ["causal", "padding"]


def causal(
    n_queries: int, n_keys: int | None = None, device: torch.device | None = None
) -> Bool[Tensor, "1 1 T S"]:
    """No position may read a later one. The queries are the last positions of the keys.

    >>> causal(3).int()[0, 0].tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> causal(1, 3).int()[0, 0].tolist()
    [[1, 1, 1]]
    """
    n_keys = n_queries if n_keys is None else n_keys
    everything = torch.ones(1, 1, n_queries, n_keys, dtype=torch.bool, device=device)
    return everything.tril(n_keys - n_queries)


def padding(is_token: Bool[Tensor, "B S"]) -> Bool[Tensor, "B 1 1 S"]:
    """No position may read padding."""
    return is_token[:, None, None, :]
