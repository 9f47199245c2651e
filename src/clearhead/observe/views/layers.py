"""What the decoder would write after each of its blocks, at each position."""

from collections.abc import Callable, Sequence

from torch import Tensor

from clearhead.observe.drawing import Picture, columns, svg
from clearhead.observe.forced import Forced
from clearhead.observe.lens import Lens, gap_lens, logit_lens
from clearhead.observe.names import name_piece, name_pieces
from clearhead.observe.reading import Reading

__all__ = ["gap_layers_view", "layers_view"]

Decode = Callable[[Sequence[int]], list[str]]


def layers_view(pair: Forced, decode: Decode) -> Picture:
    """What the decoder would write after each of its blocks, at each position."""
    title = "Logit lens: what the decoder would write after each block"
    return _lens_view(logit_lens(pair), pair.target, decode, title)


def gap_layers_view(reading: Reading, places: list[int], decode: Decode) -> Picture:
    """What an encoder would put into each gap after each of its blocks."""
    lens = gap_lens(reading, places)
    title = "Logit lens: what the encoder would put into each gap after each block"
    return _lens_view(lens, lens.best()[0][-1].tolist(), decode, title)


def _lens_view(lens: Lens, target: list[int], decode: Decode, title: str) -> Picture:
    tokens, p = lens.best()
    ranks = lens.rank_of(target)
    words = [[name_piece(piece) for piece in decode(row)] for row in tokens.tolist()]
    note = "a cell holds the most probable token; its colour is the probability"
    rows = [f"block {n}" for n in range(len(words))]
    written = name_pieces(decode(target))
    table = [["written", *rows]]
    for t, token in enumerate(written):
        table.append([token, *(f"{words[n][t]} {p[n, t]:.2f}" for n in range(len(rows)))])
    return Picture(
        title,
        _lens_svg(words, p, ranks, rows, written, title, note),
        f"{title}\n\n{columns(table)}",
        {"tokens": words, "probabilities": p.tolist(), "ranks": ranks.tolist(), "written": written},
    )


def _lens_svg(
    words: Sequence[Sequence[str]],
    p: Tensor,
    ranks: Tensor,
    rows: Sequence[str],
    written: Sequence[str],
    title: str,
    note: str,
) -> str:
    """Positions from left to right, blocks from bottom to top, as vectors rise."""
    width = 24 + max(svg.width_of(word, 13) for row in (*words, written) for word in row)
    left, top, height = 110, 76, 30
    parts = svg.heading(title, note)
    for level, row in enumerate(words):
        y = top + height * (len(words) - 1 - level)
        parts.append(svg.text(left - 10, y + 19, rows[level], 'font-size="13" text-anchor="end"'))
        for t, word in enumerate(row):
            share, x = float(p[level, t]), left + width * t
            ink = "#ffffff" if share > 0.5 else svg.INK
            told = f"{word}: probability {share:.3f}; {written[t]} has rank {int(ranks[level, t])}"
            box = (x, y, width - 2, height - 2)
            parts.append(svg.rect(*box, svg.colour(share), 'rx="3"', told))
            look = f'font-size="13" text-anchor="middle" fill="{ink}" pointer-events="none"'
            parts.append(svg.text(x + width / 2 - 1, y + 19, word, look))
    bottom = top + height * len(words)
    parts.append(svg.text(left - 10, bottom + 21, "written", 'font-size="13" text-anchor="end"'))
    look = 'font-size="13" font-weight="600" text-anchor="middle"'
    parts += [
        svg.text(left + width * (t + 0.5), bottom + 21, word, look)
        for t, word in enumerate(written)
    ]
    parts += svg.legend(left, bottom + 40)
    total = max(left + width * len(written) + 28, svg.heading_width(title, note))
    return svg.document(total, bottom + 76, title, parts)
