"""Small pictures of many tables, such as all heads of all blocks."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clearhead.observe.drawing import svg
from clearhead.observe.drawing.heatmap import map_svg, shrink

__all__ = ["grid_svg"]

SIDE, GAP = 132, 22
FINEST = 66
"""So many cells can be told apart on one side of a small picture."""


def grid_svg(
    tables: Sequence[Sequence[NDArray[np.floating]]],
    captions: Sequence[Sequence[str]],
    *,
    title: str,
    note: str = "",
) -> str:
    """A row for each block, a column for each head."""
    n_blocks, n_heads = len(tables), len(tables[0])
    left, top = svg.MARGIN + 64, svg.MARGIN + 80
    rows, keys = tables[0][0].shape
    down = SIDE * min(1.0, rows / keys) + GAP + 16
    width = max(left + (SIDE + GAP) * n_heads + svg.MARGIN, svg.heading_width(title, note))
    height = top + down * n_blocks + svg.MARGIN + 30
    parts = svg.heading(title, note)
    for head in range(n_heads):
        x = left + (SIDE + GAP) * head
        parts.append(svg.text(x, top - 8, f"head {head}", 'font-size="13"'))
    for block, heads in enumerate(tables):
        y = top + down * block
        parts.append(
            svg.text(svg.MARGIN, y + (down - 38) / 2 + 5, f"block {block}", 'font-size="13"')
        )
        for head, weights in enumerate(heads):
            x = left + (SIDE + GAP) * head
            small = shrink(weights, FINEST)
            cell = SIDE / max(small.shape)
            parts.append(map_svg(small, x, y, cell))
            look = 'font-size="11" fill="#555"'
            parts.append(svg.text(x, y + cell * len(small) + 15, captions[block][head], look))
    parts += svg.legend(left, height - svg.MARGIN - 6)
    return svg.document(width, height, title, parts)
