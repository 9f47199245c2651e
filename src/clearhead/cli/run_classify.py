"""`clearhead run` for a classifier: for each line its label and how probable it is."""

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from clearhead.cli.run_options import refuse_writing
from clearhead.engine.memory import Wanted
from clearhead.tasks.classify.classifier import Classification, Classifier

__all__ = ["run_model"]


def run_model(
    folder: Path,
    texts: Sequence[str],
    *,
    precision: Wanted = "auto",
    as_json: bool = False,
    stream: bool = False,
    **options: Any,
) -> None:
    """Label each text, or else each line of standard input; a blank line stays blank."""
    refuse_writing({"stream": stream, **options}, "says labels")
    classifier = Classifier.load(folder, precision)
    if not texts and sys.stdin.isatty():
        click.echo("type a text on each line; Ctrl-D ends", err=True)
    lines: Iterable[str] = texts or (line.rstrip("\r\n") for line in sys.stdin)
    for line in lines:
        if not line.strip():
            print(flush=True)
            continue
        found = classifier(line)
        print(_as_json(found) if as_json else f"{found.label}\t{found.probability:.4f}", flush=True)


def _as_json(found: Classification) -> str:
    ranked = sorted(found.probabilities.items(), key=lambda entry: -entry[1])
    data = {
        "text": found.text,
        "label": found.label,
        "probability": round(found.probability, 6),
        "probabilities": {label: round(p, 6) for label, p in ranked},
    }
    return json.dumps(data, ensure_ascii=False)
