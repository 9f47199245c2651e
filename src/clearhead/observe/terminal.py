"""Pictures for a terminal: shades of blocks, and columns that line up in every script."""

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

__all__ = ["blocks", "columns"]

SHADES = " ░▒▓█"


def blocks(
    weights: Sequence[Sequence[float]], rows: Sequence[str], names: Sequence[str], *, width: int = 3
) -> str:
    """A table of shades from 0 to 1; its columns are numbered, and named below."""
    left = max((cell_len(name) for name in rows), default=0)
    head = " " * (left + 2) + "".join(f"{n:>{width}}" for n in range(len(names)))
    lines = [head]
    for name, row in zip(rows, weights, strict=True):
        cells = "".join(_shade(weight) * (width - 1) + " " for weight in row)
        best = max(range(len(row)), key=row.__getitem__) if row else 0
        told = f"  {row[best]:.2f} {names[best]}" if row else ""
        lines.append(f"{_right(name, left)}   {cells}{told}")
    lines.append("")
    lines += [f"{n:>{width}}  {name}" for n, name in enumerate(names)]
    return "\n".join(lines)


def columns(table: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> str:
    """Rows of cells, each column as wide as its widest cell; some are pushed to the right."""
    widths = [max(cell_len(row[i]) for row in table) for i in range(len(table[0]))]
    lines = []
    for row in table:
        cells = [
            _right(cell, n) if i in right else set_cell_size(cell, n)
            for i, (cell, n) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _shade(weight: float) -> str:
    return SHADES[min(len(SHADES) - 1, int(weight * len(SHADES)))]


def _right(text: str, width: int) -> str:
    return " " * (width - cell_len(text)) + text
