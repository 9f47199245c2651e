"""A model with its fastest path: decoding goes through the native engine, watching does not.

    engine = Engine(lambda: model, *choose(model))
    engine.choice.reason

It has `start` and `step` as the model does, which it loads when it needs it. While somebody listens
to a place in the model, the model itself computes, because only there are the values that they want
to see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Union

import numpy as np
from numpy.typing import NDArray

from clearhead.decoding.request import Hypothesis, Request
from clearhead.engine.memory import Choice
from clearhead.engine.native_model import NativeModel, NativeState

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from torch import Tensor

    from clearhead.layers.stacks import DecoderState
    from clearhead.models import Transformer

__all__ = ["Engine"]

AnyState = Union[NativeState, "DecoderState"]


class Engine:
    """Decodes natively where that is possible, and as the model does otherwise."""

    def __init__(
        self, load: Callable[[], Transformer], native: NativeModel | None, choice: Choice
    ) -> None:
        self._load, self.native, self.choice = load, native, choice

    @cached_property
    def model(self) -> Transformer:
        """The model itself; it is loaded when it is first asked for."""
        return self._load()

    @property
    def is_causal(self) -> bool:
        """Whether the source is the beginning of what is written."""
        decoder = self.model if self.native is None else self.native
        return bool(getattr(decoder, "is_causal", False))

    @property
    def _is_heard(self) -> bool:
        if "model" not in vars(self):  # nobody can listen to what is not there yet
            return False
        from clearhead.layers.tap import is_heard

        return is_heard(self.model)

    def search(
        self, requests: Sequence[Request], *, bos: int, eos: int
    ) -> list[list[Hypothesis]] | None:
        """All answers to simple requests of one config; nothing where the model must compute."""
        if self.native is None or self._is_heard:
            return None
        return self.native.search(requests, bos=bos, eos=eos)

    def start(self, source: Int[Tensor, "B S"]) -> AnyState:
        """Read the sources."""
        if self.native is None or self._is_heard:
            return self.model.start(source)
        return self.native.start(source)

    def step(
        self, tokens: Int[Tensor, "B 1"], state: AnyState
    ) -> tuple[Float[Tensor, "B V"], AnyState]:
        """Take the newest tokens; return the logits of the next one, and the state after."""
        if isinstance(state, NativeState):
            return state.model.step(tokens, state)
        return self.model.step(tokens, state)

    def step_best(
        self, tokens: NDArray[np.int64], state: AnyState, k: int
    ) -> tuple[NDArray[np.integer], NDArray[np.floating]]:
        """The same step; return only the k best next tokens of each row and their log-probs."""
        if isinstance(state, NativeState):
            return state.best(tokens, k)
        import torch

        from clearhead.decoding.separate import best_tokens

        logits, _ = self.model.step(torch.from_numpy(tokens)[:, None], state)
        best, log_probs = best_tokens(logits, k)
        return best.cpu().numpy(), log_probs.double().cpu().numpy()
