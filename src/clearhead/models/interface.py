"""What the other rooms may know of a model, whatever it is made of."""

from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor, nn

from clearhead.layers.tap import points

__all__ = ["BestDecoder", "Model", "State", "StepDecoder"]

S = TypeVar("S", bound="State")


class Model(nn.Module):
    """Inputs → logits, and nothing else; it names the places where it can be watched."""

    def points(self) -> dict[str, str]:
        """Every place that can be watched: its name and its axes. Nothing is run."""
        return points(self)

    @property
    def n_parameters(self) -> int:
        """How many numbers are learned; tied ones count once."""
        return sum(parameter.numel() for parameter in self.parameters())


class State(Protocol):
    """What a decoder remembers: a KV cache for a Transformer, (h, c) for an LSTM."""

    def reorder(self: S, rows: Int[Tensor, " rows"]) -> S:
        """These rows, in this order: how beam search follows its hypotheses."""
        ...

    def keep(self: S, rows: Bool[Tensor, " B"]) -> S:
        """Drop the rows that are False: finished sequences."""
        ...


class StepDecoder(Protocol[S]):
    """A model that can continue a sequence."""

    def start(self, source: Int[Tensor, "B S"]) -> S:
        """Read the source once; return the state before the first token."""
        ...

    def step(self, tokens: Int[Tensor, "B T"], state: S) -> tuple[Float[Tensor, "B V"], S]:
        """Take the newest tokens; return the logits of the next one, and the state after."""
        ...


@runtime_checkable
class BestDecoder(Protocol):
    """A decoder that can rank the next tokens itself, which saves writing all logits."""

    def step_best(
        self, tokens: NDArray[np.int64], state: Any, k: int
    ) -> tuple[NDArray[np.integer], NDArray[np.floating]]:
        """Take the newest token of each row; return the k best next ones and their log-probs.

        The state is changed in place.
        """
        ...
