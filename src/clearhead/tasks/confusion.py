"""How often each label is taken for which: accuracy, macro-F1, and the table of confusions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearhead.tasks.markup import isolate, table

__all__ = ["Confusion"]

MOST = 20
"""So many labels make a table that can be read; of more, the most frequent mistakes are told."""
N_MISTAKES = 15


@dataclass(frozen=True)
class Confusion:
    """A row for each label that is right, a column for each that was said."""

    names: tuple[str, ...]
    counts: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        right: Sequence[int] | NDArray[np.integer],
        said: Sequence[int] | NDArray[np.integer],
        names: Sequence[str],
    ) -> "Confusion":
        """Count pairs of labels.

        >>> Confusion.of([0, 0, 1], [0, 1, 1], ["cat", "dog"]).counts.tolist()
        [[1, 1], [0, 1]]
        """  # fmt: skip
        n = len(names)
        codes = np.asarray(right, dtype=np.int64) * n + np.asarray(said, dtype=np.int64)
        return cls(tuple(names), np.bincount(codes, minlength=n * n).reshape(n, n))

    @property
    def accuracy(self) -> float:
        """The share that is right, from 0 to 1."""
        return float(np.trace(self.counts) / max(1, self.counts.sum()))

    @property
    def f1(self) -> NDArray[np.float64]:
        """2 · right / (said + there) of each label; not a number where it is neither."""
        there, said = self.counts.sum(1), self.counts.sum(0)
        with np.errstate(invalid="ignore"):
            return np.asarray(2 * np.diag(self.counts) / (there + said))

    @property
    def macro_f1(self) -> float:
        """The mean of F1 over the labels that are there or were said."""
        known = self.f1[~np.isnan(self.f1)]
        return float(known.mean()) if len(known) else 0.0

    def mistakes(self) -> list[tuple[str, str, int]]:
        """(right, said, how often), the most frequent first."""
        wrong = self.counts - np.diag(np.diag(self.counts))
        order = np.argsort(-wrong, axis=None, kind="stable")[:N_MISTAKES]
        places = [divmod(int(place), len(self.names)) for place in order]
        return [(self.names[i], self.names[j], int(wrong[i, j])) for i, j in places if wrong[i, j]]

    def rows(self) -> list[list[str]]:
        """The table as texts, its head first; of many labels the most frequent mistakes."""
        if len(self.names) > MOST:
            return [["right", "said", "times"], *([a, b, f"{n:,}"] for a, b, n in self.mistakes())]
        rows = [["right ↓ said →", *self.names, "F1"]]
        for name, counts, f1 in zip(self.names, self.counts, self.f1, strict=True):
            told = "–" if np.isnan(f1) else f"{100 * f1:.1f}"
            rows.append([name, *(f"{n:,}" if n else "·" for n in counts.tolist()), told])
        return rows

    def lines(self) -> list[str]:
        """The table for a terminal."""
        from clearhead.observe.drawing.terminal import columns

        rows = self.rows()
        return columns(rows, right=range(1, len(rows[0]))).split("\n")

    def html(self) -> str:
        """The table for the report."""
        head, *rows = self.rows()
        heads = [isolate(head[0]), *(f"#{isolate(name)}" for name in head[1:])]
        return table(heads, [[isolate(cell) for cell in row] for row in rows])

    def to_dict(self) -> dict[str, object]:
        """Plain data for JSON."""
        return {"labels": list(self.names), "confusion": self.counts.tolist()}
