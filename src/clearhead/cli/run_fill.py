"""`clearhead run` for a model that fills gaps: a line in, the same line without gaps out."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from clearhead.cli.run_options import refuse_writing
from clearhead.engine.memory import Wanted
from clearhead.errors import InputError
from clearhead.tasks.fill.filler import Filled, Filler

__all__ = ["run_model"]


def run_model(
    folder: Path,
    texts: Sequence[str],
    *,
    precision: Wanted = "auto",
    as_json: bool = False,
    stream: bool = False,
    n_best: int | None = None,
    **options: Any,
) -> None:
    """Fill the gaps of each text, or else of each line of standard input."""
    refuse_writing({"stream": stream, **options}, "fills gaps")
    filler = Filler.load(folder, precision)
    if not texts and sys.stdin.isatty():
        click.echo("type a text with <mask> in it and press Enter; Ctrl-D ends", err=True)
    for number, text in enumerate(texts or _lines(), 1):
        if not text.strip() and not texts:
            print("{}" if as_json else "", flush=True)  # a blank line stays blank
            continue
        try:
            found = filler(text, n_best=n_best or 1)
        except InputError as error:
            raise InputError(str(error) if texts else f"line {number}: {error}") from None
        if as_json:
            print(json.dumps(_as_data(found), ensure_ascii=False), flush=True)
        elif n_best:
            for rank, one in enumerate([found, *found.others], 1):
                print(f"{rank}\t{one.probability:.4f}\t{one.text}", flush=True)
        else:
            print(found.text, flush=True)


def _lines() -> Iterator[str]:
    for line in sys.stdin:
        yield line.removesuffix("\n").removesuffix("\r")


def _as_data(found: Filled) -> Mapping[str, Any]:
    data: dict[str, Any] = {
        "source": found.source,
        "text": found.text,
        "probability": round(found.probability, 6),
        "gaps": [
            [
                {"text": one.text, "token": one.token, "probability": round(one.probability, 6)}
                for one in some
            ]
            for some in found.gaps
        ],
    }
    if found.others:
        data["others"] = [
            {"text": other.text, "probability": round(other.probability, 6)}
            for other in found.others
        ]
    return data
