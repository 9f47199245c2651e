"""A table of weights as a picture, with every number in its cell while there is room for it."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from clearhead.errors import InputError
from clearhead.observe.drawing import svg

__all__ = ["MOST", "heatmap_svg", "map_svg", "shrink"]

CELL, SMALL = 58, 5
MOST = 24
"""So many rows or columns have numbers in their cells; larger tables have colours only."""
N_SHADES = 15


def heatmap_svg(
    weights: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str,
    note: str = "",
    ends: tuple[str, str] = ("0", "1"),
) -> str:
    """Draw weights from 0 to 1 (`ends` in the legend), with names on the left and on top.

    In a table that is too large for numbers, the darkest colour is its largest weight, and half as
    dark a quarter of it: most of its weights are small.
    """
    if len(weights) != len(rows) or any(len(row) != len(columns) for row in weights):
        raise InputError(f"the weights must be {len(rows)} rows of {len(columns)} numbers")
    largest = max(len(rows), len(columns))
    cell = CELL if largest <= MOST else max(SMALL, min(CELL // 2, 1400 // largest))
    size = 15 if cell == CELL else min(13, max(SMALL, cell - 1))
    left = svg.MARGIN + max(svg.width_of(name, size) for name in rows) + 12
    top = svg.MARGIN + 58 + 0.75 * max(svg.width_of(name, size) for name in columns)
    width = max(left + cell * len(columns) + svg.MARGIN + 40, svg.heading_width(title, note))
    height = top + cell * len(rows) + svg.MARGIN + 44
    parts = svg.heading(title, note)
    for number, name in enumerate(columns):
        x = left + cell * (number + 0.5) + size / 3
        turn = f'font-size="{size}" transform="rotate(-40 {x:.1f} {top - 8:.1f})"'
        parts.append(svg.text(x, top - 8, name, turn))
    for number, name in enumerate(rows):
        y = top + cell * (number + 0.5) + size / 3
        parts.append(svg.text(left - 10, y, name, f'font-size="{size}" text-anchor="end"'))
    middle = ""
    if cell == CELL:
        parts += _cells(weights, left, top)
    else:
        table = np.asarray(weights, dtype=np.float64)
        if ends == ("0", "1"):
            most = float(table.max()) or 1.0
            table = np.sqrt(table.clip(0) / most)
            ends, middle = ("0", f"{most:.2g}"), f"{most / 4:.2g}"
        parts.append(map_svg(table, left, top, cell, "cells"))
    parts += svg.legend(left, top + cell * len(rows) + 16, ends, middle)
    return svg.document(width, height, title, parts)


def _cells(weights: Sequence[Sequence[float]], left: float, top: float) -> Iterator[str]:
    """A box with its number for each weight."""
    look = f'rx="3" stroke="{svg.LINE}"'
    for i, row in enumerate(weights):
        for j, weight in enumerate(row):
            x, y = left + CELL * j, top + CELL * i
            ink = "#ffffff" if weight > 0.5 else svg.INK
            label = f'font-size="14" text-anchor="middle" fill="{ink}"'
            yield svg.rect(x, y, CELL - 2, CELL - 2, svg.colour(weight), look)
            yield svg.text(x + CELL / 2 - 1, y + CELL / 2 + 4, f"{weight:.2f}", label)


def map_svg(
    weights: NDArray[np.floating], left: float, top: float, cell: float, name: str = ""
) -> str:
    """Colours only, in 16 steps: one shape for each, so that large maps stay small and quick."""
    n_rows, n_columns = weights.shape
    steps = np.rint(N_SHADES * weights.clip(0, 1)).astype(int)
    shapes: dict[int, list[str]] = {}
    for i, row in enumerate(steps):
        begins = np.flatnonzero(np.diff(row, prepend=-1))
        lengths, shades = np.diff(begins, append=n_columns), row[begins]
        runs = zip(begins.tolist(), lengths.tolist(), shades.tolist(), strict=True)
        for j, n, step in runs:
            if step:
                shapes.setdefault(step, []).append(f"M{j} {i}h{n}v1h-{n}z")
    paths = "".join(
        f'<path fill="{svg.colour(step / N_SHADES)}" d="{"".join(some)}"/>'
        for step, some in sorted(shapes.items())
    )
    size = cell * n_columns, cell * n_rows
    named = f' id="{name}"' if name else ""
    return (
        svg.rect(left, top, *size, svg.colour(0), f'stroke="{svg.LINE}"')
        + f'<g{named} shape-rendering="crispEdges" '
        + f'transform="translate({left:.1f} {top:.1f}) scale({cell:.4f})">{paths}</g>'
    )


def shrink(weights: NDArray[np.floating], most: int) -> NDArray[np.floating]:
    """At most so many rows and columns: neighbours become one, which is the largest of them."""
    for axis in (0, 1):
        n = weights.shape[axis]
        if n > most:
            begins = np.unique(np.arange(most) * n // most)
            weights = np.maximum.reduceat(weights, begins, axis=axis)
    return weights
