"""A sentence pair, and a file of pairs that can be read again and again without being held."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

__all__ = ["Pair", "PairFile", "Tally"]

N_LINES_SHOWN = 5


class Pair(NamedTuple):
    """A source, its target, and where they stand: the line or record, counted from 1."""

    line: int
    source: str
    target: str


@dataclass
class Tally:
    """How often each kind of thing was met, and on which lines first."""

    counts: dict[str, int] = field(default_factory=dict)
    lines: dict[str, list[int]] = field(default_factory=dict)

    def add(self, kind: str, line: int) -> None:
        """Count one more."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if self.counts[kind] <= N_LINES_SHOWN:
            self.lines.setdefault(kind, []).append(line)


@dataclass(frozen=True)
class PairFile:
    """Pairs on disk: each iteration opens the file anew and streams it in order.

    `read` tallies the entries that are no pairs (a translation marked as fuzzy, say), so that the
    doctor can tell of them. `assumed` tells in plain sentences what was detected.
    """

    paths: tuple[Path, ...]
    names: tuple[str, str]
    assumed: tuple[str, ...]
    read: Callable[[Tally], Iterator[Pair]] = field(repr=False)

    def __iter__(self) -> Iterator[Pair]:
        """All pairs from the start."""
        return self.read(Tally())
