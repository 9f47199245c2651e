"""What decoding needs of a model: `start` and `step`; some can do more by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from clearhead.decoding.request import Hypothesis, Request

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int
    from torch import Tensor

__all__ = ["Ranker", "Searcher", "State", "StepDecoder", "is_causal"]

S = TypeVar("S", bound="State")


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
class Ranker(Protocol):
    """A decoder that can rank the next tokens itself, which saves writing all logits."""

    def step_best(
        self, tokens: NDArray[np.int64], state: Any, k: int
    ) -> tuple[NDArray[np.integer], NDArray[np.floating]]:
        """Take the newest token of each row; return the k best next ones and their log-probs.

        The state is changed in place.
        """
        ...


@runtime_checkable
class Searcher(Protocol):
    """A decoder that can search by itself, from the sources to the answers."""

    def search(
        self, requests: Sequence[Request], *, bos: int, eos: int
    ) -> list[list[Hypothesis]] | None:
        """All answers to simple requests of one config; nothing where it cannot do so now."""
        ...


def is_causal(model: object) -> bool:
    """Whether a model is a decoder by itself, for which a source is the beginning of a text."""
    return bool(getattr(model, "is_causal", False))
