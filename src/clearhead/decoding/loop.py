"""The loop: one step of the model for all live rows, then each request chooses among its own.

    decoding = Decoding(model, bos=1, eos=2, pad=0)
    decoding.add(requests)
    finished = decoding.step()

Requests come in at any time, finished ones leave, and any can be cancelled. It serves every model
that has `start` and `step`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.utils.rnn import pad_sequence

from clearhead.decoding.interface import Ranker, State, StepDecoder, is_causal
from clearhead.decoding.request import Hypothesis, Request
from clearhead.decoding.separate import Separate, best_tokens
from clearhead.decoding.table import BeamTable, by_config

__all__ = ["Decoding"]

S = TypeVar("S", bound=State)
Finished = list[tuple[Request, list[Hypothesis]]]


@dataclass
class _Group(Generic[S]):
    """Requests that came together: their rows stand under each other in one state."""

    state: S
    rows: BeamTable | Separate
    device: str


class Decoding(Generic[S]):
    """Requests under way on one model."""

    def __init__(self, model: StepDecoder[S], *, bos: int, eos: int, pad: int) -> None:
        self.model, self.bos, self.eos, self.pad = model, bos, eos, pad
        self._ranker = model if isinstance(model, Ranker) else None
        self._groups: list[_Group[S]] = []
        self._cancelled: set[int] = set()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way."""
        return not self._groups

    @torch.no_grad()
    def add(self, requests: Sequence[Request], device: str = "cpu") -> None:
        """Read the sources of these requests; those of a kind are decoded together from now on."""
        for config, some in by_config(requests).items():
            sources, begins = self._begin(some)
            source = pad_sequence(
                [torch.tensor(tokens, dtype=torch.long, device=device) for tokens in sources],
                batch_first=True,
                padding_value=self.pad,
            )
            kind = Separate if config is None else BeamTable
            rows = kind(some, begins=begins, eos=self.eos)
            state = self.model.start(source)
            if rows.n_rows > len(some):
                owners = torch.from_numpy(rows.owners).to(device)
                state = state.reorder(owners)
            self._groups.append(_Group(state, rows, device))

    def _begin(self, requests: Sequence[Request]) -> tuple[list[list[int]], list[int]]:
        """What is read at once, and the first token of each; a decoder goes on from its source."""
        sources = [request.source for request in requests]
        if is_causal(self.model):
            return [source[:-1] for source in sources], [source[-1] for source in sources]
        return sources, [self.bos] * len(sources)

    def cancel(self, request: Request) -> None:
        """Drop a request; its rows leave before the next step."""
        self._cancelled.add(id(request))

    @torch.no_grad()
    def step(self) -> Finished:
        """One token for every live row; return the requests that this step has finished."""
        finished: Finished = []
        for group in self._groups:
            if self._cancelled:
                kept = group.rows.drop(self._cancelled)
                if group.rows.n_rows:
                    group.state = group.state.keep(torch.from_numpy(kept).to(group.device))
            if group.rows.n_rows:
                finished += self._step(group)
        self._cancelled.clear()
        self._groups = [group for group in self._groups if group.rows.n_rows]
        return finished

    def written(self, request: Request) -> tuple[int, ...]:
        """What a request that follows one row has written so far."""
        found = (group.rows.written(request) for group in self._groups)
        return next((tokens for tokens in found if tokens is not None), ())

    def _step(self, group: _Group[S]) -> Finished:
        rows, n_rows = group.rows, group.rows.n_rows
        if isinstance(rows, Separate):
            tokens = torch.from_numpy(rows.newest).to(group.device)[:, None]
            logits, group.state = self.model.step(tokens, group.state)
            parents, finished = rows.advance(logits)
        else:
            best, log_probs = self._best(rows, group)
            parents, finished = rows.advance(best, log_probs)
        if len(parents) and not (len(parents) == n_rows and (parents == np.arange(n_rows)).all()):
            group.state = group.state.reorder(torch.from_numpy(parents).to(group.device))
        return finished

    def _best(
        self, rows: BeamTable, group: _Group[S]
    ) -> tuple[NDArray[np.integer], NDArray[np.floating]]:
        """The best next tokens of each row and their log-probabilities; the state goes on."""
        if self._ranker is not None:
            return self._ranker.step_best(rows.newest, group.state, rows.n_candidates)
        tokens = torch.from_numpy(rows.newest).to(group.device)[:, None]
        logits, group.state = self.model.step(tokens, group.state)
        best, log_probs = best_tokens(logits, rows.n_candidates)
        return best.cpu().numpy(), log_probs.double().cpu().numpy()
