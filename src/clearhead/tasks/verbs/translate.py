"""The commands for pairs of sentences."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearhead.data import PairFile, PairReport, open_pairs
from clearhead.data.doctor import examine as examine_pairs
from clearhead.engine.memory import Wanted
from clearhead.tasks.verbs import Scored

if TYPE_CHECKING:
    from clearhead.tasks.translate import Translator

__all__ = ["evaluate", "examine", "load", "open_data", "sizes", "takes_model", "train"]

takes_model = False


def sizes() -> Sequence[str]:
    """Of Transformers."""
    from clearhead.config import PRESETS

    return tuple(PRESETS)


def open_data(paths: Sequence[Path], columns: tuple[str, str] | None = None) -> PairFile:
    """Tables, catalogues, or two files line by line."""
    return open_pairs(paths, columns)


def examine(data: PairFile, test: PairFile | None = None) -> PairReport:
    """Every pair looked at once."""
    return examine_pairs(data, test=test)


def train(data: PairFile, to: Path, **options: Any) -> "Translator":
    """A translator."""
    from clearhead.tasks.train import train

    return train(data, to, **options)


def load(folder: Path, precision: Wanted = "auto") -> "Translator":
    """A translator from its folder."""
    from clearhead.tasks.translate import Translator

    return Translator.load(folder, precision)


def evaluate(folder: Path, data: PairFile, **options: Any) -> Scored:
    """BLEU and chrF, beside those of copying the source."""
    from clearhead.data.pairs import Tally
    from clearhead.tasks.evaluate import evaluate

    pairs = [pair for pair in data.read(Tally()) if pair.source and pair.target]
    found = evaluate(load(folder), pairs, **options)
    return Scored(found.scores, len(pairs), "pairs")
