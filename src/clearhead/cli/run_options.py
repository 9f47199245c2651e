"""The options of `clearhead run`: how answers are chosen, what they must hold, how they are shown.

The names of most are the settings of a translator. What is not given is not passed on, so that the
defaults are those of Python's `translator(text)`.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar, get_args

import click

from clearhead.engine.memory import Wanted

__all__ = [
    "PRECISION",
    "choosing_options",
    "refuse_contradictions",
    "refuse_idle_settings",
    "refuse_writing",
    "run_options",
]

Verb = TypeVar("Verb", bound=Callable[..., Any])

_COUNT = click.IntRange(min=1)

PRECISION: Final = click.option(
    "--precision",
    type=click.Choice(get_args(Wanted)),
    default="auto",
    show_default=True,
    help="The numbers to compute with; auto takes what is fastest here.",
)

_CHOOSING: Final = (
    click.option(
        "--temperature",
        metavar="X",
        type=click.FloatRange(min=0),
        help="Draw words at random, as probable as the model says at 1; bolder above, tamer below.",
    ),
    click.option("--top-k", metavar="N", type=_COUNT, help="Draw from the N most probable tokens."),
    click.option(
        "--top-p",
        metavar="X",
        type=click.FloatRange(0, 1, min_open=True),
        help="Draw from the fewest tokens whose probabilities add up to X.",
    ),
    click.option(
        "--min-p",
        metavar="X",
        type=click.FloatRange(0, 1, max_open=True),
        help="Draw from tokens at least X times as probable as the most probable one.",
    ),
    click.option(
        "--seed",
        metavar="N",
        type=click.IntRange(min=0),
        help="Draw something else; the same seed draws the same.",
    ),
    click.option(
        "--repetition-penalty",
        metavar="X",
        type=click.FloatRange(0, min_open=True),
        help="Above 1, avoid tokens that were written already.",
    ),
    click.option(
        "--no-repeat", metavar="N", type=_COUNT, help="Write no sequence of N tokens twice."
    ),
)

_OPTIONS: Final = (
    click.option(
        "--beams",
        "n_beams",
        metavar="N",
        type=click.IntRange(1, 100),
        help="Follow so many beginnings at once; 1 is greedy.  [default: 5, or 1 for --stream]",
    ),
    click.option(
        "--n-best",
        metavar="N",
        type=_COUNT,
        help="Print so many answers to each line: rank, score and text, with tabs between them.",
    ),
    *_CHOOSING,
    click.option(
        "--max-length",
        metavar="N",
        type=_COUNT,
        help="Cut the answer to a sentence at N tokens.  [default: by the length of the source]",
    ),
    click.option(
        "--glossary",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Terms and their translations, TSV or CSV, which the answers must use.",
    ),
    click.option(
        "--forbid",
        "forbidden",
        metavar="TEXT",
        multiple=True,
        help="A text that may not appear; can be repeated.",
    ),
    click.option(
        "--stop",
        metavar="TEXT",
        multiple=True,
        help="A text before which an answer ends; can be repeated.",
    ),
    click.option("--prefix", metavar="TEXT", help="How each answer begins."),
    click.option("--flags", is_flag=True, help="Tell of each doubtful answer, on standard error."),
    click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each line."),
    click.option("--alignment", is_flag=True, help="With --json: which source token is read most."),
    click.option("--stream", is_flag=True, help="Write each answer as it comes, word by word."),
    PRECISION,
)


def run_options(verb: Verb) -> Verb:
    """Give a verb all these options."""
    return _with(_OPTIONS, verb)


def choosing_options(verb: Verb) -> Verb:
    """Give a verb those that say how the next token is chosen."""
    return _with(_CHOOSING, verb)


def _with(options: Sequence[Callable[[Verb], Verb]], verb: Verb) -> Verb:
    for option in reversed(options):
        verb = option(verb)
    return verb


def refuse_idle_settings(options: Mapping[str, Any]) -> bool:
    """Refuse settings of drawing without drawing, and beams with it; return whether to draw."""
    draws = bool(options["temperature"])
    for name in ("top_k", "top_p", "min_p", "seed"):
        if options[name] is not None and not draws:
            raise click.UsageError(f"{_told(name)} is for drawing at random: give --temperature")
    if draws and (options["n_beams"] or 1) > 1:
        raise click.UsageError("--beams searches and --temperature draws: give one of them")
    return draws


def refuse_contradictions(options: Mapping[str, Any]) -> None:
    """Refuse options that do not fit together, before a model is loaded."""
    draws = refuse_idle_settings(options)
    if draws and options["glossary"]:
        raise click.UsageError("--glossary needs a search with beams: leave out --temperature")
    if options["alignment"] and not options["as_json"]:
        raise click.UsageError("--alignment is shown in JSON: give --json")
    if options["stream"]:
        for name in ("as_json", "n_best", "glossary"):
            if options[name]:
                raise click.UsageError(
                    f"--stream writes one answer as it comes: leave out {_told(name)}"
                )
        if (options["n_beams"] or 1) > 1:
            raise click.UsageError("--stream follows one beginning: leave out --beams")


def refuse_writing(options: Mapping[str, Any], does: str) -> None:
    """Refuse settings of writing, given to a model that does something else."""
    for name, value in options.items():
        if value is not None and value is not False and value != ():
            raise click.UsageError(f"{_told(name)} is for models that write, and this one {does}")


def _told(name: str) -> str:
    option = {"n_beams": "beams", "forbidden": "forbid", "as_json": "json"}.get(name, name)
    return "--" + option.replace("_", "-")
