"""The log: what a search considered, and why each candidate lived or died; what was drawn from.

Everything is written at the moment of selection, by the search itself, so that the log cannot
disagree with the answer.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Choice", "Fate", "Node", "SearchLog", "Stage"]

Fate = Literal["kept", "pruned", "finished", "dropped"]


@dataclass
class Node:
    """One candidate: a token after a beginning."""

    id: int
    parent: int | None
    """The node before it; none for the first token."""
    step: int
    token: int
    log_prob: float
    """Of the token, given the ones before."""
    total: float
    """Of the whole beginning."""
    score: float
    """The total, normalised by the length."""
    rank: int
    """Its place among the candidates of this step."""
    fate: Fate
    """`dropped` was kept, and given up later: it could not win any more."""
    by: int | None = None
    """Who took its place, or whom it could not beat."""


@dataclass(frozen=True)
class Stage:
    """The probabilities of the candidates after a rule; the first are those of the model."""

    rule: str
    p: dict[int, float]
    """Of each candidate; 0 for one that is ruled out."""
    n_left: int
    """How many tokens of the vocabulary are possible."""


@dataclass(frozen=True)
class Choice:
    """One token that was drawn, or taken because it was the most probable."""

    row: int
    """Which of the answers it belongs to."""
    step: int
    token: int
    stages: list[Stage]


@dataclass
class SearchLog:
    """All candidates of one search, in the order in which they were considered."""

    nodes: list[Node] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    """For greedy search and drawing: each token, and what every rule did to the candidates."""
    best: list[int] = field(default_factory=list)
    """The last node of each answer that was returned, the best first."""

    def path(self, leaf: int) -> list[Node]:
        """From the first token to a node."""
        nodes = []
        at: int | None = leaf
        while at is not None:
            nodes.append(self.nodes[at])
            at = self.nodes[at].parent
        return nodes[::-1]

    def counts(self, step: int) -> Counter[Fate]:
        """How many candidates of a step had which fate."""
        return Counter(node.fate for node in self.nodes if node.step == step)

    @property
    def n_steps(self) -> int:
        """How many steps the search took."""
        return 1 + max((node.step for node in self.nodes), default=-1)
