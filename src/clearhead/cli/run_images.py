"""`clearhead run` for a model of pictures: a file in, its label out, with how probable it is."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from clearhead.cli.run_options import refuse_writing
from clearhead.engine.memory import Wanted
from clearhead.tasks.images.classifier import N_AT_ONCE, ImageClassifier, Seen

__all__ = ["run_model"]


def run_model(
    folder: Path,
    files: Sequence[str],
    *,
    precision: Wanted = "auto",
    as_json: bool = False,
    stream: bool = False,
    **options: Any,
) -> None:
    """Say what each picture shows, or each whose name is a line of standard input."""
    refuse_writing({"stream": stream, **options}, "looks at pictures")
    classifier = ImageClassifier.load(folder, precision)
    if files:
        for begin in range(0, len(files), N_AT_ONCE):
            some = list(files[begin : begin + N_AT_ONCE])
            for file, seen in zip(some, classifier([*some]), strict=True):
                _print(file, seen, as_json)
        return
    if sys.stdin.isatty():
        click.echo("type the name of a picture file in each line; Ctrl-D ends", err=True)
    for line in sys.stdin:
        if file := line.rstrip("\n"):
            _print(file, classifier(file), as_json)
        else:
            print(flush=True)


def _print(file: str, seen: Seen, as_json: bool) -> None:
    if as_json:
        probs = {label: round(p, 6) for label, p in seen.probabilities.items()}
        found = {"file": file, "label": seen.label, "probability": round(seen.probability, 6)}
        print(json.dumps({**found, "probabilities": probs}, ensure_ascii=False), flush=True)
    else:
        print(f"{seen.label}\t{seen.probability:.4f}", flush=True)
