"""Beam search: follow the W most probable beginnings at once, and return the best whole sentence.

    score(y) = log p(y | x) / |y|^α                             Wu et al. 2016, §7, simplified

Without the division by the length, short sentences would always win. A beam of one is greedy
decoding: at every step the most probable token.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from clearhead.errors import ConfigError, InputError
from clearhead.models.interface import State, StepDecoder

__all__ = ["Hypothesis", "beam_search"]

S = TypeVar("S", bound=State)


@dataclass(frozen=True)
class Hypothesis:
    """One answer: its tokens without the marks of begin and end, and how probable it is."""

    tokens: list[int]
    log_prob: float
    score: float
    is_finished: bool
    """False when the longest allowed length was reached before the end."""


@torch.no_grad()
def beam_search(
    model: StepDecoder[S],
    source: Int[Tensor, "B S"],
    max_lengths: Sequence[int],
    *,
    bos: int,
    eos: int,
    n_beams: int = 5,
    length_power: float = 1.0,
) -> list[list[Hypothesis]]:
    """Return up to `n_beams` answers for each row of `source`, the best first."""
    if n_beams < 1:
        raise ConfigError(f"n_beams={n_beams} must be at least 1")
    if len(max_lengths) != len(source) or min(max_lengths, default=0) < 1:
        raise InputError(f"each of the {len(source)} rows needs a max_length of at least 1")
    n_rows = len(source)
    state = model.start(source)
    state = state.reorder(torch.arange(n_rows, device=source.device).repeat_interleave(n_beams))
    search = _Search(n_rows, n_beams, length_power, bos, source.device)
    finished: list[list[Hypothesis]] = [[] for _ in range(n_rows)]
    live = list(range(n_rows))
    while live:
        logits, state = model.step(search.newest, state)
        rows = search.advance(logits, eos)
        is_live = []
        for place, row in enumerate(live):
            finished[row] += search.ended[place]
            is_over = search.length >= max_lengths[row]
            if is_over:
                finished[row] += search.unfinished(place)
            is_live.append(not is_over and not search.is_decided(place, finished[row]))
        kept = torch.tensor(is_live, device=source.device)
        rows = search.keep(rows, kept)
        state = state.reorder(rows)
        live = [row for row, stays in zip(live, is_live, strict=True) if stays]
    best_first = [sorted(found, key=lambda h: (h.is_finished, h.score))[::-1] for found in finished]
    return [found[:n_beams] for found in best_first]


class _Search:
    """The live beginnings of all rows: their tokens and log-probabilities."""

    def __init__(
        self, n_rows: int, n_beams: int, length_power: float, bos: int, device: torch.device
    ) -> None:
        self.n_beams, self.length_power = n_beams, length_power
        self.tokens = torch.full((n_rows, n_beams, 1), bos, device=device)
        # At first all beams are the same: only one of them may have successors.
        self.log_probs = torch.full((n_rows, n_beams), float("-inf"), device=device)
        self.log_probs[:, 0] = 0
        self.ended: list[list[Hypothesis]] = []

    @property
    def newest(self) -> Int[Tensor, "B 1"]:
        """The tokens that the model has not seen yet."""
        return self.tokens[:, :, -1:].flatten(0, 1)

    @property
    def length(self) -> int:
        """How many tokens have been written."""
        return self.tokens.shape[-1] - 1

    def advance(self, logits: Float[Tensor, "B V"], eos: int) -> Int[Tensor, "B W"]:
        """Choose the best successors; return the rows of the state that they come from."""
        n_tokens = logits.shape[-1]
        n_rows, n_beams = self.log_probs.shape
        log_probs = logits.float().log_softmax(-1).view(n_rows, n_beams, -1)
        candidates = (self.log_probs[..., None] + log_probs).flatten(1)
        # Of twice as many, at most half end here: enough are left to go on.
        best, index = candidates.topk(min(2 * n_beams, candidates.shape[1]), dim=1)
        beam, token = index // n_tokens, index % n_tokens
        is_end = token == eos
        self.ended = [[] for _ in range(n_rows)]
        for row, rank in (is_end[:, :n_beams] & best[:, :n_beams].isfinite()).nonzero().tolist():
            tokens = self.tokens[row, beam[row, rank], 1:].tolist()
            self.ended[row].append(self._answer(tokens, float(best[row, rank]), True))
        self.log_probs, rank = best.masked_fill(is_end, float("-inf")).topk(n_beams, dim=1)
        beam, token = beam.gather(1, rank), token.gather(1, rank)
        earlier = self.tokens.gather(1, beam[..., None].expand(-1, -1, self.tokens.shape[-1]))
        self.tokens = torch.cat([earlier, token[..., None]], dim=-1)
        return beam + torch.arange(n_rows, device=beam.device)[:, None] * n_beams

    def keep(self, rows: Int[Tensor, "B W"], kept: Tensor) -> Int[Tensor, " rows"]:
        """Forget the rows that are done; return the state's rows of the others."""
        self.tokens, self.log_probs = self.tokens[kept], self.log_probs[kept]
        return rows[kept].flatten()

    def unfinished(self, place: int) -> list[Hypothesis]:
        """The beginnings of one row as they stand."""
        pairs = zip(self.tokens[place, :, 1:].tolist(), self.log_probs[place].tolist(), strict=True)
        return [self._answer(t, p, False) for t, p in pairs if p > float("-inf")]

    def is_decided(self, place: int, found: list[Hypothesis]) -> bool:
        """Whether enough answers were found, and the live ones are behind the best of them."""
        if len(found) < self.n_beams:
            return False
        ahead = float(self.log_probs[place, 0]) / (self.length + 1) ** self.length_power
        return ahead <= max(hypothesis.score for hypothesis in found)

    def _answer(self, tokens: list[int], log_prob: float, is_finished: bool) -> Hypothesis:
        length = len(tokens) + is_finished  # the end counts as a token
        return Hypothesis(tokens, log_prob, log_prob / length**self.length_power, is_finished)
