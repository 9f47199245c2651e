"""Which source word each target word reads."""

from clearhead.observe.alignment import CrossAttention
from clearhead.observe.drawing import Cells, Picture, blocks, heatmap_svg

__all__ = ["align_view"]


def align_view(
    seen: CrossAttention, block: int, head: int, *, source: str, why: str = ""
) -> Picture:
    """One head of cross-attention, word by word; `why` says how the head was found."""
    weights = seen.weights[block, head].tolist()
    title = f"Cross-attention: {source}"
    note = f"decoder.blocks.{block}.cross_attention.weights, head {head}; each row sums to 1"
    note = f"{note}\n{why}" if why else note
    return Picture(
        title,
        heatmap_svg(weights, seen.target, seen.source, title=title, note=note),
        f"{title}\n{note}\n\n{blocks(weights, seen.target, seen.source)}",
        {"note": note, "rows": seen.target, "columns": seen.source, "weights": weights},
        Cells(seen.target, seen.source, weights),
    )
