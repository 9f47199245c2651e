"""Required terms: sequences of tokens that an answer must hold, in any order."""

from collections.abc import Sequence

__all__ = ["Terms"]


class Terms:
    """What a beginning has of the terms, and what it needs next.

    >>> terms = Terms([(1, 2), (3,)])
    >>> terms.n_met((9, 1)), sorted(terms.next_tokens((9, 1))), terms.next_tokens((1, 2, 3))
    (1, [2, 3], set())
    """

    def __init__(self, terms: Sequence[Sequence[int]]) -> None:
        self.terms = [tuple(term) for term in terms]

    def next_tokens(self, tokens: Sequence[int]) -> set[int]:
        """Tokens that begin a missing term, or go on with one; nothing when all are there."""
        return {term[_n_begun(term, tokens)] for term in self._missing(tokens)}

    def n_met(self, tokens: Sequence[int]) -> int:
        """How many tokens of the terms are there; of unfinished terms, the longest counts."""
        missing = self._missing(tokens)
        n_whole = sum(map(len, self.terms)) - sum(map(len, missing))
        return n_whole + max((_n_begun(term, tokens) for term in missing), default=0)

    def _missing(self, tokens: Sequence[int]) -> list[tuple[int, ...]]:
        return [term for term in self.terms if not _holds(tokens, term)]


def _holds(tokens: Sequence[int], term: tuple[int, ...]) -> bool:
    n = len(term)
    return any(tuple(tokens[i : i + n]) == term for i in range(len(tokens) - n + 1))


def _n_begun(term: tuple[int, ...], tokens: Sequence[int]) -> int:
    """How many of its first tokens stand at the end."""
    longest = min(len(term) - 1, len(tokens))
    return next(
        (n for n in range(longest, 0, -1) if tuple(tokens[len(tokens) - n :]) == term[:n]), 0
    )
