"""Many beam searches as one table: what most requests ask for, without a loop over them.

`Beam` says what a search is, rules, groups and required terms included. Here are the searches that
ask for none of these, but perhaps for a shortest length. All of them take a step together, in a few
operations on arrays:

    candidates[search, row · k + rank] = total of the row + log-probability of its rank-th token

Each row of `candidates` is ranked; ends among the first `n_beams` are answers, and the first
`n_beams` others live on. Only answers are looked at one by one.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clearhead.decoding.request import DecodingConfig, Hypothesis, Request
from clearhead.decoding.rules import has_rules

__all__ = ["BeamTable", "by_config", "is_simple"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Finished = list[tuple[Request, list[Hypothesis]]]


def is_simple(request: Request) -> bool:
    """Whether a request is a beam search and nothing more than the shortest length."""
    return (
        request.config.temperature == 0
        and request.config.n_groups == 1
        and not request.required
        and request.is_wrong is None
        and request.is_enough is None
        and request.log is None
        and not has_rules(request, beside_shortest=True)
    )


def by_config(requests: Sequence[Request]) -> dict[DecodingConfig | None, list[Request]]:
    """Simple requests by their config; those that choose one by one under None."""
    kinds: dict[DecodingConfig | None, list[Request]] = {}
    for request in requests:
        kinds.setdefault(request.config if is_simple(request) else None, []).append(request)
    return kinds


class _Step(NamedTuple):
    """What each row wrote at one position, and which row of the position before it continues."""

    parents: Ints
    tokens: Ints
    log_probs: Floats

    def only(self, rows: NDArray[np.bool_]) -> "_Step":
        """Some of the rows."""
        return _Step(self.parents[rows], self.tokens[rows], self.log_probs[rows])


class _End(NamedTuple):
    """An answer: a row that has written `n_steps` tokens, and its last one."""

    score: float
    n_steps: int
    row: int
    token: int
    log_prob: float
    is_finished: bool


class BeamTable:
    """Searches with the same settings; rows of one search stand together, the best first."""

    def __init__(self, requests: Sequence[Request], *, begins: Sequence[int], eos: int) -> None:
        self.requests, self.eos = list(requests), eos
        self.config: DecodingConfig = requests[0].config
        n = len(requests)
        # At most one candidate of a row is the end; greedy search may take it.
        self.n_candidates = self.config.n_beams + (self.config.n_rows + self.config.min_length > 1)
        self.owners: Ints = np.arange(n)
        self.totals: Floats = np.zeros(n)
        self.newest: Ints = np.array(begins)
        self.steps: list[_Step] = []
        self.ends: list[list[_End]] = [[] for _ in range(n)]
        self.bars: Floats = np.full(n, -np.inf)
        """The score that each search must beat to go on."""
        self.max_lengths: Ints = np.array([request.max_length for request in requests])

    @property
    def n_rows(self) -> int:
        """How many beginnings are being continued."""
        return len(self.owners)

    def advance(
        self, tokens: NDArray[np.integer], log_probs: NDArray[np.floating]
    ) -> tuple[Ints, Finished]:
        """Take the best next tokens of each row, the best first.

        Returns which row each new row goes on from, and the requests that have ended.
        """
        if len(self.steps) < self.config.min_length:
            log_probs = np.where(tokens == self.eos, -np.inf, log_probs)
        is_first = np.ones(self.n_rows, dtype=bool)
        is_first[1:] = self.owners[1:] != self.owners[:-1]
        firsts = np.flatnonzero(is_first)
        searching = self.owners[firsts]
        totals, rows, ranks = self._ranked(is_first, firsts, log_probs)
        chosen = tokens[rows, ranks]
        is_possible = totals > -np.inf
        is_end = is_possible & (chosen == self.eos)
        is_live = is_possible & ~is_end
        n_beams = self.config.n_beams
        is_live &= is_live.cumsum(axis=1) <= n_beams
        for place, rank in np.argwhere(is_end[:, :n_beams]).tolist():
            row = int(rows[place, rank])
            log_prob = float(log_probs[row, ranks[place, rank]])
            total = float(totals[place, rank])
            self._end(int(searching[place]), row, self.eos, total, log_prob, is_finished=True)
        at = is_live.nonzero()
        parents = rows[at]
        step = _Step(parents, chosen[at].astype(np.int64), log_probs[parents, ranks[at]])
        return self._go_on(searching, searching[at[0]], totals[at], step)

    def _ranked(
        self, is_first: NDArray[np.bool_], firsts: Ints, log_probs: NDArray[np.floating]
    ) -> tuple[Floats, Ints, Ints]:
        """The best candidates of each search: their totals, their rows, and their ranks there."""
        n_beams, k = self.config.n_beams, log_probs.shape[1]
        sums = self.totals[:, None] + log_probs
        if n_beams == 1:  # already in order
            ranks = np.broadcast_to(np.arange(k), sums.shape)
            return sums, np.broadcast_to(firsts[:, None], sums.shape), ranks
        places = is_first.cumsum() - 1
        table = np.full((len(firsts), n_beams, k), -np.inf)
        table[places, np.arange(self.n_rows) - firsts[places]] = sums
        candidates = table.reshape(len(firsts), -1)
        order = np.argsort(-candidates, axis=1, kind="stable")[:, : 2 * n_beams]
        rows, ranks = np.divmod(order, k)
        totals = candidates[np.arange(len(firsts))[:, None], order]
        return totals, np.minimum(rows + firsts[:, None], self.n_rows - 1), ranks

    def _go_on(
        self, searching: Ints, owners: Ints, totals: Floats, step: _Step
    ) -> tuple[Ints, Finished]:
        """Keep the new rows that may be written on and may still win."""
        length = len(self.steps) + 1
        longest = self.max_lengths[owners]
        is_full = length >= longest
        for i in is_full.nonzero()[0].tolist():
            row, token, log_prob = int(step.parents[i]), int(step.tokens[i]), step.log_probs[i]
            owner, total = int(owners[i]), float(totals[i])
            self._end(owner, row, token, total, float(log_prob), is_finished=False)
        kept = ~is_full & (self.config.normalise(totals, longest + 1) > self.bars[owners])
        if not kept.all():
            owners, totals, step = owners[kept], totals[kept], step.only(kept)
        self.owners, self.totals, self.newest = owners, totals, step.tokens
        self.steps.append(step)
        is_over = np.zeros(len(self.requests), dtype=bool)
        is_over[searching] = True
        is_over[owners] = False
        over = is_over.nonzero()[0].tolist()
        return step.parents, [(self.requests[search], self._results(search)) for search in over]

    def _end(
        self, search: int, row: int, token: int, total: float, log_prob: float, *, is_finished: bool
    ) -> None:
        score = float(self.config.normalise(total, len(self.steps) + 1))
        ends = self.ends[search]
        ends.append(_End(score, len(self.steps), row, token, log_prob, is_finished))
        n_wanted = min(self.config.n_best, self.config.n_beams)
        if self.config.n_beams == 1:
            self.bars[search] = np.inf  # greedy: what ends is the answer
        elif len(ends) >= n_wanted:
            self.bars[search] = sorted((end.score for end in ends), reverse=True)[n_wanted - 1]

    def _results(self, search: int) -> list[Hypothesis]:
        ends = sorted(self.ends[search], key=lambda e: (e.is_finished, e.score), reverse=True)
        return [self._hypothesis(end) for end in ends[: self.config.n_best]]

    def _hypothesis(self, end: _End) -> Hypothesis:
        tokens, log_probs = self._history(end.n_steps, end.row)
        if end.token != self.eos:
            tokens.append(end.token)
        return Hypothesis(tokens, [*log_probs, end.log_prob], end.score, end.is_finished)

    def _history(self, n_steps: int, row: int) -> tuple[list[int], list[float]]:
        """What a row had written after so many steps."""
        tokens: list[int] = []
        log_probs: list[float] = []
        for step in reversed(self.steps[:n_steps]):
            tokens.append(int(step.tokens[row]))
            log_probs.append(float(step.log_probs[row]))
            row = int(step.parents[row])
        return tokens[::-1], log_probs[::-1]

    def drop(self, requests: set[int]) -> NDArray[np.bool_]:
        """Forget requests, named by their `id`; return which rows stay."""
        gone = [i for i, request in enumerate(self.requests) if id(request) in requests]
        kept = ~np.isin(self.owners, gone)
        self.owners, self.totals = self.owners[kept], self.totals[kept]
        self.newest = self.newest[kept]
        if self.steps:
            self.steps[-1] = self.steps[-1].only(kept)
        return kept

    def written(self, request: Request) -> tuple[int, ...] | None:
        """What the best row of a live request has written; nothing if it does not live here."""
        for search in dict.fromkeys(self.owners.tolist()):
            if self.requests[search] is request:
                row = int(np.searchsorted(self.owners, search))
                return tuple(self._history(len(self.steps), row)[0])
        return None
