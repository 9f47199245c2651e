"""Where in a text an answer begins and ends, and how sure the model is of each place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from clearhead.observe.drawing import Picture, columns, svg
from clearhead.observe.names import inert

__all__ = ["Marked", "span_view"]

N_WIDE: Final = 900
SIZE, HIGH = 15, 44
N_TOLD: Final = 8
"""So many starts and ends are told in a terminal."""


@dataclass(frozen=True)
class Marked:
    """The tokens of a text, each with how probable it is that the answer begins or ends there."""

    text: str
    names: Sequence[str]
    starts: Sequence[float]
    ends: Sequence[float]
    span: tuple[int, int] | None
    """The first and the last token of the answer, if there is one."""
    place: tuple[int, int] | None
    """The same in characters: the first, and the one after the last."""


def span_view(
    marked: Marked, question: str, answer: str, probability: float, refusal: float
) -> Picture:
    """The text with colours: above each token its start, below it its end; a frame is the span."""
    told = f"“{answer}”" if marked.span else "no answer"
    title = f"Answer: {told}, {probability:.0%}"
    note = f"{question}\nabove a token: the answer begins here; below it: the answer ends here"
    if refusal:
        note += f"; no answer: {refusal:.0%}"
    data = {
        "question": question,
        "answer": answer,
        "span": marked.span,
        "probability": probability,
        "refusal": refusal,
        "tokens": list(marked.names),
        "starts": [float(p) for p in marked.starts],
        "ends": [float(p) for p in marked.ends],
    }
    return Picture(title, _draw(marked, title, note), _tell(marked, title, note), data)


def _draw(marked: Marked, title: str, note: str) -> str:
    parts = svg.heading(title, note)
    most = max([*marked.starts, *marked.ends, 1e-9])
    x, y = float(svg.MARGIN), svg.MARGIN + 80.0
    frame = f'stroke="{svg.INK}" stroke-width="1.6"'
    for place, name in enumerate(marked.names):
        width = svg.width_of(name, SIZE) + 6
        if x + width > N_WIDE:
            x, y = float(svg.MARGIN), y + HIGH + 12
        start, end = marked.starts[place], marked.ends[place]
        if marked.span and marked.span[0] <= place <= marked.span[1]:
            parts.append(svg.rect(x - 1, y - 2, width + 2, HIGH + 4, "none", frame))
        tip = f"{name}: begins {start:.4f}, ends {end:.4f}"
        for top, value in ((y, start), (y + HIGH - 9, end)):
            colour = svg.colour((value / most) ** 0.5)
            parts.append(svg.rect(x, top, width, 9, colour, f'stroke="{svg.LINE}"', tip))
        parts.append(svg.text(x + 3, y + 27, name, f'font-size="{SIZE}"'))
        x += width + 2
    legend = svg.legend(svg.MARGIN, y + HIGH + 20, ("0", f"{most:.2g}"), f"{most / 4:.2g}")
    width = max(N_WIDE + svg.MARGIN, svg.heading_width(title, note))
    return svg.document(width, y + HIGH + 70, title, [*parts, *legend])


def _tell(marked: Marked, title: str, note: str) -> str:
    """The same for a terminal: the text with the span in brackets, and the best places."""
    shown = marked.text
    if marked.place:
        start, end = marked.place
        shown = f"{shown[:start]}⟦{shown[start:end]}⟧{shown[end:]}"
    table = [["begins", "", "ends", ""]]
    best = [sorted(range(len(p)), key=lambda n: -p[n]) for p in (marked.starts, marked.ends)]
    for start, end in list(zip(*best, strict=True))[:N_TOLD]:
        table.append(
            [
                f"{marked.starts[start]:.3f}",
                f"{start} {marked.names[start]}",
                f"{marked.ends[end]:.3f}",
                f"{end} {marked.names[end]}",
            ]
        )
    return f"{title}\n{note.splitlines()[0]}\n\n{inert(shown)}\n\n{columns(table)}"
