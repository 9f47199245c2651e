"""A family of checkpoints: how others name the settings and weights of a model, and how we do.

A file of `families/` describes one of them; everything else, reading, checking, writing, is the
same for all and stands in `hugging_face`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
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
    """How many rows each of theirs has, where there are several; of stacked ones, in each layer."""
    is_transposed: bool = False
    """Theirs stand the other way round: (input, output)."""
    is_stacked: bool = False
    """Theirs lie behind each other along a new first axis, as those of experts."""
    shapes: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    """Our shape and theirs, where the same numbers stand in another one."""

    def take(self, read: Callable[[str], Tensor]) -> Tensor:
        """Our weight from theirs."""
        parts = [read(name).T if self.is_transposed else read(name) for name in self.theirs]
        if self.is_stacked:
            n = len(self.rows) or 1
            layers = [parts[first : first + n] for first in range(0, len(parts), n)]
            return torch.stack([torch.cat(layer) for layer in layers])
        weight = parts[0] if len(parts) == 1 else torch.cat(parts)
        return weight if self.shapes is None else weight.reshape(self.shapes[0])

    def give(self, weight: Tensor) -> dict[str, Tensor]:
        """Their weights from ours: the exact way back."""
        if self.shapes is not None:
            weight = weight.reshape(self.shapes[1])
        layers = weight.unbind(0) if self.is_stacked else [weight]
        parts = [part for layer in layers for part in layer.split(self.rows or len(layer))]
        turned = (part.T if self.is_transposed else part for part in parts)
        return {name: part.contiguous() for name, part in zip(self.theirs, turned, strict=True)}


class Family(ABC, Generic[C]):
    """One kind of model in another library's folder."""

    model_type: str
    """What their config.json says."""
    architecture: str
    """Their class, which is written as such."""
    prefix: str = ""
    """What most of their names begin with; files of the model without its head leave it out."""
    ignored: tuple[str, ...] = ()
    """Patterns of their tensors that hold nothing learned: tables of positions, masks.

    Those that only some heads use may be among them: what `entries` names is read all the same.
    """

    stand_ins: Mapping[str, str] = {}
    """Tensors that some folders leave out because another one is the same: its name."""

    def architecture_of(self, config: C) -> str:
        """Their class for such a model: one and the same, unless a family has several."""
        return self.architecture

    def rename(self, name: str, config: C) -> str:
        """A tensor's name as `entries` writes it; other versions of theirs write it otherwise."""
        return name

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
