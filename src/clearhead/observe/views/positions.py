"""The vectors of positions."""

from clearhead.layers.positions import sinusoids
from clearhead.observe.drawing import Cells, Picture, blocks, heatmap_svg

__all__ = ["positions_view"]


def positions_view(
    d_model: int, n_positions: int = 32, n_shown: int = 48, *, sines_first: bool = False
) -> Picture:
    """The sinusoidal vectors of the first positions, from −1 (light) to 1 (dark)."""
    table = sinusoids(n_positions, d_model, sines_first=sines_first)[:, :n_shown]
    shares = ((table + 1) / 2).tolist()
    title = "Positions: sine and cosine of ever slower waves"
    note = f"the first {table.shape[1]} of {d_model} numbers of each position"
    rows, names = [str(n) for n in range(n_positions)], [str(n) for n in range(table.shape[1])]
    return Picture(
        title,
        heatmap_svg(shares, rows, names, title=title, note=note, ends=("−1", "1")),
        f"{title}\n{note}\n\n{blocks([row[:24] for row in shares], rows, names[:24])}",
        {"vectors": table.tolist()},
        Cells(rows, names, table.tolist()),
    )
