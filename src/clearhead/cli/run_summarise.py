"""`clearhead run` for a summariser: a text in, a line out, as for a translator."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from clearhead.cli import run_translate
from clearhead.tasks.summarise.summariser import Summariser

__all__ = ["run_model"]


def run_model(folder: Path, texts: Sequence[str], **options: Any) -> None:
    """Summarise the texts, or else each line of standard input until it ends."""
    if options.pop("glossary", None):
        raise click.UsageError("--glossary is for translations, and this model summarises texts")
    run_translate.run_model(folder, texts, loaded=Summariser, **options)
