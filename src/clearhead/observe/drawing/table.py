"""A table of texts and numbers as a picture."""

from collections.abc import Sequence

from clearhead.observe.drawing import svg

__all__ = ["table_svg"]


def table_svg(
    table: Sequence[Sequence[str]], *, title: str, note: str = "", left: Sequence[int] = (0,)
) -> str:
    """The first row is the head; columns are pushed to the right, but for those in `left`."""
    widths = [24 + max(svg.width_of(row[i], 13) for row in table) for i in range(len(table[0]))]
    top, height = 90, 22
    parts = svg.heading(title, note)
    for number, row in enumerate(table):
        y = top + height * number
        weight = 'font-weight="600"' if number == 0 else ""
        x = float(svg.MARGIN)
        for i, cell in enumerate(row):
            at, anchor = (x, "start") if i in left else (x + widths[i] - 12, "end")
            parts.append(svg.text(at, y, cell, f'font-size="13" text-anchor="{anchor}" {weight}'))
            x += widths[i]
        parts.append(svg.rect(svg.MARGIN, y + 6, sum(widths), 0.6, svg.LINE))
    total = max(sum(widths) + 2 * svg.MARGIN, svg.heading_width(title, note))
    return svg.document(total, top + height * len(table) + 20, title, parts)
