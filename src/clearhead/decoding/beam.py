"""Beam search: keep the best few beginnings, extend all of them, keep the best few again.

One beam is greedy search. Answers are compared by their log-probability divided by their length to
some power (`DecodingConfig.normalise`). A beginning is given up when it cannot win any more: each
further token can only lower its log-probability, so the best it can hope for is that of now at the
longest allowed length. The search ends when none is left.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor

from clearhead.decoding.log import Fate, Node, SearchLog
from clearhead.decoding.request import Hypothesis, Request
from clearhead.decoding.terms import Terms

__all__ = ["Beam"]

Found = Sequence[tuple[int, float]]


class _Row(NamedTuple):
    """A beginning that is being continued."""

    tokens: tuple[int, ...] = ()
    log_probs: tuple[float, ...] = ()
    total: float = 0.0
    node: int | None = None
    """Of the log, if there is one."""


class _Candidate(NamedTuple):
    """A possible next token of a row; the rank is its place in the model's own order."""

    total: float
    parent: int
    rank: int
    token: int
    log_prob: float


class Beam:
    """The search for one request: which rows live, what they wrote, and what has ended."""

    def __init__(self, request: Request, eos: int) -> None:
        config = request.config
        self.request, self.eos, self.config = request, eos, config
        self.terms = Terms(request.required) if request.required else None
        n_beams = config.n_beams // config.n_groups
        self.groups = [_Group(self, n_beams) for _ in range(config.n_groups)]
        # Of twice as many, at most half end. Groups may avoid as many again; so may what is wrong.
        spare = config.n_beams * (config.n_groups > 1) + 8 * (request.is_wrong is not None)
        self.n_candidates = 2 * n_beams + spare
        self.needs_all = self.terms is not None

    @property
    def histories(self) -> list[tuple[int, ...]]:
        """What each live row has written, group by group."""
        return [row.tokens for group in self.groups for row in group.rows]

    def advance(self, found: Sequence[Found], log_probs: Tensor | None) -> list[int]:
        """Take the best next tokens of each row; return which row each new row goes on from.

        `log_probs` are those of all tokens, where `needs_all` asks for them.
        """
        chosen: Counter[int] = Counter()
        parents: list[int] = []
        first = 0
        for group in self.groups:
            n_rows = len(group.rows)
            some = list(found[first : first + n_rows])
            if self.terms is not None and log_probs is not None:
                own = log_probs[first : first + n_rows]
                pairs = zip(group.rows, some, own, strict=True)
                some = [self._with_terms(row, best, all_) for row, best, all_ in pairs]
            parents += [first + parent for parent in group.advance(some, chosen)]
            chosen.update(row.tokens[-1] for row in group.rows)
            first += n_rows
        return parents

    def _with_terms(self, row: _Row, best: Found, log_probs: Tensor) -> Found:
        """Also offer what the required terms need next; the end only when all are there."""
        assert self.terms is not None
        wanted = self.terms.next_tokens(row.tokens)
        known = {token for token, _ in best}
        more = [(token, float(log_probs[token])) for token in sorted(wanted - known)]
        return [(t, p) for t, p in (*best, *more) if t != self.eos or not wanted]

    def results(self) -> list[Hypothesis]:
        """The best answers; finished ones first, then those that have more of the terms."""
        found = [hypothesis for group in self.groups for hypothesis in group.ended]
        terms = self.terms or Terms(())
        found.sort(key=lambda h: (h.is_finished, terms.n_met(h.tokens), h.score), reverse=True)
        found = found[: self.config.n_best]
        if self.request.log is not None:
            leaves = {id(h): node for group in self.groups for h, node in group.leaves}
            self.request.log.best = [leaves[id(hypothesis)] for hypothesis in found]
        return found


class _Group:
    """Beams that compete with each other."""

    def __init__(self, beam: Beam, n_beams: int) -> None:
        self.beam, self.n_beams = beam, n_beams
        self.rows = [_Row()]
        self.ended: list[Hypothesis] = []
        self.leaves: list[tuple[Hypothesis, int]] = []
        """Of each answer, its last node in the log."""

    def advance(self, found: Sequence[Found], avoided: Counter[int]) -> list[int]:
        """Replace the rows by their best successors; return where those come from."""
        rows, request = self.rows, self.beam.request
        candidates = [
            _Candidate(rows[parent].total + log_prob, parent, rank, token, log_prob)
            for parent, some in enumerate(found)
            for rank, (token, log_prob) in enumerate(some)
            if log_prob > float("-inf")
        ]
        cost = self.beam.config.diversity
        candidates.sort(key=lambda c: (cost * avoided[c.token] - c.total, c.parent, c.rank))
        live: list[_Candidate] = []
        ends: list[tuple[_Candidate, _Row]] = []
        self.rows = []
        ordered = self._in_banks(candidates, rows)
        for place, candidate in enumerate(ordered):
            row = rows[candidate.parent]
            longer = _Row(
                (*row.tokens, candidate.token),
                (*row.log_probs, candidate.log_prob),
                candidate.total,
            )
            if self._ends(longer.tokens):
                if place < self.n_beams or self.beam.terms is not None:
                    ends.append((candidate, longer))
            elif request.is_wrong is None or not request.is_wrong(longer.tokens):
                live.append(candidate)
                self.rows.append(longer)
            if len(live) == self.n_beams:
                break
        if request.log is not None:
            ends = self._write(request.log, ordered, rows, live, ends)
        for _, row in ends:
            self._end(row, is_finished=True)
        going_on = self._going_on()
        self.rows = [self.rows[i] for i in going_on]
        return [live[i].parent for i in going_on]

    def _write(
        self,
        log: SearchLog,
        ordered: Sequence[_Candidate],
        rows: Sequence[_Row],
        live: Sequence[_Candidate],
        ends: Sequence[tuple[_Candidate, _Row]],
    ) -> list[tuple[_Candidate, _Row]]:
        """Write a step to the log, and give each new row its node."""
        first = len(log.nodes)
        ids = {candidate: first + rank for rank, candidate in enumerate(ordered)}
        fates: dict[_Candidate, Fate] = dict.fromkeys(live, "kept")
        fates |= {candidate: "finished" for candidate, _ in ends}
        # Who has the last place of this step took it from all that were left.
        last = max((ids[candidate] for candidate in fates), default=None)
        for rank, c in enumerate(ordered):
            row, fate = rows[c.parent], fates.get(c, "pruned")
            score = self.beam.config.normalise(c.total, len(row.tokens) + 1)
            log.nodes.append(
                Node(
                    first + rank, row.node, len(row.tokens), c.token, c.log_prob, c.total, score,
                    rank, fate, last if fate == "pruned" else None,
                )
            )  # fmt: skip
        pairs = zip(self.rows, live, strict=True)
        self.rows = [row._replace(node=ids[candidate]) for row, candidate in pairs]
        return [(candidate, row._replace(node=ids[candidate])) for candidate, row in ends]

    def _ends(self, tokens: tuple[int, ...]) -> bool:
        is_enough = self.beam.request.is_enough
        return tokens[-1] == self.beam.eos or (is_enough is not None and is_enough(tokens))

    def _end(self, row: _Row, is_finished: bool) -> None:
        tokens = list(row.tokens)
        if tokens[-1] == self.beam.eos:
            tokens.pop()
        score = self.beam.config.normalise(row.total, len(row.log_probs))
        self.ended.append(Hypothesis(tokens, list(row.log_probs), score, is_finished))
        if row.node is not None:
            self.leaves.append((self.ended[-1], row.node))

    def _going_on(self) -> list[int]:
        """Rows that may be written on, and that can still beat what has ended."""
        request, config = self.beam.request, self.beam.config
        if not self.rows:
            return []
        if len(self.rows[0].tokens) >= request.max_length:
            for row in self.rows:
                self._end(row, is_finished=False)
                if request.log is not None and row.node is not None:
                    request.log.nodes[row.node].fate = "finished"
            return []
        everything = list(range(len(self.rows)))
        n_wanted = min(config.n_best, self.n_beams)
        if len(self.ended) < n_wanted:
            return everything
        if self.n_beams == 1:  # greedy: what ends is the answer
            if request.log is not None:
                self._drop(request.log, set(everything))
            return []
        bar = sorted((hypothesis.score for hypothesis in self.ended), reverse=True)[n_wanted - 1]
        longest = request.max_length + 1
        kept = [i for i in everything if config.normalise(self.rows[i].total, longest) > bar]
        if request.log is not None:
            self._drop(request.log, set(everything) - set(kept))
        return kept

    def _drop(self, log: SearchLog, given_up: set[int]) -> None:
        """Note which rows cannot win any more, and against whom."""
        winner = max(self.leaves, key=lambda leaf: leaf[0].score, default=None)
        for i in given_up:
            node = self.rows[i].node
            if node is not None:
                log.nodes[node].fate = "dropped"
                log.nodes[node].by = None if winner is None else winner[1]

    def _in_banks(
        self, candidates: Sequence[_Candidate], rows: Sequence[_Row]
    ) -> Sequence[_Candidate]:
        """With required terms, those that have as much of them take turns (Post and Vilar 2018)."""
        terms = self.beam.terms
        if terms is None:
            return candidates
        banks: dict[int, list[_Candidate]] = {}
        for candidate in candidates:
            n_met = terms.n_met((*rows[candidate.parent].tokens, candidate.token))
            banks.setdefault(n_met, []).append(candidate)
        ordered = [banks[n_met] for n_met in sorted(banks, reverse=True)]
        longest = max(map(len, ordered), default=0)
        return [bank[turn] for turn in range(longest) for bank in ordered if turn < len(bank)]
