"""Every head of every block at a glance, and one of them by itself."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from clearhead.errors import InputError
from clearhead.observe.drawing import Cells, Picture, blocks, columns, grid_svg, heatmap_svg
from clearhead.observe.forced import Forced
from clearhead.observe.heads import PLACES, Head, Kind, describe_heads, head_statistics
from clearhead.observe.names import name_pieces
from clearhead.observe.reading import Reading
from clearhead.observe.watch import watch

__all__ = ["draw_head", "draw_heads", "head_view", "heads_view", "reading_heads_view"]

Tables = Sequence[Sequence[NDArray[np.floating]]]
"""The weights of each head of each block."""

MOST: Final = 24
"""So many tokens are listed above the picture."""
LABELS: Final = {"cross": "cross-attention", "encoder": "encoder", "decoder": "decoder"}


def heads_view(
    pair: Forced, kind: Kind = "cross", described: Sequence[Head] = (), why: str = ""
) -> Picture:
    """All heads of a kind, with what they do: on this pair, or as `described` on other ones."""
    facts = [head for head in described or head_statistics([pair]) if head.kind == kind]
    return draw_heads(_tables(pair, kind), kind, facts, _axes(pair, kind)[1], why)


def reading_heads_view(
    reading: Reading, block: int | None = None, head: int | None = None
) -> Picture:
    """All heads of an encoder by itself, or one of them, on one text."""
    weights, names = reading.attention(), name_pieces(reading.names)
    tables = [list(each.numpy()) for each in weights]
    if head is not None:
        return draw_head(tables, "encoder", (block or 0, head), (names, names))
    return draw_heads(tables, "encoder", describe_heads("encoder", list(weights)), names)


def draw_heads(
    tables: Tables, kind: Kind, described: Sequence[Head], reads: Sequence[str], why: str = ""
) -> Picture:
    """A small picture of each head, and what it does; `reads` names the keys."""
    facts = {(head.block, head.head): head for head in described}
    title = f"All heads: {LABELS[kind]}"
    where = f", {why}" if why else ""
    note = f"e is the entropy, m the mean largest weight{where}"
    if len(reads) <= MOST:
        note = f"columns: {' '.join(reads)}\n{note}"
    captions = [
        [f"e {facts[b, h].entropy:.2f} · m {facts[b, h].largest:.2f}" for h in range(len(heads))]
        for b, heads in enumerate(tables)
    ]
    table = _described(list(facts.values()))
    return Picture(
        title,
        grid_svg(tables, captions, title=title, note=note),
        f"{title}{where}\n\n{columns(table, right=range(len(table[0])))}",
        {
            "points": [PLACES[kind].format(b) for b in range(len(tables))],
            "weights": [[head.tolist() for head in heads] for heads in tables],
            "heads": [vars(fact) for fact in facts.values()],
        },
    )


def head_view(pair: Forced, kind: Kind, block: int, head: int) -> Picture:
    """One head, position by position."""
    return draw_head(_tables(pair, kind), kind, (block, head), _axes(pair, kind))


def draw_head(
    tables: Tables, kind: Kind, place: tuple[int, int], axes: tuple[Sequence[str], Sequence[str]]
) -> Picture:
    """One head, by its block and number, with the names of its queries and keys."""
    block, head = place
    if not (0 <= block < len(tables) and 0 <= head < len(tables[0])):
        raise InputError(
            f"there is no head {head} in block {block}: {LABELS[kind]} has blocks 0 to "
            f"{len(tables) - 1} with heads 0 to {len(tables[0]) - 1}"
        )
    weights = tables[block][head].tolist()
    queries, keys = axes
    title = f"One head: {LABELS[kind]}, block {block}, head {head}"
    note = f"{PLACES[kind].format(block)}; each row sums to 1"
    return Picture(
        title,
        heatmap_svg(weights, queries, keys, title=title, note=note),
        f"{title}\n{note}\n\n{blocks(weights, queries, keys)}",
        {"note": note, "rows": queries, "columns": keys, "weights": weights},
        Cells(queries, keys, weights),
    )


@torch.no_grad()
def _tables(pair: Forced, kind: Kind) -> list[list[NDArray[np.floating]]]:
    """The weights of each head of each block."""
    stack = pair.model.encoder if kind == "encoder" else pair.model.decoder
    names = [PLACES[kind].format(n) for n in range(len(stack.blocks))]
    with watch(pair.model, *names) as seen:
        pair.log_probs()
    return [list(seen.steps(name)[0].to_numpy()) for name in names]


def _axes(pair: Forced, kind: Kind) -> tuple[list[str], list[str]]:
    """What stands at the queries and at the keys; a decoder's query is what it reads there."""
    source = name_pieces(pair.source_tokens)
    read = name_pieces(pair.read_tokens)
    return (source if kind == "encoder" else read), (read if kind == "decoder" else source)


def _described(heads: Sequence[Head]) -> list[list[str]]:
    """The numbers of each head; its alignment and effect only if they were computed."""
    names = {
        "entropy": "entropy", "largest": "largest", "on_self": "self", "on_previous": "previous",
        "on_next": "next", "on_end": "end", "alignment": "alignment", "effect": "effect",
    }  # fmt: skip
    known = [name for name in names if any(getattr(head, name) is not None for head in heads)]
    table = [["block", "head", *(names[name] for name in known)]]
    for head in heads:
        numbers = [f"{getattr(head, name):.3f}" for name in known]
        table.append([str(head.block), str(head.head), *numbers])
    return table
