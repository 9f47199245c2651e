"""Small pictures of all heads, block by block."""

from collections.abc import Sequence

from clearhead.observe import svg
from clearhead.observe.heatmap import runs

__all__ = ["grid_svg"]

SIDE, GAP, MARGIN = 132, 22, 28


def grid_svg(
    tables: Sequence[Sequence[Sequence[Sequence[float]]]],
    captions: Sequence[Sequence[str]],
    *,
    title: str,
    note: str = "",
) -> str:
    """A row for each block, a column for each head."""
    n_blocks, n_heads = len(tables), len(tables[0])
    left, top = MARGIN + 64, MARGIN + 66
    width = max(left + (SIDE + GAP) * n_heads + MARGIN, 2 * MARGIN + svg.width_of(title, 17) * 1.15)
    height = top + (SIDE + GAP + 16) * n_blocks + MARGIN + 30
    parts = [
        svg.text(MARGIN, MARGIN + 8, title, 'font-size="17" font-weight="600"'),
        svg.text(MARGIN, MARGIN + 28, note, 'font-size="12" fill="#555"'),
    ]
    for head in range(n_heads):
        x = left + (SIDE + GAP) * head
        parts.append(svg.text(x, top - 8, f"head {head}", 'font-size="13"'))
    for block, heads in enumerate(tables):
        y = top + (SIDE + GAP + 16) * block
        parts.append(svg.text(MARGIN, y + SIDE / 2, f"block {block}", 'font-size="13"'))
        for head, weights in enumerate(heads):
            x = left + (SIDE + GAP) * head
            cell = SIDE / max(len(weights), len(weights[0]))
            parts += runs(weights, x, y, cell)
            look = 'font-size="11" fill="#555"'
            parts.append(svg.text(x, y + cell * len(weights) + 15, captions[block][head], look))
    parts += svg.legend(left, height - MARGIN - 6)
    return svg.document(width, height, title, parts)
