"""The native engine from Python: a model's weights are handed over once, then steps are one call.

    fast = NativeModel(model, precision="int8")
    state = fast.start(source)
    logits, state = fast.step(tokens, state)

It decodes as the model itself does, and gives the same answer to a sentence in every batch.
"""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from clearhead.decoding.request import Hypothesis, Request
from clearhead.engine.library import Fetch, SearchSettings
from clearhead.engine.positions import positions_of
from clearhead.engine.shape import is_decoder, n_written, shape_of, why_not
from clearhead.engine.source import Source
from clearhead.errors import ConfigError, InputError

if TYPE_CHECKING:
    from jaxtyping import Bool, Int
    from torch import Tensor

    from clearhead.models import GPT, Llama, Mixtral, Transformer

__all__ = ["NativeModel", "NativeState", "Precision"]

Precision = Literal["float32", "bfloat16", "int8"]
N_POSITIONS: Final = 512
"""For how many positions there are vectors at first."""


class NativeModel:
    """A model for use only, not for training; the weights are packed copies."""

    def __init__(
        self,
        model: Transformer | Llama | Mixtral | GPT | Source,
        library: ctypes.CDLL,
        *,
        precision: Precision = "float32",
        n_threads: int = 1,
        n_for_many: int | None = None,
        kernels: str = "",
    ) -> None:
        """`n_threads` share each product; of many sentences, `n_for_many` take their own."""
        self.config = config = model.config
        if problem := why_not(config):
            raise ConfigError(problem)
        self.library, self.pad, self.n_tokens = library, config.pad, n_written(config)
        self.is_causal, self.n_positions = is_decoder(config), 0
        self.n_for_many = n_for_many or n_threads
        self.lock = threading.RLock()  # the threads of the engine work for one caller at a time
        source = model if isinstance(model, Source) else Source.of(model)
        self._learned = source.read("positions.weight")
        lender = _Lender(source)
        self.handle = library.ch_model_new(
            ctypes.byref(shape_of(config)),
            Fetch(lender.lend),
            get_args(Precision).index(precision),
            n_threads,
            kernels.encode(),
        )
        if lender.error is not None:
            raise lender.error
        if not self.handle:
            raise InputError(library.ch_error().decode())
        self.reach(min(N_POSITIONS, getattr(config, "n_positions", N_POSITIONS)))

    def __del__(self) -> None:
        """Give the memory back."""
        if getattr(self, "handle", None):
            self.library.ch_model_free(self.handle)

    def reach(self, n_positions: int) -> None:
        """Make vectors for so many positions, and for some more, if there are fewer."""
        if n_positions <= self.n_positions:
            return
        n_more = 0 if self._learned is not None else n_positions // 2
        table = positions_of(self.config, n_positions + n_more, self._learned)
        with self.lock:
            self.library.ch_model_positions(self.handle, table.ctypes.data, len(table))
            self.n_positions = len(table)

    @property
    def n_bytes(self) -> int:
        """What the packed weights and the embeddings take."""
        return int(self.library.ch_model_bytes(self.handle))

    def start(self, source: Int[Tensor, "B S"]) -> NativeState:
        """Read the sources; padding is left out, not computed."""
        rows = source.cpu().numpy()
        is_token = rows != self.pad
        n_least = 0 if self.is_causal else 1
        ends = np.arange(1, rows.shape[1] + 1) * is_token  # up to the last that is not padding
        lengths = np.maximum(ends.max(1, initial=0), n_least)
        tokens = np.concatenate([row[:n] for row, n in zip(rows, lengths, strict=True)])
        return self.read(tokens.astype(np.int32), lengths.astype(np.int32))

    def read(self, tokens: NDArray[np.int32], lengths: NDArray[np.int32]) -> NativeState:
        """The same for sources behind one another, of these lengths."""
        self.reach(int(lengths.max()))
        return NativeState(self, tokens, lengths)

    def search(self, requests: Sequence[Request], *, bos: int, eos: int) -> list[list[Hypothesis]]:
        """All answers to requests of one config that is a beam search and nothing more."""
        config = requests[0].config
        settings = SearchSettings(
            config.n_beams, config.n_best, config.min_length, bos, eos,
            config.length_norm == "paper", config.length_power, self.n_for_many,
        )  # fmt: skip
        limits = np.array([request.max_length for request in requests], np.int32)
        lengths = np.array([len(request.source) for request in requests], np.int32)
        tokens = np.concatenate([np.array(request.source, np.int32) for request in requests])
        before = lengths if self.is_causal else np.zeros_like(lengths)
        # A decoder by itself reads no mark of the beginning, and never its own last token.
        self.reach(int(max((before + limits).max() + (not self.is_causal), lengths.max())))
        arrays = (array.ctypes.data for array in (tokens, lengths, limits))
        with self.lock:
            answers = self.library.ch_model_search(
                self.handle, ctypes.byref(settings), *arrays, len(requests)
            )
        if not answers:
            raise InputError(self.library.ch_error().decode())
        try:
            read = _AnswerReader(self.library, answers, int(limits.max()) + 1)
            return [read.all_of(source) for source in range(len(requests))]
        finally:
            self.library.ch_answers_free(answers)

    def step(self, tokens: Int[Tensor, "B 1"], state: NativeState) -> tuple[Tensor, NativeState]:
        """Take the newest tokens; return the logits of the next one, and the state after."""
        import torch

        return torch.from_numpy(state.step(tokens[:, 0].numpy())), state

    def step_best(
        self, tokens: NDArray[np.int64], state: NativeState, k: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The same step; return only the k best next tokens of each row and their log-probs."""
        return state.best(tokens, k)


class NativeState:
    """Sentences under way in the engine. It is changed in place: go on with what comes back."""

    def __init__(
        self, model: NativeModel, tokens: NDArray[np.int32], lengths: NDArray[np.int32]
    ) -> None:
        self.model, self.library, self.n_rows = model, model.library, len(lengths)
        self.length = int(lengths.max()) if model.is_causal else 0
        with model.lock:
            self.handle = self.library.ch_session_new(
                model.handle, tokens.ctypes.data, lengths.ctypes.data, len(lengths)
            )
        if not self.handle:
            raise InputError(self.library.ch_error().decode())

    def __del__(self) -> None:
        """Give the memory back."""
        if getattr(self, "handle", None):
            self.library.ch_session_free(self.handle)

    def reorder(self, rows: Int[Tensor, " rows"]) -> NativeState:
        """These rows, in this order, as often as named."""
        parents = rows.cpu().numpy().astype(np.int32)
        self._check(self.library.ch_session_reorder(self.handle, parents.ctypes.data, len(parents)))
        self.n_rows = len(parents)
        return self

    def keep(self, rows: Bool[Tensor, " B"]) -> NativeState:
        """Drop the rows that are False."""
        return self if bool(rows.all()) else self.reorder(rows.nonzero()[:, 0])

    def step(self, tokens: NDArray[np.integer]) -> NDArray[np.float32]:
        """One position for every row; return the logits."""
        logits = np.empty((self.n_rows, self.model.n_tokens), np.float32)
        newest = tokens.astype(np.int32)
        self._run(self.library.ch_session_step, newest.ctypes.data, logits.ctypes.data)
        return logits

    def best(
        self, tokens: NDArray[np.integer], k: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """One position for every row; return the k best next tokens, and their log-probs."""
        k = min(k, self.model.n_tokens)
        best = np.empty((self.n_rows, k), np.int32)
        log_probs = np.empty((self.n_rows, k), np.float32)
        newest = tokens.astype(np.int32)
        given = newest.ctypes.data, k, best.ctypes.data, log_probs.ctypes.data
        self._run(self.library.ch_session_best, *given)
        return best, log_probs

    def _run(self, function: Any, *given: Any) -> None:
        self.model.reach(self.length + 1)
        with self.model.lock:
            self._check(function(self.handle, *given))
        self.length += 1

    def _check(self, failed: int) -> None:
        if failed:
            raise InputError(self.library.ch_error().decode())


class _AnswerReader:
    """Takes answers of the engine over, one by one, through the same room."""

    def __init__(self, library: ctypes.CDLL, answers: int, longest: int) -> None:
        self.library, self.answers = library, answers
        self.tokens, self.log_probs = np.empty(longest, np.int32), np.empty(longest, np.float32)
        self.score, self.is_finished = np.empty(1), np.empty(1, np.int32)
        rooms = (self.tokens, self.log_probs, self.score, self.is_finished)
        self.addresses = [room.ctypes.data for room in rooms]

    def all_of(self, source: int) -> list[Hypothesis]:
        """The answers to one source, the best first."""
        found = []
        for rank in range(self.library.ch_answers_count(self.answers, source)):
            n = self.library.ch_answers_read(self.answers, source, rank, *self.addresses)
            is_finished = bool(self.is_finished[0])
            tokens = self.tokens[:n].tolist()
            log_probs = self.log_probs[: n + is_finished].tolist()
            found.append(Hypothesis(tokens, log_probs, float(self.score[0]), is_finished))
        return found


class _Lender:
    """Hands tensors to the engine, which packs them at once, at most two together."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.lent: deque[NDArray[np.float32]] = deque(maxlen=2)
        self.error: Exception | None = None

    def lend(self, name: bytes, data: Any, n_rows: Any, n_columns: Any) -> int:
        """Say where a tensor is, and its size; 0 if there is none."""
        try:
            table = self.source.read(name.decode())
        except Exception as error:  # the engine cannot pass it on
            self.error = error
            return 0
        if table is None:
            return 0
        self.lent.append(table)
        data[0] = table.ctypes.data
        n_rows[0], n_columns[0] = (1, *table.shape)[-2:]
        return 1
