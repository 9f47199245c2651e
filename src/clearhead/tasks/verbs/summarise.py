"""The commands for texts with summaries."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearhead.data import PairFile, PairReport
from clearhead.data.doctor import examine as examine_pairs
from clearhead.data.summaries import SUMMARY_LIMITS, open_summaries
from clearhead.engine.memory import Wanted
from clearhead.tasks.verbs import Scored
from clearhead.tasks.verbs.translate import sizes

if TYPE_CHECKING:
    from clearhead.tasks.summarise.summariser import Summariser

__all__ = ["evaluate", "examine", "load", "open_data", "sizes", "takes_model", "train"]

takes_model = False


def open_data(paths: Sequence[Path], columns: tuple[str, str] | None = None) -> PairFile:
    """Tables, or two files line by line."""
    return open_summaries(paths, columns)


def examine(data: PairFile, test: PairFile | None = None) -> PairReport:
    """Every pair looked at once."""
    return examine_pairs(data, test=test, limits=SUMMARY_LIMITS)


def train(data: PairFile, to: Path, **options: Any) -> "Summariser":
    """A summariser."""
    from clearhead.tasks.summarise.train import train_summariser

    return train_summariser(data, to, **options)


def load(folder: Path, precision: Wanted = "auto") -> "Summariser":
    """A summariser from its folder."""
    from clearhead.tasks.summarise.summariser import Summariser

    return Summariser.load(folder, precision)


def evaluate(
    folder: Path, data: PairFile, n_beams: int = 5, precision: Wanted = "auto", **options: Any
) -> Scored:
    """ROUGE, beside that of trivial summaries."""
    from clearhead.tasks.corpus import whole_pairs
    from clearhead.tasks.summarise.evaluate import compare_with_baselines, evaluate_summaries

    pairs = whole_pairs(data)
    found = evaluate_summaries(load(folder, precision), pairs, n_beams)
    return Scored(found.scores, len(pairs), "texts", (compare_with_baselines(found.scores),))
