"""The loop: one step of the model for all live rows, then each request chooses among its own.

    answers = generate(model, requests, bos=1, eos=2, pad=0)

`Decoding` is the same step by step: requests come in at any time, finished ones leave, and any can
be cancelled. It serves every model that has `start` and `step`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from clearhead.decoding.beam import Beam
from clearhead.decoding.request import Hypothesis, Request
from clearhead.decoding.rules import apply_rules, has_rules
from clearhead.decoding.sampling import Samples
from clearhead.models.interface import State, StepDecoder

__all__ = ["Decoding", "generate", "stream"]

S = TypeVar("S", bound=State)
Choice = Beam | Samples


@dataclass
class _Group(Generic[S]):
    """Requests that came together: their rows stand under each other in one state."""

    state: S
    choices: list[Choice]
    device: torch.device | str


class Decoding(Generic[S]):
    """Requests under way on one model."""

    def __init__(self, model: StepDecoder[S], *, bos: int, eos: int, pad: int) -> None:
        self.model, self.bos, self.eos, self.pad = model, bos, eos, pad
        self._groups: list[_Group[S]] = []
        self._cancelled: set[int] = set()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way."""
        return not self._groups

    @torch.no_grad()
    def add(self, requests: Sequence[Request], device: torch.device | str = "cpu") -> None:
        """Read the sources of these requests; they are decoded together from now on."""
        if not requests:
            return
        rows = [torch.tensor(request.source, device=device) for request in requests]
        source = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=self.pad)
        choices = [
            Samples(request, self.eos)
            if request.config.temperature > 0
            else Beam(request, self.eos)
            for request in requests
        ]
        counts = torch.tensor([len(choice.histories) for choice in choices], device=device)
        state = self.model.start(source)
        if int(counts.max()) > 1:
            places = torch.arange(len(requests), device=device)
            state = state.reorder(places.repeat_interleave(counts))
        self._groups.append(_Group(state, choices, device))

    def cancel(self, request: Request) -> None:
        """Drop a request; its rows leave before the next step."""
        self._cancelled.add(id(request))

    @torch.no_grad()
    def step(self) -> list[tuple[Request, list[Hypothesis]]]:
        """One token for every live row; return the requests that this step has finished."""
        finished: list[tuple[Request, list[Hypothesis]]] = []
        for group in self._groups:
            if self._cancelled:
                self._drop_cancelled(group)
            if group.choices:
                finished += self._step(group)
        self._cancelled.clear()
        self._groups = [group for group in self._groups if group.choices]
        return finished

    def written(self, request: Request) -> tuple[int, ...]:
        """What a request that follows one row has written so far."""
        for group in self._groups:
            for choice in group.choices:
                if choice.request is request:
                    return choice.histories[0]
        return ()

    def _step(self, group: _Group[S]) -> list[tuple[Request, list[Hypothesis]]]:
        newest = [
            history[-1] if history else self.bos
            for choice in group.choices
            for history in choice.histories
        ]
        tokens = torch.tensor(newest, device=group.device)[:, None]
        logits, group.state = self.model.step(tokens, group.state)
        finished: list[tuple[Request, list[Hypothesis]]] = []
        kept: list[int] = []
        living: list[Choice] = []
        first = 0
        for choice, found, log_probs in _candidates(logits, group.choices, self.eos):
            n_rows = len(choice.histories)
            parents = choice.advance(found, log_probs)
            kept += [first + parent for parent in parents]
            first += n_rows
            if parents:
                living.append(choice)
            else:
                finished.append((choice.request, choice.results()))
        group.choices = living
        if living and kept != list(range(len(newest))):
            group.state = group.state.reorder(torch.tensor(kept, device=group.device))
        return finished

    def _drop_cancelled(self, group: _Group[S]) -> None:
        is_kept = [
            id(choice.request) not in self._cancelled
            for choice in group.choices
            for _ in choice.histories
        ]
        group.choices = [c for c in group.choices if id(c.request) not in self._cancelled]
        if group.choices:
            group.state = group.state.keep(torch.tensor(is_kept, device=group.device))


def generate(
    model: StepDecoder[S],
    requests: Sequence[Request],
    *,
    bos: int,
    eos: int,
    pad: int,
    device: torch.device | str = "cpu",
) -> list[list[Hypothesis]]:
    """Decode these requests together; return the answers of each, the best first."""
    decoding = Decoding(model, bos=bos, eos=eos, pad=pad)
    decoding.add(requests, device)
    answers: dict[int, list[Hypothesis]] = {}
    while not decoding.is_idle:
        answers |= {id(request): found for request, found in decoding.step()}
    return [answers[id(request)] for request in requests]


def stream(
    model: StepDecoder[S],
    request: Request,
    *,
    bos: int,
    eos: int,
    pad: int,
    device: torch.device | str = "cpu",
) -> Iterator[int]:
    """Decode one request, and yield each token as soon as it is chosen.

    A search with several beams knows its first token only at the end, and yields all then.
    """
    decoding = Decoding(model, bos=bos, eos=eos, pad=pad)
    decoding.add([request], device)
    n_told = 0
    while not decoding.is_idle:
        finished = decoding.step()
        if finished:
            tokens = tuple(finished[0][1][0].tokens)
        else:
            tokens = decoding.written(request) if request.config.n_rows == 1 else ()
        yield from tokens[n_told:]
        n_told = len(tokens)


def _candidates(
    logits: Float[Tensor, "B V"], choices: Sequence[Choice], eos: int
) -> Iterator[tuple[Choice, list[list[tuple[int, float]]], Tensor | None]]:
    """The best next tokens of each choice's rows, by rules where asked for.

    Without rules the logits themselves are ranked, and only the best few become log-probabilities.
    """
    log_norms = logits.float().logsumexp(-1, keepdim=True)
    k = min(logits.shape[1], max(choice.n_candidates for choice in choices))
    values, tokens = logits.topk(k, dim=-1)
    best = [
        list(zip(some, probs, strict=True))
        for some, probs in zip(tokens.tolist(), (values.float() - log_norms).tolist(), strict=True)
    ]
    first = 0
    for choice in choices:
        rows = slice(first, first + len(choice.histories))
        first = rows.stop
        if not choice.needs_all and not has_rules(choice.request):
            yield choice, best[rows], None
            continue
        log_probs = logits[rows].float() - log_norms[rows]
        apply_rules(log_probs, choice.histories, choice.request, eos)
        k = min(logits.shape[1], choice.n_candidates)
        values, tokens = log_probs.topk(k, dim=-1)
        found = [
            list(zip(some, probs, strict=True))
            for some, probs in zip(tokens.tolist(), values.tolist(), strict=True)
        ]
        yield choice, found, log_probs
