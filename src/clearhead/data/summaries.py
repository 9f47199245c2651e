"""Pairs of a text and its summary: the readers and the doctor of pairs, with other limits."""

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Final

from clearhead.data.columns import LANGUAGE_CODES, SUMMARIES
from clearhead.data.pair_report import Limits
from clearhead.data.pairs import Pair, PairFile
from clearhead.data.readers import open_pairs
from clearhead.data.scripts import main_script
from clearhead.errors import ClearheadError

__all__ = ["SUMMARY_LIMITS", "looks_like_summaries", "open_summaries"]

SUMMARY_LIMITS: Final = Limits(max_length=20_000, max_ratio=30.0, must_shorten=True)
"""Texts are longer than sentences, and how much shorter a summary is differs from text to text."""
FORMATS = (".tsv", ".csv", ".jsonl", ".json", ".parquet", ".txt")
SURE = {"summary", "tldr", "highlights", "headline"}
"""Names of columns that hold summaries and nothing else."""
N_LOOKED_AT = 200
MIN_SOURCE, MIN_TARGET = 300, 20
MAX_SHARE = 0.35
MIN_DISTINCT = 0.5


def open_summaries(paths: Sequence[Path], columns: tuple[str, str] | None = None) -> PairFile:
    """Open files of texts and summaries, or two text files whose lines belong together."""
    return open_pairs(paths, columns, SUMMARIES)


def looks_like_summaries(paths: Sequence[Path], columns: tuple[str, str] | None = None) -> bool:
    """Whether these are tables whose names say so, or whose second side is far shorter.

    Names of languages mean translations, and so do two scripts. A word or two, or the same few
    texts again and again, are labels and no summaries.
    """
    names = [path.name.lower().removesuffix(".gz") for path in paths]
    if not names or not all(name.endswith(FORMATS) for name in names):
        return False
    if all(name.endswith(".txt") for name in names) and len(names) > 1:
        return False  # texts, or two files line by line
    try:
        file = open_summaries(paths, columns)
        pairs = [pair for pair in islice(file, N_LOOKED_AT) if pair.source and pair.target]
    except (ClearheadError, OSError):  # told of when it is opened for good
        return False
    source, target = (name.strip().lower() for name in file.names)
    if not pairs or {source, target} & (LANGUAGE_CODES | {"question", "answer"}):
        return False
    return target in SURE or _is_far_shorter(pairs)


def _is_far_shorter(pairs: Iterable[Pair]) -> bool:
    sources, targets = zip(*((pair.source, pair.target) for pair in pairs), strict=True)
    n_source, n_target = median(map(len, sources)), median(map(len, targets))
    return (
        n_source > MIN_SOURCE
        and n_target >= MIN_TARGET
        and median(len(t) / len(s) for s, t in zip(sources, targets, strict=True)) < MAX_SHARE
        and len(set(targets)) >= MIN_DISTINCT * len(targets)
        and main_script(sources) == main_script(targets)
    )
