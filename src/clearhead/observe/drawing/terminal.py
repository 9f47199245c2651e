"""Pictures for a terminal: shades of blocks, and columns that line up in every script."""

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

from clearhead.observe.names import inert

__all__ = ["blocks", "columns", "shades"]

SHADES = " ░▒▓█"
MOST = 32
"""So many columns fit into a terminal; of wider tables, each row tells its largest weights."""


def blocks(
    weights: Sequence[Sequence[float]], rows: Sequence[str], names: Sequence[str], *, width: int = 3
) -> str:
    """A table of shades from 0 to 1; its columns are numbered, and named below."""
    rows, names = [inert(name) for name in rows], [inert(name) for name in names]
    if len(names) > MOST:
        pairs = zip(rows, weights, strict=True)
        return columns([[name, *_largest(row, names)] for name, row in pairs])
    left = max((cell_len(name) for name in rows), default=0)
    head = " " * (left + 2) + "".join(f"{n:>{width}}" for n in range(len(names)))
    lines = [head]
    for name, row in zip(rows, weights, strict=True):
        cells = "".join(_shade(weight) * (width - 1) + " " for weight in row)
        lines.append(f"{_right(name, left)}   {cells}  {_largest(row, names, 1)[0]}")
    lines.append("")
    lines += [f"{n:>{width}}  {name}" for n, name in enumerate(names)]
    return "\n".join(lines)


def shades(table: Sequence[Sequence[float]]) -> list[str]:
    """Numbers from 0 to 1 as squares of two letters, without names.

    >>> shades([[0.0, 0.5, 1.0]])
    ['  ▒▒██']
    """
    return ["".join(2 * _shade(number) for number in row) for row in table]


def columns(table: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> str:
    """Rows of cells, each column as wide as its widest cell; some are pushed to the right."""
    table = [[inert(cell) for cell in row] for row in table]
    widths = [max(cell_len(row[i]) for row in table) for i in range(len(table[0]))]
    lines = []
    for row in table:
        cells = [
            _right(cell, n) if i in right else set_cell_size(cell, n)
            for i, (cell, n) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _largest(row: Sequence[float], names: Sequence[str], n: int = 3) -> list[str]:
    """The columns with the largest weights, with these."""
    best = sorted(range(len(row)), key=lambda i: -row[i])[:n]
    return [f"{row[i]:.2f} {names[i]}" for i in best]


def _shade(weight: float) -> str:
    return SHADES[min(len(SHADES) - 1, int(weight * len(SHADES)))]


def _right(text: str, width: int) -> str:
    return " " * (width - cell_len(text)) + text
