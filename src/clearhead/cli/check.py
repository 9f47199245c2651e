"""`clearhead check`: what the data doctor says of a file, as tables or as JSON."""

import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from clearhead.data.report import Report
from clearhead.data.which import which_task
from clearhead.errors import InputError
from clearhead.tasks.verbs import verbs_of

__all__ = ["show_check", "show_report", "split_columns"]


def split_columns(text: str | None) -> tuple[str, str] | None:
    """Read the option `--columns en,hi`.

    >>> split_columns("en, hi")
    ('en', 'hi')
    """
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or not all(names):
        raise InputError(
            f"--columns {text!r} does not name two columns: write the source and the target with a "
            "comma between, such as en,hi or 1,3"
        )
    return names[0], names[1]


def show_check(
    paths: Sequence[Path],
    columns: tuple[str, str] | None = None,
    test: Sequence[Path] = (),
    as_json: bool = False,
    task: str | None = None,
) -> None:
    """Examine a file and print the report; data that is not fit for training is an error."""
    verbs = verbs_of(task or which_task(paths, columns))
    held_out = verbs.open_data(test, columns) if test else None
    report = verbs.examine(verbs.open_data(paths, columns), held_out)
    if as_json:
        print(json.dumps(report.to_dict(), indent=2, ensure_ascii=False))
    else:
        show_report(report, Console(highlight=False))
    if report.is_fatal:
        raise InputError(f"{' and '.join(report.paths)}: {report.verdict}")


def show_report(report: Report, console: Console) -> None:
    """Print what was assumed, what was found, and the verdict."""
    console.print(Text(" · ".join(report.paths), style="bold"))
    for sentence in (*report.assumed, *report.notes()):
        console.print(Text(f"  {sentence}"), soft_wrap=True)
    if report.findings:
        table = Table("finding", report.unit, "share", "done", "where")
        for column in table.columns[1:3]:
            column.justify = "right"
        for found in report.findings:
            share = f"{found.share:.1%}" if found.share >= 0.0005 else "< 0.1%"
            where = found.where(report.place)
            table.add_row(found.meaning, f"{found.count:,}", share, found.effect, where)
        console.print(table)
    else:
        console.print("  nothing is wrong with it")
    if not report.is_fatal:
        console.print(Text(report.verdict, style="green"), soft_wrap=True)
