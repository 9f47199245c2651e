"""Measuring side by side: candidates take turns in one run, and ratios are taken turn by turn.

Machines are shared and noisy, so a time alone says little; a ratio of two times taken one after
the other says more, and the median of several such ratios with their spread says how much.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

__all__ = ["Figure", "Times", "arguments", "report", "take_turns"]


@dataclass(frozen=True)
class Figure:
    """One measured number beside the bar that it has to reach; no bar means for information."""

    name: str
    value: float
    unit: str
    bar: float | None = None
    spread: str = ""
    is_limit: bool = False
    """The value may be at most the bar, instead of at least."""

    @property
    def holds(self) -> bool | None:
        """Whether the bar is reached."""
        if self.bar is None:
            return None
        return self.value <= self.bar if self.is_limit else self.value >= self.bar


@dataclass(frozen=True)
class Times:
    """Seconds of each candidate, in the order of the turns."""

    seconds: dict[str, list[float]]

    def median(self, name: str) -> float:
        """The median of one candidate, in seconds."""
        return statistics.median(self.seconds[name])

    def speed_up(self, name: str, over: str) -> tuple[float, str]:
        """How many times as fast as `over`: the turns' median ratio, and the spread of 80 %."""
        pairs = zip(self.seconds[over], self.seconds[name], strict=True)
        ratios = [slow / fast for slow, fast in pairs]
        if len(ratios) > 8:  # the middle four fifths
            ratios = sorted(ratios)[len(ratios) // 10 : -(len(ratios) // 10) or None]
        return statistics.median(ratios), f"{min(ratios):.2f}–{max(ratios):.2f}"


def take_turns(candidates: Mapping[str, Callable[[], object]], seconds: float) -> Times:
    """Time each candidate once per turn, there and back again, for about this many seconds.

    The first turn is not measured; at least three are.
    """
    times: dict[str, list[float]] = {name: [] for name in candidates}
    order = list(candidates.items())
    for _, run in order:
        run()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[order[0][0]]) < 3:
        for name, run in order:
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
        order.reverse()
    return Times(times)


def arguments(description: str) -> argparse.ArgumentParser:
    """The options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--quick", action="store_true", help="about a minute: fewer shapes and turns"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as JSON")
    parser.add_argument("--threads", type=int, default=2, help="threads for every candidate (2)")
    return parser


def report(title: str, figures: list[Figure], path: Path | None) -> None:
    """Print the figures as a table, and write them to `path` if there is one."""
    table = Table("figure", "value", "spread", "bar", "holds", title=title, title_justify="left")
    for figure in figures:
        bar = "" if figure.bar is None else f"{'≤' if figure.is_limit else '≥'} {figure.bar:g}"
        holds = {True: "yes", False: "[red]no[/red]", None: ""}[figure.holds]
        table.add_row(figure.name, f"{figure.value:.2f} {figure.unit}", figure.spread, bar, holds)
    Console(width=110, highlight=False).print(table)
    if path is not None:
        rows = [{**asdict(figure), "holds": figure.holds} for figure in figures]
        path.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")
