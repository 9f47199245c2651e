"""Clearhead: the Transformer, whole. Train it, run it fast, and see through it.

model = clearhead.train("pairs.tsv", to="en-hi")
model = clearhead.load("en-hi")
model("How are you?").text
"""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from clearhead.tasks import Translator
    from clearhead.tasks.generate.generator import Generator

__all__ = ["__version__", "load", "train"]

__version__ = "0.1.0"


def load(
    folder: str | PathLike[str],
    precision: Literal["auto", "float32", "bfloat16", "int8"] = "auto",
) -> "Translator | Generator":
    """Open a model folder; call what comes back with a text, or with a list of them.

    `precision` is that of the numbers it computes with; `auto` takes what is fastest here.
    """
    from clearhead.tasks import Translator  # torch takes seconds, and `--help` needs none of it
    from clearhead.tasks.folder import task_of

    if task_of(Path(folder)) == "generate":
        from clearhead.tasks.generate.generator import Generator

        return Generator.load(Path(folder), precision)
    return Translator.load(Path(folder), precision)


def train(
    files: str | PathLike[str] | Sequence[str | PathLike[str]],
    to: str | PathLike[str],
    *,
    columns: tuple[str, str] | None = None,
    **options: Any,
) -> "Translator":
    """Train a translator on a file of pairs (or several), and write it to the folder `to`.

    `options` are those of `clearhead.tasks.train`: size, seconds, settings, device, tell; and
    `validation` and `test`, files like `files`.
    """
    from clearhead.data import PairFile, open_pairs
    from clearhead.tasks.train import train

    def open_files(given: Any) -> PairFile:
        is_one = isinstance(given, str | PathLike)
        return open_pairs([Path(name) for name in ([given] if is_one else given)], columns)

    for name in ("validation", "test"):
        if options.get(name) is not None:
            options[name] = open_files(options[name])
    return train(open_files(files), Path(to), **options)
