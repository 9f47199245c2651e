"""Clearhead: the Transformer, whole. Train it, run it fast, and see through it.

model = clearhead.train("pairs.tsv", to="en-hi")
model = clearhead.load("en-hi")
model("How are you?").text
"""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal

__all__ = ["__version__", "load", "train"]

__version__ = "0.1.0"


def load(
    folder: str | PathLike[str],
    precision: Literal["auto", "float32", "bfloat16", "int8"] = "auto",
) -> Any:
    """Open a model folder; call what comes back with an input, or with a list of them.

    `precision` is that of the numbers it computes with; `auto` takes what is fastest here.
    """
    from clearhead.tasks.folder import task_of  # torch takes seconds, and `--help` needs none of it
    from clearhead.tasks.verbs import verbs_of

    return verbs_of(task_of(Path(folder))).load(Path(folder), precision)


def train(
    files: str | PathLike[str] | Sequence[str | PathLike[str]],
    to: str | PathLike[str],
    *,
    task: str | None = None,
    columns: tuple[str, str] | None = None,
    **options: Any,
) -> Any:
    """Train a model on a file (or several), and write it to the folder `to`.

    Without `task` the data says which. `options` are those of every task: size, seconds, settings,
    device, tell; and `validation` and `test`, files like `files`.
    """
    from clearhead.data.which import which_task
    from clearhead.tasks.verbs import verbs_of

    def listed(given: Any) -> list[Path]:
        is_one = isinstance(given, str | PathLike)
        return [Path(name) for name in ([given] if is_one else given)]

    paths = listed(files)
    verbs = verbs_of(task or which_task(paths, columns))
    for name in ("validation", "test"):
        if options.get(name) is not None:
            options[name] = verbs.open_data(listed(options[name]), columns)
    return verbs.train(verbs.open_data(paths, columns), Path(to), **options)
