"""A table of weights as a picture, with every number in its cell while there is room for it."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from clearhead.errors import InputError
from clearhead.observe import svg

__all__ = ["heatmap_svg", "runs"]

CELL, SMALL = 58, 5
MARGIN = 28
MOST = 24
"""So many rows or columns have numbers in their cells; larger tables have colours only."""


def heatmap_svg(
    weights: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str,
    note: str = "",
    ends: tuple[str, str] = ("0", "1"),
) -> str:
    """Draw weights from 0 to 1 (`ends` in the legend), with names on the left and on top."""
    if len(weights) != len(rows) or any(len(row) != len(columns) for row in weights):
        raise InputError(f"the weights must be {len(rows)} rows of {len(columns)} numbers")
    largest = max(len(rows), len(columns))
    cell = CELL if largest <= MOST else max(SMALL, min(CELL, 1400 // largest))
    size = 15 if cell >= 20 else min(11, max(4, cell))
    left = MARGIN + max(svg.width_of(name, size) for name in rows) + 12
    top = MARGIN + 58 + 0.75 * max(svg.width_of(name, size) for name in columns)
    width = max(
        left + cell * len(columns) + MARGIN + 40, MARGIN * 2 + svg.width_of(title, 17) * 1.15
    )
    height = top + cell * len(rows) + MARGIN + 44
    parts = [
        svg.text(MARGIN, MARGIN + 8, title, 'font-size="17" font-weight="600"'),
        svg.text(MARGIN, MARGIN + 28, note, 'font-size="12" fill="#555"'),
    ]
    for number, name in enumerate(columns):
        x = left + cell * (number + 0.5)
        turn = f'font-size="{size}" transform="rotate(-40 {x:.1f} {top - 8:.1f})"'
        parts.append(svg.text(x, top - 8, name, turn))
    for number, name in enumerate(rows):
        y = top + cell * (number + 0.5) + size / 3
        parts.append(svg.text(left - 10, y, name, f'font-size="{size}" text-anchor="end"'))
    draw = _cells if cell == CELL else runs
    parts += draw(weights, left, top, cell)
    parts += svg.legend(left, top + cell * len(rows) + 16, ends)
    return svg.document(width, height, title, parts)


def _cells(
    weights: Sequence[Sequence[float]], left: float, top: float, cell: float
) -> Iterator[str]:
    """A box with its number for each weight."""
    look = f'rx="3" stroke="{svg.LINE}"'
    for i, row in enumerate(weights):
        for j, weight in enumerate(row):
            x, y = left + cell * j, top + cell * i
            ink = "#ffffff" if weight > 0.5 else svg.INK
            label = f'font-size="14" text-anchor="middle" fill="{ink}"'
            yield svg.rect(x, y, cell - 2, cell - 2, svg.colour(weight), look)
            yield svg.text(x + cell / 2 - 1, y + cell / 2 + 4, f"{weight:.2f}", label)


def runs(weights: Sequence[Sequence[float]], left: float, top: float, cell: float) -> Iterator[str]:
    """Colours only, in 32 steps; neighbours of one colour are one box, which keeps it small."""
    for i, row in enumerate(weights):
        j = 0
        for step, run in groupby(row, key=lambda weight: round(31 * min(1.0, max(0.0, weight)))):
            n = len(list(run))
            if step:
                place = left + cell * j, top + cell * i
                yield svg.rect(*place, cell * n, cell, svg.colour(step / 31))
            j += n
    size = cell * len(weights[0]), cell * len(weights)
    yield svg.rect(left, top, *size, "none", f'stroke="{svg.LINE}"')
