"""A small picture with a map over it: the stronger a patch, the more of it is coloured."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clearhead.media import png_of, with_channels
from clearhead.observe.drawing import svg
from clearhead.observe.drawing.terminal import shades

__all__ = ["FOR", "Overlay", "overlay_svg", "overlay_text"]

SIDE: Final = 252
GAP: Final = 30
FOR, AGAINST = "#ff8a00", "#1f77ff"
"""Two colours that are told apart by everybody, and from grey: orange and blue."""
PALEST: Final = (90, 0.55)
"""Below a map, black becomes this grey, and everything else so much weaker."""
STRONGEST: Final = 0.82
"""How much of a patch the colour covers at most."""


@dataclass(frozen=True)
class Overlay:
    """A map over a picture; without one, the picture alone."""

    title: str
    note: str
    table: NDArray[np.floating] | None = None


def overlay_svg(
    picture: NDArray[np.uint8],
    overlays: Sequence[Overlay],
    *,
    title: str,
    note: str,
    side: int = SIDE,
) -> str:
    """Panels side by side; numbers below zero are blue. The picture is inside, as PNG."""
    top = svg.MARGIN + 62 + 17 * note.count("\n")
    drawn = [svg.width_of(text, 12) * 0.9 for each in overlays for text in (each.note,)]
    step = max(side, *drawn) + GAP
    width = max(2 * svg.MARGIN + step * len(overlays) - GAP, svg.heading_width(title, note))
    parts = svg.heading(title, note)
    for number, each in enumerate(overlays):
        x = svg.MARGIN + step * number
        parts.append(svg.text(x, top + 14, each.title, 'font-size="14" font-weight="600"'))
        parts += _panel(picture, each.table, x, top + 26, side)
        parts.append(svg.text(x, top + side + 46, each.note, svg.SMALL))
    return svg.document(width, top + side + 62, title, parts)


def _panel(
    picture: NDArray[np.uint8], table: NDArray[np.floating] | None, x: float, y: float, side: int
) -> list[str]:
    """The picture; below a map it is grey and pale, so that the map is seen on black, too."""
    below = picture
    if table is not None:
        below = (PALEST[0] + with_channels(picture, 1) * PALEST[1]).astype(np.uint8)
    data = b64encode(png_of(below)).decode()
    parts = [
        f'<image x="{x:.1f}" y="{y:.1f}" width="{side}" height="{side}" '
        f'style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>'
    ]
    if table is not None:
        n_rows, n_columns = table.shape
        most = float(np.abs(table).max()) or 1.0
        w, h = side / n_columns, side / n_rows
        for i, row in enumerate(table.tolist()):
            for j, value in enumerate(row):
                look = f'fill-opacity="{STRONGEST * abs(value) / most:.3f}"'
                colour = FOR if value >= 0 else AGAINST
                told = f"{i},{j}: {value:.4f}"
                parts.append(svg.rect(x + w * j, y + h * i, w, h, colour, look, told))
    edge = f'stroke="{svg.LINE}" fill-opacity="0"'
    return [*parts, svg.rect(x, y, side, side, "#ffffff", edge)]


def overlay_text(picture: NDArray[np.uint8], overlays: Sequence[Overlay]) -> str:
    """The same in shades: the picture, and then each map."""
    grey = with_channels(picture, 1)[:, :, 0].astype(np.float64) / 255
    step = -(-len(grey) // 32)  # what fits into a terminal
    parts = []
    for each in overlays:
        if each.table is None:
            drawn = shades(grey[::step, ::step].tolist())
        else:
            most = float(np.abs(each.table).max()) or 1.0
            drawn = shades((each.table.clip(0) / most).tolist())
        parts += [f"{each.title}: {each.note}" if each.note else each.title, *drawn, ""]
    return "\n".join(parts)
