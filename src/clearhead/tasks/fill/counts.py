"""The trivial baselines of filling gaps: tokens guessed from their neighbours by counting alone."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["BOTH_SIDES", "LEFT_SIDE", "NO_SIDE", "Counts"]

PRIOR = 5.0
"""How many sightings the weaker context is worth."""

NO_SIDE: tuple[tuple[int, ...], ...] = ()
LEFT_SIDE: tuple[tuple[int, ...], ...] = ((-1,), (-2, -1))
BOTH_SIDES: tuple[tuple[int, ...], ...] = ((1,), (-1,), (-1, 1))
"""Contexts from weak to strong: where the neighbours stand that are known."""


class Counts:
    """How often each token stands where in a row, by the neighbours it has there."""

    def __init__(
        self, row: NDArray[np.integer], n_tokens: int, contexts: Sequence[tuple[int, ...]]
    ) -> None:
        self.n_tokens, self.contexts = n_tokens, contexts
        tokens: NDArray[np.int64] = row.astype(np.int64)
        # One sighting more of each token: no token is impossible.
        once = np.bincount(tokens, minlength=n_tokens) + 1.0
        self.alone: NDArray[np.float64] = once / once.sum()
        """The probabilities without any neighbour."""
        self._found: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        for offsets in contexts:
            places = np.arange(max(0, -min(offsets)), len(row) - max(0, max(offsets)))
            codes = self._code(tokens, places, offsets) * n_tokens + tokens[places]
            self._found.append(np.unique(codes, return_counts=True))

    def guess(
        self, row: NDArray[np.integer], places: NDArray[np.int64]
    ) -> Iterator[NDArray[np.float64]]:
        """The probabilities of all tokens at each of some places of another row.

        A neighbour that was never seen, as a gap is, leaves the weaker contexts to decide.
        """
        tokens: NDArray[np.int64] = np.pad(row.astype(np.int64), 2)  # nothing stands outside
        known = [self._code(tokens, places + 2, offsets) for offsets in self.contexts]
        for each in zip(*known, strict=True) if known else ((),) * len(places):
            p = self.alone.copy()
            for code, (codes, counts) in zip(each, self._found, strict=True):
                begin, end = np.searchsorted(
                    codes, [code * self.n_tokens, (code + 1) * self.n_tokens]
                )
                seen = counts[begin:end]
                p *= PRIOR
                p[codes[begin:end] % self.n_tokens] += seen
                p /= seen.sum() + PRIOR
            yield p

    def _code(
        self, row: NDArray[np.int64], places: NDArray[np.int64], offsets: tuple[int, ...]
    ) -> NDArray[np.int64]:
        """The neighbours of some places as one number."""
        codes = np.zeros(len(places), dtype=np.int64)
        for offset in offsets:
            codes = codes * self.n_tokens + row[places + offset]
        return codes
