"""What the other rooms may know of a model, whatever it is made of."""

from typing import Any

import torch
from torch import Tensor, nn

from clearhead.errors import InputError
from clearhead.layers.tap import points

__all__ = ["Model", "check_pairs", "check_tokens"]


class Model(nn.Module):
    """Inputs → logits, and nothing else; it names the places where it can be watched."""

    config: Any
    """Its size and kind."""

    def points(self) -> dict[str, str]:
        """Every place that can be watched: its name and its axes. Nothing is run."""
        return points(self)

    def streams(self, point: str) -> tuple[str, str]:
        """Whose tokens stand at the queries and at the keys of a place: names of embeddings."""
        raise NotImplementedError

    def axis_sizes(self) -> dict[str, int]:
        """How long the axes are that do not depend on the input, by their letters."""
        raise NotImplementedError

    @property
    def n_parameters(self) -> int:
        """How many numbers are learned; tied ones count once."""
        return sum(parameter.numel() for parameter in self.parameters())


def check_pairs(source: Tensor, target_in: Tensor) -> None:
    """Refuse sources and targets that are not as many."""
    if source.shape[:1] != target_in.shape[:1]:
        raise InputError(
            f"source has {len(source)} rows and target_in has {len(target_in)}; they must be pairs"
        )


def check_tokens(tokens: Tensor, name: str) -> None:
    """Refuse what is not a non-empty table of token ids."""
    if tokens.dtype not in (torch.int32, torch.int64):
        raise InputError(f"{name} is {tokens.dtype}; token ids must be int64 or int32")
    if tokens.dim() != 2:
        raise InputError(f"{name} has shape {tuple(tokens.shape)}; it must be (rows, positions)")
    if tokens.shape[0] == 0:
        raise InputError(f"{name} has no rows; give at least one sentence")
    if tokens.shape[1] == 0:
        raise InputError(f"{name} has length 0; each sentence needs at least one token")
