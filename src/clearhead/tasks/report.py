"""The report: one HTML file that shows how a model was trained and how good it became.

It needs no network and no script. Texts that come from data are escaped, and each is set apart
(`bdi`), so that neither markup nor right-to-left letters in them can change the page.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import Any

from clearhead.tasks.charts import Curve, Point, draw_curves, is_number, numbers, trend
from clearhead.tasks.evaluate import Sample
from clearhead.tasks.markup import (
    UNKNOWN,
    escaped,
    isolate,
    language_code,
    pairs,
    say_count,
    say_number,
    say_share,
    table,
)
from clearhead.tasks.samples import show_samples
from clearhead.text.amounts import describe_time
from clearhead.training.checkpoint import write_bytes

__all__ = ["Sample", "write_report"]

N_SKIPPED = 20
TITLES = {
    "translate": "Translator", "generate": "Continuing texts", "classify": "Classifier",
    "summarise": "Summariser", "answer": "Answering questions", "fill": "Filling gaps",
    "images": "Picture classifier",
}  # fmt: skip
"""Task → what such a model is called."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
COPYING = " of copying the source"
_DATA_TEXTS = (("files", "paths"), ("assumed", "assumed"), ("not fit because", "fatal"))


def write_report(
    path: Path,
    card: dict[str, Any],
    journal: list[dict[str, Any]],
    samples: Sequence[Sample],
    more: Mapping[str, str] | None = None,
) -> None:
    """Write the page, whole or not at all; what the card does not tell is left out.

    `more` are sections of the task's own, heading → safe HTML; they follow the scores.
    """
    languages = _items(card, "languages")
    source, target, *_ = *(language_code(name) for name in languages), "", ""
    sections = {
        "Scores": _scores(card),
        **(more or {}),
        "Curves": _curves(card, journal),
        "Samples": show_samples(samples, (source, target)),
        "Data": _data(card),
        "Plan and forecast": _plan(card, journal),
        "How it ended": _ending(card, journal),
    }
    body = "".join(f"<section>\n<h2>{h}</h2>\n{s}\n</section>\n" for h, s in sections.items() if s)
    kind = TITLES.get(str(card.get("task")), "Translator")
    title = escaped(f"{kind} {' → '.join(map(str, languages))}".strip())
    heading = " → ".join(isolate(name) for name in languages)
    style = files("clearhead.tasks").joinpath("report.css").read_text(encoding="utf-8")
    page = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<header>
<h1><span>{kind}</span> {heading}</h1>
{_verdict(card)}
</header>
<main>
{body}</main>
</body>
</html>
"""
    write_bytes(path, page.encode())


def _verdict(card: dict[str, Any]) -> str:
    """How good, and from how much, in one sentence."""
    known = {name: value for name, value, _ in _known_scores(card)}
    told = [name for name in ("BLEU", "chrF") if name in known] or list(known)[:1]
    result = " and ".join(f"<b>{_digits(known[name])}</b> {escaped(name)}" for name in told)
    n_test = _part(card, "held_out").get("test")
    if result and is_number(n_test):
        unit = _part(card, "held_out").get("unit", _unit(card))
        result += f" on {n_test:,} {escaped(str(unit))} that were held out"
    effort = []
    if is_number(n_parameters := card.get("n_parameters")):
        effort.append(f"<b>{say_count(n_parameters)}</b> parameters")
    n_pairs, seconds = _n_trained(card), _part(card, "training").get("seconds")
    trained = f" on <b>{n_pairs:,}</b> {_unit(card)}" if n_pairs is not None else ""
    trained += f" in <b>{describe_time(seconds)}</b>" if is_number(seconds) else ""
    if trained:
        effort.append(f"trained{trained}")
    sentence = ": ".join(part for part in (result, ", ".join(effort)) if part)
    sentence = sentence[:1].upper() + sentence[1:]
    return f'<p class="verdict">{sentence}.</p>' if sentence else ""


def _scores(card: dict[str, Any]) -> str:
    """Each score with its recipe, and what copying the source would reach."""
    scores = _known_scores(card)
    recipes = {(name, signature): value for name, value, signature in scores}
    copied = {}
    for (name, signature), value in recipes.items():
        of = name.removesuffix(COPYING), signature
        if name.endswith(COPYING) and of in recipes:
            copied[of] = value
    rows = [
        (
            isolate(name),
            f"<b>{value:.2f}</b>",
            say_number(copied.get((name, signature)), 2),
            f"<code>{isolate(signature).replace('|', '|<wbr>')}</code>",
        )
        for (name, signature), value in recipes.items()
        if (name.removesuffix(COPYING), signature) not in copied or (name, signature) in copied
    ]
    if not rows:
        return ""
    if not copied:  # baselines have rows of their own
        return table(("score", "#value", "how"), [(row[0], row[1], row[3]) for row in rows])
    text = table(("score", "#value", "#copying the source", "signature"), rows)
    if any(recipes[recipe] <= value for recipe, value in copied.items()):
        text += '<p class="warning">Copying the source scores as high as this translator.</p>'
    return text


def _curves(card: dict[str, Any], journal: list[dict[str, Any]]) -> str:
    """What the journal tells, over the steps."""
    steps = [line for line in journal if line.get("kind") == "step"]
    validations = [line for line in journal if line.get("kind") == "validation"]
    if not steps and not validations:
        return ""
    best = _part(card, "training").get("best_step")
    about: dict[str, Any] = {
        "last_step": max((x for x, _ in numbers(journal, "step")), default=0),
        "best_step": best if is_number(best) else None,
    }
    counted = _unit(card, "counted", "tokens")
    loss, validation_loss = numbers(steps, "loss"), numbers(validations, "loss")
    speeds = numbers(steps, "tokens_per_second")
    figures = [
        draw_curves(
            "Loss",
            [Curve("training", loss, "noisy"), Curve("validation", validation_loss, "measured")],
            unit=f"nats per {_unit(card, 'guessed', 'token')}",
            is_log=True,
            notes=_loss_notes(loss, validation_loss, len(steps) + len(validations)),
            **about,
        ),
        _score_curve(validations, about),
        draw_curves(
            "Learning rate",
            [Curve("rate", numbers(steps, "rate"))],
            unit="of each step",
            from_zero=True,
            **about,
        ),
        draw_curves(
            "Speed",
            [Curve("training", speeds, "noisy")],
            unit=f"{counted} per second",
            from_zero=True,
            notes=[f"Median: {median(y for _, y in speeds):,.0f}."] if speeds else [],
            **about,
        ),
    ]
    return f'<div class="charts">{"".join(figures)}</div>'


def _loss_notes(training: list[Point], validation: list[Point], n_lines: int) -> Iterator[str]:
    if training:
        line = trend(training).line
        yield f"Training: from {line[0][1]:.2f} to {line[-1][1]:.2f}."
    if validation:
        lowest = min(validation, key=lambda point: point[1])
        yield f"Validation: lowest at step {lowest[0]:,.0f}, {lowest[1]:.2f}."
    if (n_left_out := n_lines - len(training) - len(validation)) > 0:
        yield f"Left out because they are not finite: {n_left_out:,}."


def _score_curve(validations: list[dict[str, Any]], about: dict[str, Any]) -> str:
    """The score by which the best weights are chosen: BLEU, or what the task names."""
    measure = next((str(line["measure"]) for line in validations if "measure" in line), "BLEU")
    if measure == "BLEU":
        points, unit = numbers(validations, "bleu"), "0 to 100, on validation pairs"
    else:  # what should be small is scored with its sign changed
        points = [(step, abs(value)) for step, value in numbers(validations, "score")]
        unit = "on what is held out for validation"
    is_small_good = any(value < 0 for _, value in numbers(validations, "score"))
    best = min if is_small_good else max
    notes = []
    if points:
        step, value = best(points, key=lambda point: point[1])
        notes = [f"{'Lowest' if is_small_good else 'Highest'}: {value:.2f} at step {step:,.0f}."]
    return draw_curves(
        measure[:1].upper() + measure[1:],
        [Curve("validation", points, "measured")],
        unit=unit,
        from_zero=True,
        notes=notes,
        **about,
    )


def _data(card: dict[str, Any]) -> str:
    """What the doctor read, assumed, found and dropped; and what was held out."""
    data = _part(card, "data")
    rows = [(name, "<br>".join(map(isolate, _items(data, key)))) for name, key in _DATA_TEXTS]
    n_read, n_dropped = data.get("n_read"), data.get("n_dropped")
    kept = escaped(str(data.get("unit") or _unit(card)))
    rows.append(("entries read", say_number(n_read)))
    if is_number(n_read) and is_number(n_dropped) and n_read > 0:
        rows.append(("dropped", f"{n_dropped:,} ({say_share(n_dropped / n_read)})"))
    rows.append((f"{kept} kept", say_number(data.get("n_kept"))))
    rows.append(("different sources", say_number(data.get("n_sources"))))
    lengths = [say_number(length) for length in _items(data, "mean_lengths")]
    rows.append(("mean length", " → ".join(lengths) + " characters" if lengths else ""))
    scripts = [isolate(script) for script in _items(data, "scripts") if script]
    rows.append(("scripts", " → ".join(scripts)))
    for side, n in _part(card, "held_out").items():
        if side == "unit":
            continue
        rows.append((f"held out for {escaped(side)}", say_number(n)))
    rows.append((f"{_unit(card)} trained on", say_number(_n_trained(card))))
    fingerprint = data.get("fingerprint")
    rows.append(("fingerprint", f"<code>{isolate(fingerprint)}</code>" if fingerprint else ""))
    told = [(name, value) for name, value in rows if value not in ("", UNKNOWN)]
    text = f'<dl class="facts">{pairs(told)}</dl>\n' if told else ""
    findings = [_finding(each) for each in _items(data, "findings") if isinstance(each, Mapping)]
    if findings:
        text += "<h3>What the doctor found</h3>\n"
        text += table(("found", f"#{kept}", "#share", "done", "where first"), findings)
    elif "findings" in data:
        text += "<p>The doctor found nothing wrong.</p>"
    return text


def _finding(found: Mapping[str, Any]) -> tuple[str, ...]:
    places, count = _items(found, "places"), found.get("count")
    more = " …" if is_number(count) and count > len(places) and places else ""
    return (
        isolate(found.get("meaning", found.get("kind", "?"))),
        say_number(count),
        say_share(found.get("share")),
        isolate(found.get("effect", "")),
        isolate(", ".join(map(str, places))) + more,
    )


def _plan(card: dict[str, Any], journal: list[dict[str, Any]]) -> str:
    """The forecast beside what came of it, the reasons, and every setting."""
    forecast, plan = _part(card, "forecast"), _part(card, "plan")
    rows = [row for row in _compared(card, forecast, journal) if row[1] != UNKNOWN]
    text = table(("", "#forecast", "#in fact"), rows) if rows else ""
    if reasons := _items(forecast, "reasons"):
        text += "<h3>Why this plan</h3>\n<ul>"
        text += "".join(f"<li>{isolate(reason)}</li>" for reason in reasons) + "</ul>"
    if settings := list(_settings(plan)):
        text += '<h3>Every setting</h3>\n<dl class="settings">'
        for name, value in settings:
            text += f"<div><dt>{escaped(name)}</dt><dd>{isolate(value)}</dd></div>"
        text += "</dl>"
    return text


def _compared(
    card: dict[str, Any], forecast: dict[str, Any], journal: list[dict[str, Any]]
) -> Iterator[tuple[str, str, str]]:
    """(what, forecast, in fact); a dash stands for what is not known."""
    training, plan = _part(card, "training"), _part(card, "plan")
    schedule = _part(plan, "training")
    step, seconds = training.get("step"), training.get("seconds")
    yield "time", _time(forecast.get("seconds")), _time(seconds)
    if forecast:
        yield "steps", say_number(schedule.get("n_steps")), say_number(step)
    n_batches, n_accumulated = forecast.get("n_batches"), schedule.get("n_accumulated", 1)
    n_epochs = None
    if is_number(n_batches) and is_number(step) and is_number(n_accumulated) and n_batches > 0:
        n_epochs = step * n_accumulated / n_batches
    planned = say_number(forecast.get("n_epochs"), 1)
    yield "passes through the data", planned, say_number(n_epochs, 1)
    speeds = [y for _, y in numbers(journal, "tokens_per_second")]
    probed, real = forecast.get("tokens_per_second"), median(speeds) if speeds else None
    yield f"{_unit(card, 'counted', 'tokens')} per second", say_number(probed), say_number(real)
    n_parameters = card.get("n_parameters")
    yield "parameters", say_number(forecast.get("n_parameters")), say_number(n_parameters)
    n_bytes, padding = forecast.get("n_bytes"), forecast.get("padding")
    yield "memory", f"{n_bytes / 1e9:.1f} GB" if is_number(n_bytes) else UNKNOWN, UNKNOWN
    yield "padding in the batches", say_share(padding), UNKNOWN


def _settings(values: Mapping[str, Any], group: str = "") -> Iterator[tuple[str, str]]:
    """Every setting under the name by which `--set` reaches it.

    >>> dict(_settings({"size": "tiny", "training": {"lr": 0.001, "average": None}}))
    {'size': 'tiny', 'training.lr': '0.001', 'training.average': 'null'}
    """
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _settings(value, f"{group}{name}.")
        else:
            told = (
                value
                if isinstance(value, str)
                else json.dumps(value, ensure_ascii=False, default=str)
            )
            yield f"{group}{name}", told


def _ending(card: dict[str, Any], journal: list[dict[str, Any]]) -> str:
    """Why training ended, which weights are kept, and the steps that were left out."""
    training = _part(card, "training")
    ends = [line for line in journal if line.get("kind") == "end"]
    reason = training.get("reason", ends[-1].get("reason") if ends else None)
    sentences = []
    if reason is not None:
        where = training.get("step", ends[-1].get("step") if ends else None)
        at = f" at step {where:,}" if is_number(where) else ""
        sentences.append(f"Training ended{at}: {isolate(reason)}.")
    best, score = training.get("best_step"), training.get("best_score")
    if is_number(best) and best > 0:
        with_score = f", with a validation score of {score:.2f}" if is_number(score) else ""
        sentences.append(f"The model holds the weights of step {best:,}{with_score}.")
    text = "".join(f"<p>{sentence}</p>" for sentence in sentences)
    skipped = [line for line in journal if line.get("kind") == "skipped"]
    if skipped:
        were = "step was" if len(skipped) == 1 else "steps were"
        first = f" The first {N_SKIPPED}:" if len(skipped) > N_SKIPPED else ""
        text += (
            f'<p class="warning">{len(skipped):,} {were} left out, because the numbers were not '
            f"finite.{first}</p>"
        )
        rows = [
            tuple(escaped(str(line.get(name, UNKNOWN))) for name in ("step", "loss", "norm"))
            for line in skipped[:N_SKIPPED]
        ]
        text += table(("#step", "#summed loss", "#gradient norm"), rows)
    return text


def _part(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A group of the card; one that is missing is empty."""
    part = data.get(name)
    return part if isinstance(part, dict) else {}


def _items(data: Mapping[str, Any], name: str) -> list[Any]:
    items = data.get(name)
    return list(items) if isinstance(items, list | tuple) else []


def _known_scores(card: dict[str, Any]) -> list[tuple[str, float, str]]:
    return [
        (str(score.get("name", "?")), score["value"], str(score.get("signature", "")))
        for score in _items(card, "scores")
        if isinstance(score, Mapping) and is_number(score.get("value"))
    ]


def _unit(card: dict[str, Any], name: str = "unit", usual: str = "pairs") -> str:
    """What the examples are called, or what is counted of them."""
    return escaped(str(_part(card, "forecast").get(name, usual)))


def _digits(value: float) -> str:
    """A score with as many digits as are of use."""
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _n_trained(card: dict[str, Any]) -> int | None:
    """How many examples were trained on."""
    if isinstance(n := _part(card, "forecast").get("n_pairs"), int):
        return n
    n_kept = _part(card, "data").get("n_kept")
    held_out = [n for n in _part(card, "held_out").values() if isinstance(n, int)]
    return n_kept - sum(held_out) if isinstance(n_kept, int) else None


def _time(seconds: Any) -> str:
    return describe_time(seconds) if is_number(seconds) else UNKNOWN
