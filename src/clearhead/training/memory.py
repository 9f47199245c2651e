"""How much memory this process holds, and how what is free in it goes back to the system.

Batches differ in shape, so a tensor seldom fits into the place that an earlier one has left. The C
library keeps all these places: a small model came to hold 3.7 GB where its largest batch needs 1.2.
"""

import ctypes
import functools
import mmap
import sys
from collections.abc import Callable
from pathlib import Path

__all__ = ["GiveBack", "most_bytes", "peak_bytes"]

STATUS = Path("/proc/self/statm")
SLACK = 2 << 30
N_STEPS = 4
"""To look costs little; to give back costs some hundredths of a second, and as much again until
the pages are there once more."""


def most_bytes(n_needed: int) -> int:
    """The most that is held by a process that needs so much: three times that, or 2 GiB more.

    Less would cost time: with one GiB, a small model spends a fourteenth of it on giving back.

    >>> most_bytes(500), most_bytes(5 << 30) >> 30
    (1500, 7)
    """
    return min(3 * n_needed, n_needed + SLACK)


class GiveBack:
    """Called after each step; gives free memory back when too much is held."""

    def __init__(self) -> None:
        self.n_calls, self.n_needed = 0, 0

    def __call__(self) -> None:
        """Only with the C library of GNU is there something to do."""
        self.n_calls += 1
        trim = _trim()
        if trim is None or self.n_calls % N_STEPS:
            return
        if _held_bytes() > most_bytes(self.n_needed):
            trim(0)
            self.n_needed = _held_bytes()


@functools.cache
def _trim() -> Callable[[int], int] | None:
    try:
        return ctypes.CDLL("libc.so.6").malloc_trim
    except (OSError, AttributeError):  # not GNU's
        return None


def _held_bytes() -> int:
    """The memory that this process holds now; 0 where the system does not tell."""
    try:
        n_pages = int(STATUS.read_text(encoding="ascii").split()[1])
    except OSError:  # a system without /proc
        return 0
    return n_pages * mmap.PAGESIZE


def peak_bytes() -> int:
    """The most memory that this process has held so far; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
