"""SVG from Python: true vectors, text that is text, and one scale of colours for everything."""

import unicodedata
from collections.abc import Sequence
from html import escape
from typing import Final

from clearhead.observe.names import inert

__all__ = [
    "DARK",
    "INK",
    "LINE",
    "MARGIN",
    "SMALL",
    "colour",
    "document",
    "escaped",
    "heading",
    "heading_width",
    "legend",
    "rect",
    "text",
    "width_of",
]

LETTER: Final = 0.62
"""About how wide a letter is, in sizes of its font."""
# One hue from light to dark: its order can be seen without seeing colours.
LIGHT, DARK = (247, 251, 255), (8, 64, 129)
INK, LINE = "#1b1b1b", "#d6dee8"
MARGIN: Final = 28
SMALL: Final = 'font-size="12" fill="#555"'
"""How notes look."""
_FONTS: Final = "Noto Sans, Noto Sans Devanagari, Noto Sans Tamil, Noto Sans CJK SC, sans-serif"


def document(width: float, height: float, title: str, parts: Sequence[str]) -> str:
    """A whole picture on white; `title` is what a screen reader says."""
    size = f"{width:.0f} {height:.0f}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{width:.0f}" '
            f'height="{height:.0f}" role="img" aria-label="{escaped(title)}" '
            f'font-family="{_FONTS}">',
            f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


def heading(title: str, note: str) -> list[str]:
    """What is shown, and how to read it in one line or two, above a picture."""
    lines = note.split("\n")
    return [
        text(MARGIN, MARGIN + 8, title, 'font-size="17" font-weight="600"'),
        *(text(MARGIN, MARGIN + 28 + 17 * n, line, SMALL) for n, line in enumerate(lines)),
    ]


def heading_width(title: str, note: str) -> float:
    """The least width of a picture, so that its heading is whole."""
    notes = (0.9 * width_of(line, 12) for line in note.split("\n"))
    return 2 * MARGIN + max(1.1 * width_of(title, 17), *notes)


def text(x: float, y: float, content: str, look: str = "") -> str:
    """A line of text; what it holds is never markup."""
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{escaped(content)}</text>'


def rect(
    x: float, y: float, width: float, height: float, fill: str, look: str = "", title: str = ""
) -> str:
    """A rectangle; `title` is shown where a pointer rests on it."""
    box = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    inside = f"<title>{escaped(title)}</title>" if title else ""
    return f'<rect {box} fill="{fill}" {look}>{inside}</rect>'


def colour(share: float) -> str:
    """From light (0) to dark (1)."""
    share = min(1.0, max(0.0, share))
    return "#" + "".join(
        f"{round(light + (dark - light) * share):02x}"
        for light, dark in zip(LIGHT, DARK, strict=True)
    )


def legend(x: float, y: float, ends: tuple[str, str] = ("0", "1"), middle: str = "") -> list[str]:
    """The scale of colours with its two ends, and the number in the middle where it is not half."""
    steps = [rect(x + 24 + 14 * step, y, 14, 12, colour(step / 10)) for step in range(11)]
    below = f'{SMALL} text-anchor="middle"'
    return [
        text(x, y + 11, ends[0], SMALL),
        *steps,
        *([text(x + 24 + 77, y + 25, middle, below)] if middle else []),
        text(x + 24 + 160, y + 11, ends[1], SMALL),
    ]


def width_of(content: str, size: float) -> float:
    """About how wide a text is: marks stand above or below their letter and take no room."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in content)
    plain = sum(unicodedata.category(c) not in ("Mn", "Me", "Cf") for c in content)
    return LETTER * size * (plain + wide)


def escaped(content: str) -> str:
    """Text that is never markup, and does nothing by itself."""
    return escape(inert(content))
