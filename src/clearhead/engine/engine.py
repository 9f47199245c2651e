"""A model with its fastest path: decoding goes through the native engine, watching does not.

    engine = choose_engine(model)
    engine.choice.reason

It has `start` and `step` as the model does. While somebody listens to a place in the model, the
model itself computes, because only there are the values that they want to see.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from clearhead.decoding.request import Hypothesis, Request
from clearhead.decoding.separate import best_tokens
from clearhead.engine.memory import Choice
from clearhead.engine.native_model import NativeModel, NativeState
from clearhead.layers.stacks import DecoderState
from clearhead.layers.tap import is_heard
from clearhead.models import Transformer

__all__ = ["Engine"]

AnyState = NativeState | DecoderState


class Engine:
    """Decodes natively where that is possible, and as the model does otherwise."""

    def __init__(
        self,
        model: Transformer | Callable[[], Transformer],
        native: NativeModel | None,
        choice: Choice,
    ) -> None:
        self._model = model
        self.native, self.choice = native, choice

    @property
    def model(self) -> Transformer:
        """The model itself; it is loaded when it is first asked for."""
        if not isinstance(self._model, Transformer):
            self._model = self._model()
        return self._model

    @property
    def _is_heard(self) -> bool:
        # Nobody can listen to what is not there yet.
        return isinstance(self._model, Transformer) and is_heard(self._model)

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
        logits, _ = self.model.step(torch.from_numpy(tokens)[:, None], state)
        best, log_probs = best_tokens(logits, k)
        return best.cpu().numpy(), log_probs.double().cpu().numpy()
