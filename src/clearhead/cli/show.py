"""`clearhead show`: the card of a model, readable: what it learned from, how, and how well."""

import json
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from clearhead.engine.library import find_library
from clearhead.engine.memory import recall
from clearhead.errors import InputError
from clearhead.tasks.folder import check_whole
from clearhead.text.amounts import describe_bytes, describe_time

__all__ = ["score_table", "show_card", "wide_console"]

N_WIDE = 120
COPY = "copying"  # in the name of the score that needs no model


def show_card(folder: Path, as_json: bool = False) -> None:
    """Print the card of a model folder; torch is not needed for it."""
    card = _read(folder, "card.json")
    if as_json:
        print(json.dumps(card, indent=2, ensure_ascii=False))
        return
    console = wide_console()
    title = Text(str(folder), style="bold")
    title.append(f" · {_languages(card)}{card.get('task', 'a model')}", style="not bold")
    console.print(title, soft_wrap=True)
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, lines in _rows(folder, card, _read(folder, "config.json")):
        grid.add_row(label, Text("\n".join(lines)))
    console.print(grid)
    scores = [score for score in _list(card, "scores") if isinstance(score, dict)]
    if scores:
        console.print(score_table(scores))
    else:
        console.print("no scores: `clearhead evaluate` computes them on a file of examples")
    console.print(Text(f"try: {_example(folder, card)}"), soft_wrap=True)


def score_table(scores: Sequence[Mapping[str, Any]]) -> Table:
    """Scores with their signatures; what copying the source would score is dim."""
    table = Table("score", "value", "signature", box=box.SIMPLE)
    table.columns[1].justify = "right"
    table.columns[2].overflow = "fold"
    for score in scores:
        name, value = str(score.get("name", "?")), _number(score, "value")
        told = "?" if value is None else f"{value:.{1 if 'chrF' in name else 2}f}"
        style = "dim" if COPY in name else None
        table.add_row(Text(name), told, Text(str(score.get("signature", ""))), style=style)
    return table


def wide_console() -> Console:
    """Standard output; in a file, where nothing has to fit, no row of a table is broken."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, N_WIDE)
    return console


def _read(folder: Path, name: str) -> dict[str, Any]:
    """One of the two JSON files; what is no model folder is refused as when a model is loaded."""
    check_whole(folder)
    path = folder / name
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise InputError(f"{path} holds {type(data).__name__}, not an object with fields")
    return data


def _part(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A group of the card; one that is missing, as in older cards, is empty."""
    part = data.get(name)
    return part if isinstance(part, dict) else {}


def _list(data: Mapping[str, Any], name: str) -> list[Any]:
    part = data.get(name)
    return part if isinstance(part, list) else []


def _number(data: Mapping[str, Any], name: str) -> float | None:
    value = data.get(name)
    return value if isinstance(value, int | float) and math.isfinite(value) else None


def _say(data: Mapping[str, Any], template: str, *names: str) -> Iterator[str]:
    """Fill numbers into a template; nothing is said when one of them is missing."""
    numbers = [_number(data, name) for name in names]
    if None not in numbers:
        yield template.format(*numbers)


def _languages(card: Mapping[str, Any]) -> str:
    names = _list(card, "languages")
    return " → ".join(map(str, names)) + ", " if names else ""


def _rows(
    folder: Path, card: dict[str, Any], config: dict[str, Any]
) -> Iterator[tuple[str, list[str]]]:
    """Label and lines of everything the card tells but the scores."""
    data, training, forecast = (_part(card, name) for name in ("data", "training", "forecast"))
    held_out = _part(card, "held_out")
    unit = f" {held_out['unit']}" if isinstance(held_out.get("unit"), str) else ""
    parts = {
        "model": [*_say(card, "{:,} parameters", "n_parameters"), *_shape(config)],
        "data": [*map(str, _list(data, "paths")), *_counts(data), *_findings(data)],
        "held out": [
            f"{n:,}{unit} for {side}" for side, n in held_out.items() if isinstance(n, int)
        ],
        "plan": _settings(card),
        "because": [str(reason) for reason in _list(forecast, "reasons")],
        "training": [*_ending(training), *_times(training, forecast)],
        "aligns": list(_aligning(_part(card, "aligner"))),
        "on disk": list(_sizes(folder)),
        "decodes": [_decoding(config)] if "image_size" not in config else [],
    }
    for label, lines in parts.items():
        if lines:
            yield label, lines


def _shape(config: dict[str, Any]) -> Iterator[str]:
    block = _part(config, "block") or config
    layers = list(_say(config, "{} + {} layers", "n_encoder_layers", "n_decoder_layers"))
    layers += _say(config, "{} layers", "n_layers")
    sizes = [
        *_say(block, "{} wide", "d_model"),
        *_say(block, "{} heads", "n_heads"),
        *_say(block, "feed-forward {}", "d_ff"),
        *_say(block, "dropout {:g}", "dropout"),
    ]
    if layers or sizes:
        yield ", ".join([*layers, *sizes])
    yield from _say(config, "pictures of {0} × {0} pixels", "image_size")
    yield from _say(config, "patches of {0} × {0} pixels", "patch_size")
    yield from _say(config, "vocabulary of {:,} tokens", "n_source_tokens")
    yield from _say(config, "vocabulary of {:,} tokens", "n_tokens")


def _counts(data: dict[str, Any]) -> Iterator[str]:
    unit = data.get("unit", "files" if "n_characters" in data else "pairs")
    told = f"{{:,}} {unit} read, {{:,}} kept, {{:,}} dropped"
    yield from _say(data, told, "n_read", "n_kept", "n_dropped")
    yield from _say(data, "{:,} characters in {:,} lines", "n_characters", "n_lines")


def _findings(data: dict[str, Any]) -> Iterator[str]:
    """Why pairs were dropped, and what was only noted."""
    for found in _list(data, "findings"):
        if isinstance(found, dict):
            meaning = found.get("meaning", found.get("kind", "?"))
            counted = next(_say(found, "{:,}", "count"), "some")
            yield f"  {found.get('effect', 'dropped')} {counted}: {meaning}"


def _settings(card: dict[str, Any]) -> list[str]:
    """The plan, one group of settings to a line; the model's own shape is told elsewhere."""
    groups: dict[str, list[str]] = {}

    def collect(values: Mapping[str, Any], group: str) -> None:
        for name, value in values.items():
            if isinstance(value, dict):
                collect(value, f"{group}{name}.")
            else:
                told = f"{value:g}" if isinstance(value, float) else str(value)
                groups.setdefault(group, []).append(f"{name}={told}")

    collect({name: part for name, part in _part(card, "plan").items() if name != "model"}, "")
    return [
        f"{group.rstrip('.')}: " * bool(group) + " ".join(told) for group, told in groups.items()
    ]


def _aligning(aligner: dict[str, Any]) -> Iterator[str]:
    """The head whose attention says which words belong together."""
    told = "head {} of block {} reads the word that belongs there for {:.0%} of {:,} words"
    yield from _say(aligner, told, "head", "block", "agreement", "n_links")


def _ending(training: dict[str, Any]) -> Iterator[str]:
    if "reason" in training:
        yield f"ended: {training['reason']}"
    yield from _say(training, "{:,} steps", "step")
    yield from _say(
        training, "best at step {:,}, with a score of {:.2f}", "best_step", "best_score"
    )


def _times(training: dict[str, Any], forecast: dict[str, Any]) -> Iterator[str]:
    """How long it took, and how long the plan had expected."""
    real, expected = _number(training, "seconds"), _number(forecast, "seconds")
    times = [f"took {describe_time(real)}"] if real is not None else []
    if expected is not None:
        times.append(f"{describe_time(expected)} were expected for the whole plan")
    if times:
        yield "; ".join(times)


def _sizes(folder: Path) -> Iterator[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    sizes = {path: path.stat().st_size for path in files}
    of_run = sum(n for path, n in sizes.items() if path.is_relative_to(folder / "training"))
    yield f"{describe_bytes(sum(sizes.values()) - of_run)} for the model"
    if of_run:
        yield f"{describe_bytes(of_run)} in training/, which only training needs"
    if (folder / "report.html").is_file():
        yield "report.html shows the curves and samples of the training"


def _decoding(config: dict[str, Any]) -> str:
    """In which precision and with how many threads it runs here."""
    library = find_library()
    if library is None:
        return "in float32, by torch: this installation has no native engine"
    try:
        choice = recall(config, library.ch_kernels(b"").decode())
    except (KeyError, TypeError):  # a configuration that is not whole
        choice = None
    return str(choice or "not tried on this machine yet: the first `clearhead run` does that")


def _example(folder: Path, card: dict[str, Any]) -> str:
    if card.get("task") == "images":
        return f"clearhead run {shlex.quote(str(folder))} picture.png"
    if card.get("task", "translate") not in ("translate", "summarise"):
        return f'clearhead run {shlex.quote(str(folder))} "…"'
    names = [str(name) for name in _list(card, "languages")]
    source, target = names if len(names) == 2 and names[0] != names[1] else ("in", "out")
    return f"clearhead run {shlex.quote(str(folder))} < text.{source} > text.{target}"
