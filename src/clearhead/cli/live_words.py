"""What a training run is told in: the plan, the samples and the scores, as lines of text.

What comes from data is always put into a `Text`, so that brackets in it are never read as markup.
"""

import shlex
import textwrap
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from clearhead.tasks.job import AnyPlan
from clearhead.tasks.plan import Forecast
from clearhead.tasks.scores import Score
from clearhead.text.amounts import describe_bytes, describe_time
from clearhead.training import Outcome

__all__ = ["crop", "next_lines", "plan_lines", "prose", "result_lines", "sample_lines"]

LABELS = {
    "tokenizer": ("kind of tokens", "{}"),
    "n_vocabulary": ("vocabulary", "{} tokens"),
    "n_batch_tokens": ("batch", "{} tokens at most"),
    "context": ("seen at once", "{} tokens"),
    "n_experts": ("experts", "{}"),
    "n_chosen": ("a token visits", "{} of them"),
    "balance": ("even use of experts", "counts {}"),
    "max_source": ("read of a text", "{} tokens at most"),
    "hidden": ("hidden tokens", "{} of all"),
    "has_whole_words": ("whole words hidden", "{}"),
    "model.image_size": ("pictures", "{0} × {0} pixels"),
    "model.patch_size": ("patches", "{0} × {0} pixels"),
    "model.patches": ("patches are made by", "{}"),
    "model.pooling": ("pooling", "{}"),
    "model.n_encoder_layers": ("encoder", "{} layers"),
    "model.n_decoder_layers": ("decoder", "{} layers"),
    "model.n_layers": ("depth", "{} layers"),
    "model.d_model": ("width", "{}"),
    "model.d_ff": ("feed-forward width", "{}"),
    "model.n_heads": ("attention", "{} heads"),
    "model.dropout": ("dropout", "{}"),
    "model.block.d_model": ("width", "{}"),
    "model.block.d_ff": ("feed-forward width", "{}"),
    "model.block.n_heads": ("attention", "{} heads"),
    "model.block.dropout": ("dropout", "{}"),
    "subword_dropout": ("merges left out", "{}"),
    "n_copies": ("each pair", "{} times"),
    "n_each_way": ("first models", "{} each way"),
    "n_first_steps": ("a first model", "{} steps"),
    "reading.n_window": ("a window", "{} tokens"),
    "reading.n_overlap": ("windows share", "{} tokens"),
    "reading.n_question": ("a question", "{} tokens at most"),
    "reading.n_longest": ("an answer", "{} tokens at most"),
    "reading.n_hints": ("words in common", "{} degrees"),
    "reading.has_refusals": ("may refuse", "{}"),
    "n_batch_pictures": ("batch", "{} pictures"),
    "changes.shift": ("moved at random", "by {} pixels at most"),
    "changes.mirrors": ("mirrored at random", "{}"),
    "changes.erase": ("partly wiped out", "{} of them"),
    "smoothing": ("label smoothing", "{}"),
    "is_lower_cased": ("small letters only", "{}"),
    "is_spelled": ("words share parts", "{}"),
    "word_dropout": ("hidden tokens", "{}"),
    "taught": ("taught by counting", "{} of the target"),
    "is_body_trained": ("given model learns", "{}"),
    "is_embedding_trained": ("its token vectors, too", "{}"),
    "training.n_steps": ("length", "{} steps at most"),
    "training.validate_every": ("validation", "every {} steps"),
    "n_validated": ("pairs answered for it", "{} at most"),
    "training.patience": ("stops early after", "{} validations without gain"),
    "training.lr": ("learning rate", "{} at most"),
    "training.warm_up": ("warm-up", "{} steps"),
    "training.schedule": ("then it falls", "{}"),
    "training.clip": ("gradient norm", "{} at most"),
    "training.optimizer": ("optimizer", "{}"),
    "training.weight_decay": ("weight decay", "{}"),
    "training.n_accumulated": ("batches in a step", "{}"),
    "training.dropout_rise": ("dropout grows over", "{} steps"),
    "training.average": ("averaging of weights", "{}"),
    "training.precision": ("precision", "{}"),
    "training.seed": ("seed", "{}"),
}
"""Setting → what it is called in the plan, and how its value is said."""
GROUPS = {
    "data": (
        "tokenizer",
        "n_vocabulary",
        "is_lower_cased",
        "is_spelled",
        "context",
        "max_source",
        "n_batch_tokens",
        "subword_dropout",
        "n_copies",
        "word_dropout",
        *(key for key in LABELS if key.startswith("reading.")),
        "hidden",
        "has_whole_words",
        "n_batch_pictures",
        "changes.shift",
        "changes.mirrors",
        "changes.erase",
    ),
    "model": (
        *(key for key in LABELS if key.startswith("model.")),
        "n_experts",
        "n_chosen",
        "balance",
    ),
    "training": (
        "n_each_way",
        "n_first_steps",
        "smoothing",
        "taught",
        "is_body_trained",
        "is_embedding_trained",
        *(key for key in LABELS if key == "n_validated" or key.startswith("training.")),
    ),
}
PARTS = ("source", "reference", "answer")
STYLES = {"source": "", "reference": "dim", "answer": "cyan"}
N_SHORT = 50
N_MARKS = 3
"""How many marks without width a letter may carry: a dot below, a vowel and a nasal, say."""


def prose(text: str, width: int | None, indent: str = "", style: str = "") -> list[Text]:
    """Write a sentence in lines of at most `width`, or in one; the first begins with `indent`."""
    if width is None:
        return [Text(f"{indent}{text.rstrip()}", style=style)]
    lines = textwrap.wrap(
        text,
        max(20, width),
        initial_indent=indent,
        subsequent_indent=" " * len(indent),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [Text(line, style=style) for line in lines]


def plan_lines(plan: AnyPlan, forecast: Forecast, width: int | None = None) -> list[Text]:
    """Say what is trained, on what, for how long, and why; each setting with its key."""
    settings = dict(_flatten(plan.to_dict()))
    facts = {
        "data": [
            (f"training {forecast.unit}", f"{forecast.n_pairs:,}", ""),
            ("epoch", f"{forecast.n_batches:,} batches", ""),
            ("padding", f"{forecast.padding:.1%} of the batches", ""),
        ],
        "model": [("parameters", f"{forecast.n_parameters:,}", "(--size)")],
        "training": [("epochs", f"{forecast.n_epochs:.1f} at most", "")],
    }
    rows: list[tuple[str, str, str]] = []
    for group, keys in GROUPS.items():
        rows.append((group, "", "" if rows else "change it with --set"))
        rows += facts[group]
        others = [key for key in settings if key not in LABELS and key.startswith(f"{group}.")]
        known = [key for key in keys if key in settings]
        for key in (*known, *(others if group == "training" else ())):
            label, template = LABELS.get(key, (key.rpartition(".")[2], "{}"))
            is_left_out = key in ("n_each_way", "n_first_steps") and not settings["n_first_steps"]
            said = "none" if is_left_out else template.format(_write(settings[key]))
            rows.append((label, said, key))
    rows += [
        ("expected", "", ""),
        ("time", f"about {describe_time(forecast.seconds)}", "(--time)"),
        ("speed", f"{forecast.tokens_per_second:,.0f} {forecast.counted}/s", ""),
    ]
    if forecast.n_bytes:  # not every system tells it
        rows.append(("memory", f"at most {describe_bytes(forecast.n_bytes)}", ""))
    lines = [Text(), Text("The plan", style="bold"), *(_row(*row) for row in rows)]
    if forecast.reasons:
        lines.append(Text("  why", style="bold"))
        for reason in forecast.reasons:
            lines += prose(reason, width, "    · ")
    return lines


def sample_lines(
    samples: Sequence[dict[str, str]], width: int | None = None, indent: int = 2
) -> list[Text]:
    """Write source, reference and answer below each other; `width` is for one line of each."""
    lines = []
    for number, sample in enumerate(samples):
        if number:
            lines.append(Text())
        for part in PARTS:
            label = f"{'':{indent}}{part:<11}"
            text = _one_line(sample[part])
            if width is not None:
                text = crop(text, width - len(label))
            lines.append(Text.assemble((label, "dim"), (text, STYLES[part])))
    return lines


def crop(text: str, width: int) -> str:
    """Shorten text to at most `width` cells of any terminal.

    Terminals differ on the width of marks such as the Hindi vowel sign ा. A line that is wider than
    it seems would break the display below it.

    >>> crop("How are you?", 8), crop("नमस्ते दुनिया", 7)
    ('How are…', 'नमस्ते दु…')
    """
    n_cells = list(accumulate(_widths(text), initial=0))
    if n_cells[-1] <= width:
        return text
    end = max(0, bisect_right(n_cells, width - 1) - 1)
    for _ in range(N_MARKS + 1):  # a mark stays with its letter
        end -= bool(end) and unicodedata.category(text[end])[0] == "M"
    return text[:end].rstrip() + "…" if width > 0 else ""


def result_lines(
    scores: Sequence[Score],
    outcome: Outcome,
    folder: Path,
    report: Path,
    width: int | None = None,
) -> list[Text]:
    """Say how good the model is, and where it is."""
    lines = [Text(), Text("Scores on what was held out for the test", style="bold")]
    n_name = max((len(score.name) for score in scores), default=0)
    n_signature = max((len(score.signature) for score in scores), default=0)
    is_wide = width is None or n_name + n_signature + 12 <= width
    for score in scores:
        lines.append(Text.assemble(f"  {score.name:<{n_name}}  ", (f"{score.value:6.2f}", "bold")))
        if is_wide:
            lines[-1].append(f"  {score.signature}", style="dim")
        else:
            lines.append(Text(f"    {score.signature}", style="dim"))
    lines += prose(
        f"trained for {describe_time(outcome.seconds)}; the best validation score was "
        f"{outcome.best_score:.2f}, and its weights, of step {outcome.best_step:,}, are kept",
        width,
    )
    lines += [
        Text(),
        Text.assemble(("model   ", "bold"), str(folder)),
        Text.assemble(("report  ", "bold"), str(report)),
    ]
    return lines


def next_lines(
    folder: Path, samples: Sequence[dict[str, str]] = (), counted: str = "tokens"
) -> list[Text]:
    """Name commands to try with a model; the first one has a sentence of its own if it can."""
    name = shlex.quote(str(folder))
    example = "picture.png" if counted == "pictures" else _example(samples)
    commands = (f"run {name} {example}", f"evaluate {name} FILE", f"show {name}")
    return [
        Text(),
        Text("Try next", style="bold"),
        *(Text(f"  clearhead {command}", style="cyan") for command in commands),
    ]


def _flatten(data: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in data.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{before}{name}.")
        else:
            yield before + name, value


def _row(label: str, value: str, key: str) -> Text:
    if value:
        row = Text.assemble(f"    {label:<20}  ", (f"{value:<28}  ", "cyan"), (key, "dim"))
    else:
        row = Text.assemble((f"  {label:<52}  ", "bold"), (key, "dim italic"))
    row.rstrip()
    return row


def _write(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _widths(text: str) -> Iterator[int]:
    """How many cells each character takes at most.

    Marks without width are believed to have none when there are only some of them after a letter;
    a model that has learned little writes many in a row.
    """
    n_free = 0
    for character in text:
        kind = unicodedata.category(character)
        if kind in ("Mn", "Me"):
            yield 0 if n_free else 1
            n_free = max(0, n_free - 1)
        else:
            yield max(1, cell_len(character))
            if kind != "Mc":
                n_free = N_MARKS if kind[0] == "L" else 0


def _one_line(text: str) -> str:
    """Leave out what could move the cursor."""
    return "".join(
        " " if unicodedata.category(character) in ("Cc", "Zl", "Zp") else character
        for character in text
    )


def _example(samples: Sequence[dict[str, str]]) -> str:
    """A short sentence to try the model with, quoted for a shell."""
    sources = sorted((_one_line(sample["source"]) for sample in samples), key=len)
    if not sources or len(sources[0]) > N_SHORT or set(sources[0]) & set('"$`\\!'):
        return '"…"'
    return f'"{sources[0]}"'
