"""`clearhead look`: see what a model does with its input, in the terminal or as a picture."""

from importlib import import_module
from pathlib import Path
from typing import Any

import click

from clearhead.errors import InputError, nearest
from clearhead.observe.drawing import Picture
from clearhead.tasks.folder import task_of

__all__ = ["show_look"]

LOOKED_AT = ("translate", "generate", "classify", "summarise", "answer", "fill", "images")
"""Tasks whose models can be looked at."""


def show_look(
    folder: Path, inputs: tuple[str, ...], *, view: str | None, out: Path | None, **options: Any
) -> None:
    """Print a view, or write it to a file; each task has views of its own, the usual one first."""
    task = task_of(folder)
    if task not in LOOKED_AT:
        raise InputError(f"{folder} holds a model for the task {task}: there is no view of it yet")
    looks = import_module(f"clearhead.cli.look_{task}")
    view = view or next(iter(looks.VIEWS))
    if view not in looks.VIEWS:
        raise InputError(
            f"a model for the task {task} has no view {view!r}: {nearest(view, looks.VIEWS)}"
        )
    if options.get("block") is not None and options.get("head") is None:
        raise InputError(f"--block {options['block']} shows one head of it: give --head, too")
    picture: Picture = looks.look(folder, inputs, view=view, **options)
    if out is None:
        click.echo(picture.text)
        return
    picture.save(out)
    click.echo(f"{picture.title}: {out}", err=True)
