"""`clearhead run` for a model that answers questions: a question and a text in, an answer out."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from clearhead.cli.run_options import refuse_writing
from clearhead.engine.memory import Wanted
from clearhead.errors import InputError
from clearhead.tasks.answer.answerer import Answer, Answerer

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
    """Answer QUESTION from CONTEXT, or each line `question<TAB>context` of standard input."""
    refuse_writing({"stream": stream, **options}, "finds answers in a text")
    if texts and len(texts) != 2:
        raise click.UsageError(
            f"this model answers a question from a text: give QUESTION CONTEXT, and not "
            f"{len(texts)} texts"
        )
    answerer = Answerer.load(folder, precision)
    pairs = iter([(texts[0], texts[1])]) if texts else _lines()
    for pair in pairs:
        if pair is None:
            print(flush=True)
            continue
        answer = answerer(*pair, n_best=n_best or 1)
        if as_json:
            print(json.dumps(_as_data(answer), ensure_ascii=False), flush=True)
            continue
        for rank, one in enumerate([answer, *answer.others], 1):
            before = f"{rank}\t" if n_best else ""
            print(f"{before}{_one_line(one.text)}\t{one.probability:.4f}", flush=True)


def _lines() -> Iterator[tuple[str, str] | None]:
    """The pairs of standard input; nothing for a blank line, which stays blank."""
    if sys.stdin.isatty():
        click.echo("type a question, a tab and a text; Ctrl-D ends", err=True)
    for number, line in enumerate(sys.stdin, 1):
        line = line.rstrip("\r\n")
        if not line.strip():
            yield None
            continue
        question, tab, context = line.partition("\t")
        if not (tab and question.strip() and context.strip()):
            raise InputError(
                f"line {number:,} has no question and text with a tab between them: write "
                "question<TAB>text"
            )
        yield question, context


def _one_line(text: str) -> str:
    """A part of a text may have line breaks and tabs in it."""
    return " ".join(text.split())


def _as_data(answer: Answer) -> dict[str, Any]:
    data: dict[str, Any] = {
        "answer": answer.text,
        "start": answer.start,
        "end": answer.end,
        "probability": round(answer.probability, 6),
        "is_found": answer.is_found,
    }
    if answer.others:
        data["others"] = [_as_data(other) for other in answer.others]
    return data
