"""Sampling: the next token is drawn, not searched for.

    p(v) ∝ exp(log p(v) / temperature), over the tokens that top-k, top-p and min-p leave

Each sequence has its own random numbers, made from (seed, number of the sequence): what is drawn
does not depend on what else is decoded at the same time.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from clearhead.decoding.request import DecodingConfig, Hypothesis, Request

__all__ = ["Samples", "shape_distribution", "shaping_steps"]


Shaped = tuple[NDArray[np.int64], NDArray[np.float64]]


def shape_distribution(log_probs: NDArray[np.float64], config: DecodingConfig) -> Shaped:
    """Return the tokens that may be drawn, the most probable first, and their probabilities."""
    *_, (_, shaped) = shaping_steps(log_probs, config)
    return shaped


def shaping_steps(
    log_probs: NDArray[np.float64], config: DecodingConfig
) -> Iterator[tuple[str, Shaped]]:
    """What each setting leaves, one after the other.

    top-k and min-p look at the model's probabilities after temperature, top-p at what they leave.
    """
    scaled = log_probs / config.temperature
    order = np.argsort(-scaled, kind="stable")
    p = np.exp(scaled[order] - scaled[order[0]])  # the first one is 1
    yield "temperature", (order, p / p.sum())
    if config.top_k:
        order, p = order[: config.top_k], p[: config.top_k]
        yield "top-k", (order, p / p.sum())
    kept = p >= config.min_p
    kept &= p > 0
    order, p = order[kept], p[kept] / p[kept].sum()
    if config.min_p:
        yield "min-p", (order, p)
    n_kept = int(np.searchsorted(np.cumsum(p), config.top_p * (1 - 1e-12))) + 1
    yield "top-p", (order[:n_kept], p[:n_kept] / p[:n_kept].sum())


class Samples:
    """The sequences that are drawn for one request."""

    needs_all = True
    n_candidates = 1

    def __init__(self, request: Request, eos: int) -> None:
        self.request, self.eos = request, eos
        n = request.config.n_best
        self.randoms = [np.random.default_rng([request.config.seed, i]) for i in range(n)]
        self.tokens: list[list[int]] = [[] for _ in range(n)]
        self.log_probs: list[list[float]] = [[] for _ in range(n)]
        self.is_finished = [False] * n
        self.live = list(range(n))
        self.was_live: list[int] = []
        self.drawn: list[int | None] = []
        """The sequences that lived before the last step, and what each has drawn in it."""

    @property
    def histories(self) -> list[tuple[int, ...]]:
        """What each live sequence has written."""
        return [tuple(self.tokens[i]) for i in self.live]

    def advance(
        self, found: Sequence[Sequence[tuple[int, float]]], log_probs: Float[Tensor, "B V"] | None
    ) -> list[int]:
        """Draw a token for each live sequence; return which rows live on."""
        assert log_probs is not None
        table = log_probs.to("cpu", torch.float64).numpy()
        self.was_live = self.live
        self.drawn = [self._draw(i, row) for i, row in zip(self.live, table, strict=True)]
        for i, row, token in zip(self.live, table, self.drawn, strict=True):
            if token is None:  # nothing may be written: the sequence ends as it is
                self.is_finished[i] = True
                continue
            self.log_probs[i].append(float(row[token]))
            if token != self.eos:
                self.tokens[i].append(token)
            is_enough = self.request.is_enough
            self.is_finished[i] = token == self.eos or bool(
                is_enough and is_enough(tuple(self.tokens[i]))
            )
        going_on = [
            place
            for place, i in enumerate(self.live)
            if not self.is_finished[i] and len(self.tokens[i]) < self.request.max_length
        ]
        self.live = [self.live[place] for place in going_on]
        return going_on

    def _draw(self, i: int, log_probs: NDArray[np.float64]) -> int | None:
        """Draw until a token is not wrong; what was wrong cannot be drawn again."""
        while np.isfinite(log_probs.max()):
            tokens, p = shape_distribution(log_probs, self.request.config)
            place = int(np.searchsorted(np.cumsum(p), self.randoms[i].random(), side="right"))
            token = int(tokens[min(place, len(tokens) - 1)])
            is_wrong = self.request.is_wrong
            if token == self.eos or is_wrong is None or not is_wrong((*self.tokens[i], token)):
                return token
            log_probs = log_probs.copy()
            log_probs[token] = -np.inf
        return None

    def results(self) -> list[Hypothesis]:
        """All sequences, in the order of their numbers."""
        config = self.request.config
        return [
            Hypothesis(
                tokens, log_probs, config.normalise(sum(log_probs), max(1, len(log_probs))), done
            )
            for tokens, log_probs, done in zip(
                self.tokens, self.log_probs, self.is_finished, strict=True
            )
        ]
