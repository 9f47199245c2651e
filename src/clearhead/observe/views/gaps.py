"""The candidates of each gap, with their probabilities."""

from collections.abc import Sequence
from dataclasses import asdict

from clearhead.observe.drawing import Picture, columns
from clearhead.observe.names import inert, name_piece
from clearhead.observe.views.steps import Option, options_svg

__all__ = ["gaps_view"]

BAR = 20
"""How many letters a certain candidate is long in a terminal."""


def gaps_view(text: str, gaps: Sequence[Sequence[tuple[str, float]]]) -> Picture:
    """Of each gap of a text the tokens that could stand there, the most probable first."""
    title = f"What could stand in the gaps: {inert(text)}"
    note = "the most probable tokens of each gap, guessed from both sides; the first is taken"
    options = [
        [Option(name_piece(token), p, p, None, n == 0) for n, (token, p) in enumerate(some)]
        for some in gaps
    ]
    heads = [f"gap {number}" for number in range(1, len(gaps) + 1)]
    table = [["gap", "token", "probability", ""]]
    for number, some in enumerate(options, 1):
        for one in some:
            table.append([str(number), one.token, f"{one.p:.3f}", "█" * round(BAR * one.p)])
    return Picture(
        title,
        options_svg(options, heads, title, note),
        f"{title}\n{note}\n\n{columns(table, right=(0, 2))}",
        {"gaps": [[asdict(one) for one in some] for some in options]},
    )
