"""Which words belong together, from pairs alone: the yardstick for heads that align.

It is IBM's Model 1 (Brown et al. 1993): each word of one side comes from one word of the other, and
how probably which comes from which is learned by going over the pairs some times. It knows nothing
of the model that is looked at.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearhead.errors import InputError

__all__ = ["Lexicon"]

ROUNDS = 6
Words = Sequence[str]
_Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Lexicon:
    """How probable each word is, given one of the other side; both ways."""

    forward: dict[tuple[str, str], float]
    """Of a (source, target) pair of words: the target given the source."""
    backward: dict[tuple[str, str], float]

    @classmethod
    def learn(cls, pairs: Sequence[tuple[Words, Words]]) -> "Lexicon":
        """From pairs of sentences in words; some thousand give a good one."""
        small = [(_lower(source), _lower(target)) for source, target in pairs if source and target]
        if not small:
            raise InputError("there are no pairs to learn from which words belong together")
        back = _learn([(target, source) for source, target in small])
        return cls(_learn(small), {(s, t): p for (t, s), p in back.items()})

    def links(self, source: Words, target: Words) -> list[tuple[int, int]]:
        """Places (target, source) of words that choose each other; these links are few and good."""
        source, target = _lower(source), _lower(target)
        found = []
        for t, word in enumerate(target):
            s = _best([self.forward.get((other, word), 0.0) for other in source])
            back = _best([self.backward.get((source[s], other), 0.0) for other in target])
            # A word that stands twice has the same probability at both places: it is left out.
            is_once = source.count(source[s]) == 1 and target.count(word) == 1
            if back == t and is_once and (source[s], word) in self.forward:
                found.append((t, s))
        return found


def _best(shares: Sequence[float]) -> int:
    return max(range(len(shares)), key=shares.__getitem__)


def _lower(words: Words) -> list[str]:
    return [word.lower() for word in words]


def _learn(pairs: Sequence[tuple[list[str], list[str]]]) -> dict[tuple[str, str], float]:
    """Probabilities of the second side's words given the first's, by expectation-maximisation."""
    numbers: tuple[dict[str, int], dict[str, int]] = ({}, {})
    givens, words_there, groups = [], [], []
    n_groups = 0
    for pair in pairs:
        given, words = (
            np.array([known.setdefault(word, len(known)) for word in side])
            for known, side in zip(numbers, pair, strict=True)
        )
        givens.append(np.tile(given, len(words)))
        words_there.append(np.repeat(words, len(given)))
        groups.append(np.repeat(n_groups + np.arange(len(words)), len(given)))
        n_groups += len(words)
    given_of, word_of, group_of = (np.concatenate(some) for some in (givens, words_there, groups))
    cells, cell_of = np.unique(given_of * len(numbers[1]) + word_of, return_inverse=True)
    given_of_cell: _Ids = cells // len(numbers[1])
    p = np.ones(len(cells))
    for _ in range(ROUNDS):
        share = p[cell_of]
        share /= np.bincount(group_of, share)[group_of]
        counts = np.bincount(cell_of, share)
        p = counts / np.bincount(given_of_cell, counts)[given_of_cell]
    names = tuple(list(known) for known in numbers)
    places = zip(
        given_of_cell.tolist(), (cells % len(numbers[1])).tolist(), p.tolist(), strict=True
    )
    return {(names[0][g], names[1][w]): share for g, w, share in places}
