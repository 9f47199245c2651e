"""Which patches of a picture the answer comes from, over the picture itself."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from clearhead.errors import InputError
from clearhead.observe.drawing import Picture, columns, grid_svg
from clearhead.observe.drawing.overlay import Overlay, overlay_svg, overlay_text
from clearhead.observe.patches import PatchMaps

__all__ = ["patch_head_view", "patch_heads_view", "patches_view"]

N_TOLD = 3


def patches_view(
    picture: NDArray[np.uint8], maps: PatchMaps, label: str, probs: Mapping[str, float]
) -> Picture:
    """The picture, what the last block reads, what comes through all blocks, and what counts."""
    best = ", ".join(f"{name} {p:.1%}" for name, p in list(probs.items())[:N_TOLD])
    title = f"Which patches say {label}"
    note = f"the model says: {best}\norange: read, or speaks for {label}; blue: speaks against it"
    total = float(maps.attribution.sum())
    attention, way = maps.attention, maps.rollout
    overlays = [
        Overlay("The picture", f"{len(picture)} × {len(picture)} pixels, as the model sees it"),
        Overlay("Attention", f"last block, all heads; most {_most(attention)}", attention),
        Overlay("Rollout", f"through all blocks; most {_most(way)}", way),
        Overlay("Attribution", f"adds to log p, {total:+.2f} in all", maps.attribution),
    ]
    return Picture(
        title,
        overlay_svg(picture, overlays, title=title, note=note),
        f"{title}\nthe model says: {best}\n\n{overlay_text(picture, overlays)}",
        {
            "label": label,
            "probabilities": dict(probs),
            "attention": maps.attention.tolist(),
            "rollout": maps.rollout.tolist(),
            "attribution": maps.attribution.tolist(),
        },
    )


def patch_heads_view(maps: PatchMaps, label: str) -> Picture:
    """What each head of each block reads, each scaled by its largest patch."""
    title = f"All heads: which patches are read for {label}"
    note = "each map is scaled by its largest weight, which stands below it with its patch"
    n_blocks, n_heads = maps.heads.shape[:2]
    captions = [[_most(head) for head in block] for block in maps.heads]
    tables = [[head / (float(head.max()) or 1.0) for head in block] for block in maps.heads]
    rows = [["block", "head", "most"]]
    rows += [[str(b), str(h), captions[b][h]] for b in range(n_blocks) for h in range(n_heads)]
    return Picture(
        title,
        grid_svg(tables, captions, title=title, note=note),
        f"{title}\n\n{columns(rows)}",
        {"weights": maps.heads.tolist()},
    )


def patch_head_view(picture: NDArray[np.uint8], maps: PatchMaps, block: int, head: int) -> Picture:
    """One head by itself, over the picture."""
    n_blocks, n_heads = maps.heads.shape[:2]
    if not (0 <= block < n_blocks and 0 <= head < n_heads):
        raise InputError(
            f"there is no head {head} in block {block}: the model has blocks 0 to {n_blocks - 1} "
            f"with heads 0 to {n_heads - 1}"
        )
    table = maps.heads[block, head]
    title = f"One head: block {block}, head {head}"
    note = f"encoder.blocks.{block}.self_attention.weights; orange: read"
    overlays = [Overlay("The picture", ""), Overlay("Attention", f"most {_most(table)}", table)]
    return Picture(
        title,
        overlay_svg(picture, overlays, title=title, note=note),
        f"{title}\n\n{overlay_text(picture, overlays)}",
        {"block": block, "head": head, "weights": table.tolist()},
    )


def _most(table: NDArray[np.floating]) -> str:
    """The largest weight, and the patch that has it by row and column."""
    row, column = np.unravel_index(int(table.argmax()), table.shape)
    return f"{table[row, column]:.2f} at {row},{column}"
