"""The verbs of `clearhead`, and how their errors are told: one sentence, and a non-zero exit."""

import io
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import click

from clearhead import __version__
from clearhead.cli.run_options import (
    PRECISION,
    choosing_options,
    refuse_contradictions,
    refuse_idle_settings,
    run_options,
)
from clearhead.errors import ClearheadError, nearest

TASKS = ("translate", "generate", "classify", "summarise", "answer", "fill", "images")
"""As in `data.which`, which is not imported for `--help`."""

__all__ = ["main"]

Verb = TypeVar("Verb", bound=Callable[..., Any])


class _Verbs(click.Group):
    """A group of commands that helps with a mistyped verb and never shows a traceback."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb, or name the nearest one."""
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            hint = nearest(args[0], self.list_commands(ctx))
            raise click.UsageError(f"no verb {args[0]!r}: {hint}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb; what the user can mend becomes one line on standard error."""
        try:
            return super().invoke(ctx)
        except ClearheadError as error:
            raise click.ClickException(str(error)) from None


@click.group(
    cls=_Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`clearhead VERB --help` explains a verb.",
)
@click.version_option(__version__, prog_name="clearhead", message="%(prog)s %(version)s")
def main() -> None:
    """The Transformer, whole: train it on your own data, run it fast, and see through it."""
    for stream in (sys.stdout, sys.stderr):  # a terminal without our letters gets ?, not an error
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


FILES = click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
FOLDER = click.argument("folder", type=click.Path(path_type=Path))
COLUMNS = click.option(
    "--columns",
    metavar="SOURCE,TARGET",
    help="The two columns, by name or number: en,hi or 1,3. Without it they are detected.",
)
BEAMS = click.option(
    "--beams",
    "n_beams",
    type=click.IntRange(1, 100),
    default=5,
    show_default=True,
    help="How many beginnings are followed at once; 1 is greedy.",
)


TASK = click.option(
    "--task",
    type=click.Choice(TASKS),
    help="What to train for. Without it the data says which.",
)

FORMATS = ("clearhead", "transformers", "ctranslate2", "gguf")
LOOKS = (
    "align", "label", "span", "gaps", "patches", "heads", "tree", "steps", "layers", "words",
    "positions", "norms", "cost",
)  # fmt: skip


def _held_out(name: str, purpose: str) -> Callable[[Verb], Verb]:
    return click.option(
        name,
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="FILE",
        help=f"{purpose}; give it twice for two line-aligned files.",
    )


@main.command()
@FILES
@COLUMNS
@_held_out("--test", "Held-out data that training must not see")
@TASK
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def check(files: tuple[Path, ...], columns: str | None, **options: Any) -> None:
    """Examine the data in FILES, and say what is wrong with it.

    Pairs of sentences are one file (TSV, CSV, JSONL, TMX, PO, MO or parquet, also .gz) or several
    of them, or two text files whose lines belong together, such as train.en and train.de. Texts
    with labels or summaries are tables, too; plain texts are files or folders; questions on texts
    are files of SQuAD; pictures are a folder for each class, or .npz or idx files.
    """
    from clearhead.cli.check import show_check, split_columns

    show_check(files, split_columns(columns), **options)


@main.command()
@FILES
@click.option(
    "--to",
    required=True,
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Where the model is written; a run that was begun there goes on.",
)
@COLUMNS
@_held_out("--validation", "Data to follow the training with, instead of a part of FILES")
@_held_out("--test", "Data for the final scores, instead of a part of FILES")
@TASK
@click.option(
    "--from",
    "start",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Begin with the model in FOLDER instead of a random one, and fit it to FILES.",
)
@click.option("--size", metavar="NAME", help="tiny, small, base …; a wrong name shows all.")
@click.option("--time", metavar="TIME", help="How long to train at most: 90s, 30m, 2h, 1h30m.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change one setting of the plan, such as training.lr=0.001; can be repeated.",
)
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda", "mps"]),
    default="auto",
    show_default=True,
    help="Where to compute.",
)
def train(files: tuple[Path, ...], columns: str | None, **options: Any) -> None:
    """Train a model on your own data, and write it to a folder.

    FILES as for `clearhead check`; they say what the model is for: pairs are translated, plain
    texts continued, texts with labels classified, and so on, or as --task says. The data is
    examined, the plan is printed with its expected time and memory, and then the model is trained.
    Ctrl-C saves and stops; the same command goes on.
    """
    from clearhead.cli.check import split_columns
    from clearhead.cli.train import show_training

    show_training(files, split_columns(columns), **options)


@main.command()
@FOLDER
@click.argument("text", nargs=-1)
@run_options
def run(folder: Path, text: tuple[str, ...], **options: Any) -> None:
    """Let the model in FOLDER do its task with TEXT: translate it, continue it, classify it …

    Each TEXT gives one line. Without any, each line of standard input gives exactly one line of
    output, in order; a blank line stays blank. With --n-best each gives several lines, best first.
    A line that is too long for the model is translated sentence by sentence. How many answers are
    doubtful, because they lack a number or were cut, say, is told on standard error.

    A summariser gives one line for each TEXT, too; of a long one it reads the beginning, and says
    so.

    A model that was trained on plain texts continues TEXT, or all of standard input, and writes as
    it goes: by default with --temperature 0.8, and 200 tokens.

    A classifier prints the label of each TEXT and its probability, with a tab between them.

    A model that answers questions takes two of them, QUESTION and the text with its answer, or
    lines with a tab between both; it gives the answer and its probability.

    A model that fills gaps writes TEXT with a word for each <mask> in it; --n-best gives more ways
    to fill them, and --json the candidates of each gap.

    Of a model for pictures, each TEXT is a picture file, and its line is the label and how probable
    it is.
    """
    from clearhead.tasks.folder import task_of

    task = task_of(folder)
    if task in ("translate", "summarise"):
        refuse_contradictions(options)
    import_module(f"clearhead.cli.run_{task}").run_model(folder, text, **options)


@main.command()
@FOLDER
@FILES
@COLUMNS
@BEAMS
@PRECISION
@click.option("--json", "as_json", is_flag=True, help="Print the scores as JSON.")
def evaluate(folder: Path, files: tuple[Path, ...], columns: str | None, **options: Any) -> None:
    """Score the model in FOLDER on other data.

    FILES as for `clearhead check`. Each score comes with its signature, and beside it stands what
    needs no model: copying the source, the most frequent label, gzip …
    """
    from clearhead.cli.check import split_columns
    from clearhead.cli.evaluate import show_scores

    show_scores(folder, files, split_columns(columns), **options)


@main.command()
@FOLDER
@click.option("--json", "as_json", is_flag=True, help="Print the card as JSON.")
def show(folder: Path, as_json: bool) -> None:
    """Show the card of the model in FOLDER: its data, its plan, how it was trained, its scores."""
    from clearhead.cli.show import show_card

    show_card(folder, as_json)


@main.command()
@FOLDER
@click.argument("texts", metavar="TEXT…", nargs=-1, required=True)
@click.option(
    "--view",
    type=click.Choice(LOOKS),
    help="What to look at; which view is usual depends on the task.",
)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write a picture, .svg, .png, .html or .json, instead of printing.",
)
@click.option("--target", metavar="TEXT", help="What is written, instead of the model's answer.")
@click.option("--word", metavar="TEXT", help="For words: the word that stands in each TEXT.")
@click.option(
    "--kind",
    type=click.Choice(["cross", "encoder", "decoder"]),
    default="cross",
    show_default=True,
    help="For heads: which attention.",
)
@click.option("--block", type=click.IntRange(0), help="For heads: one head by itself, with --head.")
@click.option("--head", type=click.IntRange(0), help="For heads and align: this head.")
@_held_out("--pairs", "For heads and align: describe and choose heads on these pairs")
@click.option(
    "--beams",
    "n_beams",
    metavar="N",
    type=click.IntRange(1, 100),
    help="How many beginnings are followed at once; 1 is greedy.  [default: 5]",
)
@choosing_options
def look(folder: Path, texts: tuple[str, ...], **options: Any) -> None:
    """Look inside the model in FOLDER while it works on TEXT.

    align: which source word each target word reads. heads: all heads at a glance. tree: what beam
    search followed and gave up. steps: the candidates of each step. layers: what the model would
    write after each block. words: one word in several sentences. positions: the vectors of
    positions. norms: how large vectors are. cost: parameters, operations and cache. label: which
    tokens speak for the label of a text, or for that of --target. span: where an answer begins and
    ends, for QUESTION and the text with its answer. gaps: what could stand in each gap. patches:
    which patches of a picture file the answer comes from, or the label of --target.

    Which of them a model has depends on its task.
    """
    refuse_idle_settings(options)
    from clearhead.cli.look import show_look

    show_look(folder, texts, **options)


@main.command()
@click.option(
    "--to",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    default=Path("demo"),
    show_default=True,
    help="Where the phrasebook, the model and the picture are written.",
)
@click.option(
    "--steps",
    "n_steps",
    type=click.IntRange(4, 100_000),
    default=1000,
    show_default=True,
    help="How long to train.",
)
def demo(to: Path, n_steps: int) -> None:
    """Train a translator from English to Hindi in some two minutes, and look inside.

    The sentences come from a small grammar. The model is trained from scratch, scored on sentences
    it has never seen, and shown at work: translations, and which English word each Hindi word
    reads.
    """
    from clearhead.cli.demo import show_demo  # torch is loaded only when a verb needs it

    show_demo(to, n_steps)


@main.command()
@FOLDER
@click.option(
    "--seconds",
    type=click.FloatRange(0.1, 3600),
    default=5,
    show_default=True,
    help="How long each of the four workloads is measured.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def bench(folder: Path, seconds: float, as_json: bool) -> None:
    """Measure how fast the model in FOLDER decodes here, beside CTranslate2 and Hugging Face.

    The others take part if they are installed. All have the same weights and take turns.
    """
    from clearhead.cli.bench import show_bench

    show_bench(folder, seconds, as_json)


@main.command()
@click.argument("source", metavar="FROM", type=click.Path(path_type=Path))
@click.argument("to", type=click.Path(path_type=Path))
@click.option(
    "--to-format",
    type=click.Choice(FORMATS),
    help="What TO is for.  [default: clearhead, or transformers if FROM is a model folder of ours]",
)
def convert(source: Path, to: Path, to_format: str | None) -> None:
    """Bring a model in from another library, or out to one.

    FROM is a folder of Hugging Face with safetensors, or a model folder. TO is a new folder: a
    model folder, or one that transformers or CTranslate2 opens; for gguf it is a new file, such as
    model.gguf, which llama.cpp opens. The tokenizer travels with the weights and gives the same
    tokens.
    """
    from clearhead.cli.convert import show_conversion

    show_conversion(source, to, to_format)
