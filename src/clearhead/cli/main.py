"""The verbs of `clearhead`, and how their errors are told: one sentence, and a non-zero exit."""

import io
import sys
from pathlib import Path
from typing import Any

import click

from clearhead import __version__
from clearhead.errors import ClearheadError, nearest

__all__ = ["main"]


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


@main.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--columns",
    metavar="SOURCE,TARGET",
    help="The two columns, by name or number: en,hi or 1,3. Without it they are detected.",
)
@click.option(
    "--test",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Held-out pairs that training must not see; give it twice for two line-aligned files.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def check(
    files: tuple[Path, ...], columns: str | None, test: tuple[Path, ...], as_json: bool
) -> None:
    """Examine a file of sentence pairs, and say what is wrong with it.

    FILES is one file (TSV, CSV, JSONL, TMX, PO, MO or parquet, also .gz), or two text files whose
    lines belong together, such as train.en and train.de.
    """
    from clearhead.cli.check import show_check, split_columns

    show_check(files, split_columns(columns), test, as_json)


@main.command()
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Where the random weights start from.",
)
def demo(seed: int) -> None:
    """Show a small Transformer at work on a few sentences.

    Nothing is trained: the weights are random, and so are the numbers that come out. What can be
    seen is the way through the model: tokens, shapes, parameters and attention weights.
    """
    from clearhead.cli.demo import show_demo  # torch is loaded only when a verb needs it

    show_demo(seed)
