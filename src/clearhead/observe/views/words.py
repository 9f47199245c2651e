"""One word in several sentences: its way through the encoder, and how far they part."""

from torch import Tensor

from clearhead.observe.drawing import Picture, columns, svg
from clearhead.observe.words import WordPaths

__all__ = ["words_view"]


def words_view(paths: WordPaths) -> Picture:
    """One word in several sentences: its way through the encoder, and how far they part."""
    title = f"“{paths.word}” in {len(paths.sentences)} sentences"
    cosines, plane = paths.cosines().tolist(), paths.plane()
    note = "cosine: " + " → ".join(f"{c:.2f}" for c in cosines)
    levels = ["embedding", *(f"block {n}" for n in range(len(cosines) - 1))]
    table = [
        ["after", "mean cosine"],
        *([a, f"{c:.3f}"] for a, c in zip(levels, cosines, strict=True)),
    ]
    return Picture(
        title,
        _paths_svg(paths, plane, title, note),
        f"{title}\n\n" + "\n".join(paths.sentences) + f"\n\n{columns(table, right=(1,))}",
        {"sentences": paths.sentences, "cosines": cosines, "plane": plane.tolist()},
    )


def _paths_svg(paths: WordPaths, plane: Tensor, title: str, note: str) -> str:
    inks = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")  # Okabe and Ito
    low, high = plane.flatten(0, 1).min(0).values, plane.flatten(0, 1).max(0).values
    span = float((high - low).max()) or 1.0
    size, left, top = 420, 60, 90
    parts = [
        *svg.heading(title, note),
        svg.rect(left - 20, top - 20, size + 40, size + 40, "none", f'stroke="{svg.LINE}"'),
    ]
    for number, (sentence, path) in enumerate(zip(paths.sentences, plane, strict=True)):
        ink = inks[number % len(inks)]
        points = [
            (
                left + size * float((x - low[0]) / span),
                top + size * (1 - float((y - low[1]) / span)),
            )
            for x, y in path
        ]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{ink}" stroke-width="2"/>')
        for level, (x, y) in enumerate(points):
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{ink}"/>')
            parts.append(svg.text(x + 6, y - 6, str(level), f'font-size="11" fill="{ink}"'))
        y = top + size + 50 + 20 * number
        parts.append(svg.text(left - 20, y, sentence, f'font-size="14" fill="{ink}"'))
    y = top + size + 50 + 20 * len(paths.sentences)
    told = "0 is the embedding, the same in all; n is after block n − 1; two main directions (PCA)"
    parts.append(svg.text(left - 20, y + 6, told, 'font-size="12" fill="#555"'))
    return svg.document(620, y + 34, title, parts)
