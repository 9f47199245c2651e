"""`clearhead run` for a model that continues texts: what it writes appears as it is written."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from clearhead.engine.memory import Wanted
from clearhead.tasks.generate.generator import Continuation, Generator

__all__ = ["run_model"]

NOT_FOR_TEXTS = ("glossary", "prefix", "alignment", "flags")


def run_model(
    folder: Path,
    texts: Sequence[str],
    *,
    precision: Wanted = "auto",
    as_json: bool = False,
    stream: bool = False,
    **options: Any,
) -> None:
    """Continue each text, or else all of standard input as one."""
    _refuse(options)
    settings = {name: value for name, value in options.items() if value is not None and value != ()}
    for name in ("stop", "forbidden"):
        if name in settings:
            settings[name] = list(settings[name])
    generator = Generator.load(folder, precision)
    if not texts:
        if sys.stdin.isatty():
            click.echo("type how the text begins; Ctrl-D ends", err=True)
        texts = [sys.stdin.read().removesuffix("\n")]
    for text in texts:
        if as_json:
            print(json.dumps(_as_data(generator(text, **settings)), ensure_ascii=False), flush=True)
        elif settings.get("n_best", 1) > 1:
            first = generator(text, **settings)
            for number, one in enumerate([first, *first.others], 1):
                print(f"--- {number}, score {one.score:.3f}\n{text}{one.text}", flush=True)
        else:
            print(text, end="", flush=True)
            for part in generator.stream(text, **settings):
                print(part, end="", flush=True)
            print(flush=True)


def _refuse(options: dict[str, Any]) -> None:
    """Refuse what is for translations only."""
    for name in NOT_FOR_TEXTS:
        if options.pop(name, None):
            raise click.UsageError(f"--{name} is for translations, and this model continues texts")
    if options.get("temperature") and (options.get("n_beams") or 1) > 1:
        raise click.UsageError("--beams searches and --temperature draws: give one of them")


def _as_data(answer: Continuation) -> Mapping[str, Any]:
    data: dict[str, Any] = {
        "prompt": answer.prompt,
        "text": answer.text,
        "score": round(answer.score, 6),
        "is_finished": answer.is_finished,
        "tokens": answer.tokens,
        "log_probs": [round(log_prob, 6) for log_prob in answer.log_probs],
    }
    if answer.others:
        data["others"] = [_as_data(other) for other in answer.others]
    return data
