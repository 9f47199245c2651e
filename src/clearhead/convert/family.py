"""A family of checkpoints: how others name the settings and weights of a model, and how we do.

A file of `families/` describes one of them; everything else, reading, checking, writing, is the
same for all and stands in `hugging_face`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from clearhead.config import Config
from clearhead.models import Model

__all__ = ["Entry", "Family"]

C = TypeVar("C", bound=Config)


@dataclass(frozen=True)
class Entry:
    """One weight of ours, and those of theirs that it is made of, one below the other."""

    ours: str
    theirs: tuple[str, ...]
    rows: tuple[int, ...] = ()
    """How many rows each of theirs has, where there are several."""
    is_transposed: bool = False
    """Theirs stand the other way round: (input, output)."""
    is_stacked: bool = False
    """Theirs lie behind each other along a new first axis, as those of experts."""

    def take(self, read: Callable[[str], Tensor]) -> Tensor:
        """Our weight from theirs."""
        parts = [read(name).T if self.is_transposed else read(name) for name in self.theirs]
        if self.is_stacked:
            return torch.stack(parts)
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def give(self, weight: Tensor) -> dict[str, Tensor]:
        """Their weights from ours: the exact way back."""
        if self.is_stacked:
            parts: Sequence[Tensor] = weight.unbind(0)
        else:
            parts = weight.split(self.rows) if self.rows else [weight]
        turned = (part.T if self.is_transposed else part for part in parts)
        return {name: part.contiguous() for name, part in zip(self.theirs, turned, strict=True)}


class Family(ABC, Generic[C]):
    """One kind of model in another library's folder."""

    model_type: str
    """What their config.json says."""
    architecture: str
    """Their class, which is written as such."""
    prefix: str = ""
    """What stands before their names; a folder of the bare model, without its head, has it not."""
    ignored: tuple[str, ...] = ()
    """Patterns of their tensors that hold nothing learned: tables of positions, masks."""

    @abstractmethod
    def read_config(self, theirs: Mapping[str, Any]) -> C:
        """Our configuration from their config.json; what we do not have is refused."""

    @abstractmethod
    def write_config(self, config: C) -> dict[str, Any]:
        """Their config.json from ours, but for `model_type` and `architectures`."""

    @abstractmethod
    def entries(self, config: C) -> list[Entry]:
        """Every weight of ours; tied ones once, as among `named_parameters`."""

    @abstractmethod
    def build(self, config: C) -> Model:
        """Our model, not yet with its weights."""
