"""A table of weights as a picture: SVG, true vectors, with every number written in its cell."""

import unicodedata
from collections.abc import Sequence
from html import escape

from clearhead.errors import InputError

__all__ = ["heatmap_svg"]

CELL = 58
LETTER = 9.5
MARGIN = 28
# One hue from light to dark: its order can be seen without seeing colours.
LIGHT, DARK = (247, 251, 255), (8, 64, 129)


def heatmap_svg(
    weights: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str,
    note: str = "",
) -> str:
    """Draw weights from 0 to 1; row names stand on the left, column names on top."""
    if len(weights) != len(rows) or any(len(row) != len(columns) for row in weights):
        raise InputError(f"the weights must be {len(rows)} rows of {len(columns)} numbers")
    left = MARGIN + max(_width(name) for name in rows) + 12
    top = MARGIN + 58 + 0.75 * max(_width(name) for name in columns)
    width = max(left + CELL * len(columns) + MARGIN + 40, MARGIN * 2 + _width(title) * 1.15)
    height = top + CELL * len(rows) + MARGIN + 44
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img" aria-label="{escape(title)}" '
        'font-family="Noto Sans, Noto Sans Devanagari, Noto Sans Tamil, sans-serif">',
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
        _text(MARGIN, MARGIN + 8, title, 'font-size="17" font-weight="600"'),
        _text(MARGIN, MARGIN + 28, note, 'font-size="12" fill="#555"'),
    ]
    for number, name in enumerate(columns):
        x = left + CELL * (number + 0.5)
        turn = f'font-size="15" transform="rotate(-40 {x:.1f} {top - 8:.1f})"'
        parts.append(_text(x, top - 8, name, turn))
    for number, (name, row) in enumerate(zip(rows, weights, strict=True)):
        y = top + CELL * number
        parts.append(_text(left - 10, y + CELL / 2 + 5, name, 'font-size="15" text-anchor="end"'))
        parts += [_cell(left + CELL * place, y, weight) for place, weight in enumerate(row)]
    parts += _legend(left, top + CELL * len(rows) + 16)
    return "\n".join([*parts, "</svg>", ""])


def _cell(x: float, y: float, weight: float) -> str:
    ink = "#ffffff" if weight > 0.5 else "#1b1b1b"
    box = f'x="{x:.1f}" y="{y:.1f}" width="{CELL - 2}" height="{CELL - 2}" rx="3"'
    label = 'font-size="14" text-anchor="middle"'
    return f'<rect {box} fill="{_colour(weight)}" stroke="#d6dee8"/>' + _text(
        x + CELL / 2 - 1, y + CELL / 2 + 4, f"{weight:.2f}", f'{label} fill="{ink}"'
    )


def _legend(x: float, y: float) -> list[str]:
    """The scale of colours with its two ends."""
    steps = [
        f'<rect x="{x + 24 + 14 * step:.1f}" y="{y:.1f}" width="14" height="12" '
        f'fill="{_colour(step / 10)}"/>'
        for step in range(11)
    ]
    small = 'font-size="12" fill="#555"'
    return [_text(x, y + 11, "0", small), *steps, _text(x + 24 + 160, y + 11, "1", small)]


def _colour(weight: float) -> str:
    share = min(1.0, max(0.0, weight))
    return "#" + "".join(
        f"{round(light + (dark - light) * share):02x}"
        for light, dark in zip(LIGHT, DARK, strict=True)
    )


def _text(x: float, y: float, text: str, look: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{escape(text)}</text>'


def _width(text: str) -> float:
    """About how wide a text is: marks stand above or below their letter and take no room."""
    return LETTER * sum(unicodedata.category(c) not in ("Mn", "Me", "Cf") for c in text)
