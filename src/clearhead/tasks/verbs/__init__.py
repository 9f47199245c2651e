"""What the commands need of a task, one file for each: open, examine, train, load, evaluate.

    verbs_of("generate").open_data([Path("plays.txt")])

A file here is imported when its task is asked for. It loads torch only inside the functions that
compute, so that a mistyped option or a broken file is told at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from clearhead.data.report import Report
from clearhead.data.which import TASKS
from clearhead.errors import InputError, nearest

if TYPE_CHECKING:
    from clearhead.tasks.scores import Score

__all__ = ["Scored", "Verbs", "verbs_of"]


@dataclass(frozen=True)
class Scored:
    """The scores of a model on some data, with those of its trivial baselines."""

    scores: "Sequence[Score]"
    n_examples: int
    unit: str
    """What an example is called, in the plural."""
    lines: tuple[str, ...] = ()
    """More to print below the scores, such as a table of confusions."""
    details: dict[str, Any] = field(default_factory=dict)
    """The same for machines."""


class Verbs(Protocol):
    """The functions that every file in this folder has."""

    takes_model: bool
    """Whether training can begin with a model that is there already."""

    def sizes(self) -> Sequence[str]:
        """The sizes of models by name, smallest first."""
        ...

    def open_data(self, paths: Sequence[Path], columns: tuple[str, str] | None = None) -> Any:
        """The data of some files, not read yet; refuses what cannot be such data."""
        ...

    def examine(self, data: Any, test: Any = None) -> Report:
        """What is wrong with the data; `test` is what training must not see."""
        ...

    def train(self, data: Any, to: Path, **options: Any) -> Any:
        """Train a model, write it to a folder, and return what `load` returns."""
        ...

    def load(self, folder: Path, precision: Any = "auto") -> Any:
        """Open a model folder; what comes back is called with an input, or with a list of them."""
        ...

    def evaluate(self, folder: Path, data: Any, **options: Any) -> Scored:
        """Score a model on data that `open_data` opened."""
        ...


def verbs_of(task: str) -> Verbs:
    """The functions of a task by its name."""
    if task not in TASKS:
        raise InputError(f"no task {task!r}: {nearest(task, TASKS)}")
    return cast(Verbs, import_module(f"{__name__}.{task}"))
