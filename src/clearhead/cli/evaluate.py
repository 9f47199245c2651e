"""`clearhead evaluate`: how good a model is on a file of pairs, as a table or as JSON."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from clearhead.cli.show import score_table, wide_console
from clearhead.data import Pair, PairFile, open_pairs
from clearhead.data.fingerprints import normalise
from clearhead.data.pair_report import KINDS
from clearhead.data.pairs import Tally
from clearhead.data.report import Finding, list_findings
from clearhead.engine.memory import Wanted
from clearhead.errors import InputError
from clearhead.tasks.evaluate import evaluate
from clearhead.tasks.folder import task_of
from clearhead.tasks.translate import Translator
from clearhead.tasks.verbs import verbs_of
from clearhead.text.amounts import describe_time
from clearhead.text.normal import language_of

__all__ = ["show_scores"]


def show_scores(
    folder: Path,
    files: Sequence[Path],
    columns: tuple[str, str] | None = None,
    n_beams: int = 5,
    as_json: bool = False,
    precision: Wanted = "auto",
) -> None:
    """Translate all sources of a file, and print how near the answers are to the targets."""
    if (task := task_of(folder)) != "translate":
        wanted = {"n_beams": n_beams, "precision": precision}
        _show_scored(task, folder, files, columns, as_json, wanted)
        return
    file = open_pairs(files, columns)
    translator = Translator.load(folder, precision)
    if warning := _swapped(file, translator.card):
        click.echo(f"Warning: {warning}", err=True)
    tally = Tally()
    pairs = list(_whole(file, tally))
    if not pairs:
        raise InputError(f"{_told(file)} holds no pair with both sides: nothing can be scored")
    left_out = _left_out(tally, len(pairs))
    start = time.perf_counter()
    # The spinner is shown on terminals only.
    with Console(stderr=True).status(f"translating {len(pairs):,} pairs …"):
        scores = [asdict(score) for score in evaluate(translator, pairs, n_beams).scores]
    seconds = time.perf_counter() - start
    if as_json:
        facts: dict[str, Any] = {
            "n_pairs": len(pairs),
            "n_left_out": sum(found.count for found in left_out),
        }
        facts |= {"seconds": round(seconds, 3), "scores": scores}
        print(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    console = wide_console()
    console.print(Text(f"{folder} on {_told(file)}", style="bold"), soft_wrap=True)
    console.print(score_table(scores))
    told = describe_time(seconds)
    console.print(f"{len(pairs):,} pairs in {told}, {len(pairs) / seconds:,.1f} a second")
    for found in left_out:
        console.print(f"left out {found.count:,}: {found.meaning}, {found.where()}", soft_wrap=True)


def _whole(file: PairFile, tally: Tally) -> Iterator[Pair]:
    """All pairs with both sides, written in the way in which a model learns and answers."""
    for line, source, target in file.read(tally):
        pair = Pair(line, normalise(source), normalise(target))
        if pair.source and pair.target:
            yield pair
        else:
            tally.add("blank", line)


def _left_out(tally: Tally, n_pairs: int) -> tuple[Finding, ...]:
    """What was no pair, in the doctor's words."""
    counts = {kind: n for kind, n in tally.counts.items() if KINDS[kind][0] == "dropped"}
    return list_findings(KINDS, counts, tally.lines, n_pairs + sum(counts.values()))


def _told(file: PairFile) -> str:
    return " and ".join(map(str, file.paths))


def _show_scored(
    task: str,
    folder: Path,
    files: Sequence[Path],
    columns: tuple[str, str] | None,
    as_json: bool,
    wanted: dict[str, Any],
) -> None:
    """The scores of any task but translating, each beside its trivial baselines."""
    verbs = verbs_of(task)
    data = verbs.open_data(files, columns)
    start = time.perf_counter()
    with Console(stderr=True).status("scoring …"):  # on terminals only
        found = verbs.evaluate(folder, data, **wanted)
    seconds = time.perf_counter() - start
    scores = [asdict(score) for score in found.scores]
    if as_json:
        facts = {f"n_{found.unit}": found.n_examples, "seconds": round(seconds, 3)}
        print(
            json.dumps({**facts, "scores": scores, **found.details}, indent=2, ensure_ascii=False)
        )
        return
    console = wide_console()
    console.print(Text(f"{folder} on {' and '.join(map(str, files))}", style="bold"))
    console.print(score_table(scores))
    for line in found.lines:
        console.print(Text(line), soft_wrap=True)
    console.print(f"{found.n_examples:,} {found.unit} in {describe_time(seconds)}")


def _swapped(file: PairFile, card: dict[str, Any]) -> str | None:
    """Whether a file has the model's languages in the other order."""
    names = [language_of(name) for name in file.names]
    model = [language_of(str(name)) for name in card.get("languages") or ()]
    if names[0] == names[1] or names[::-1] != model:
        return None
    return (
        f"{_told(file)} is read as {' → '.join(names)} and the model translates "
        f"{' → '.join(model)}: the sides are swapped, say --columns {','.join(model)}"
    )
