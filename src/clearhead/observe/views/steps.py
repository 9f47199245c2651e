"""The candidates at each step of an answer, with their probabilities, and what rules do to them."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from clearhead.decoding.log import Choice, SearchLog
from clearhead.observe.drawing import Picture, columns, svg
from clearhead.observe.names import name_piece

__all__ = ["Option", "options_svg", "steps_view"]

Decode = Callable[[Sequence[int]], list[str]]
PAGE = 1400


@dataclass(frozen=True)
class Option:
    """A token that could come, or stand somewhere."""

    token: str
    p: float
    """As the model says."""
    p_after: float
    """After all rules."""
    ruled_out_by: str | None
    written: bool

    def __str__(self) -> str:
        if self.ruled_out_by:
            return f"{self.token} {_share(self.p)} ({self.ruled_out_by})"
        is_same = abs(self.p - self.p_after) < 0.005
        return f"{self.token} {_share(self.p)}" + ("" if is_same else f"→{_share(self.p_after)}")


def _share(p: float) -> str:
    return f"{p:.2f}" if p >= 0.005 else "<.01"


def steps_view(log: SearchLog, decode: Decode, text: str, n_shown: int = 4) -> Picture:
    """The most probable tokens at each step, and the one that was written, with every rule.

    For several answers that were drawn, the first is shown.
    """
    title = f"Step by step: {text}"
    note = "at each position the most probable tokens; the one that was written is bold"
    told = "the written token first, then others that were probable"
    if log.choices:
        steps = [_from_choice(choice, decode, n_shown) for choice in log.choices if choice.row == 0]
        rules = [stage.rule for stage in log.choices[0].stages[1:]]
        if rules:
            note += f"; light: the model, dark: after {', '.join(rules)}"
            told += f"; the model's probability → that after {', '.join(rules)}"
    else:
        steps = list(_from_nodes(log, decode, n_shown))
    table = [["step", "written", *[""] * (n_shown - 1)]]
    for number, some in enumerate(steps):
        written = next(str(one) for one in some if one.written)
        others = [str(one) for one in some if not one.written]
        table.append([str(number), written, *others, *[""] * (n_shown - 1 - len(others))])
    return Picture(
        title,
        options_svg(steps, [f"step {n}" for n in range(len(steps))], title, note),
        f"{title}\n{told}\n\n{columns(table, right=(0,))}",
        {"steps": [[asdict(one) for one in some] for some in steps]},
    )


def _from_choice(choice: Choice, decode: Decode, n_shown: int) -> list[Option]:
    """The candidates with the largest probability before or after the rules."""
    first, last = choice.stages[0], choice.stages[-1]
    order = sorted(first.p, key=lambda token: -max(first.p[token], last.p[token]))[:n_shown]
    shown = order if choice.token in order else [*order[:-1], choice.token]
    found = []
    for token in shown:
        ruled_out = next((stage.rule for stage in choice.stages if not stage.p[token]), None)
        (piece,) = decode([token])
        found.append(
            Option(
                name_piece(piece), first.p[token], last.p[token], ruled_out, token == choice.token
            )
        )
    return found


def _from_nodes(log: SearchLog, decode: Decode, n_shown: int) -> Iterator[list[Option]]:
    """Along the best answer of a search with beams: what competed with each of its tokens."""
    for node in log.path(log.best[0]) if log.best else []:
        rivals = [n for n in log.nodes if n.parent == node.parent and n.step == node.step]
        best = sorted(rivals, key=lambda n: -n.log_prob)[:n_shown]
        shown = best if node in best else [*best[:-1], node]
        names = [name_piece(piece) for piece in decode([n.token for n in shown])]
        yield [
            Option(name, math.exp(n.log_prob), math.exp(n.log_prob), None, n is node)
            for name, n in zip(names, shown, strict=True)
        ]


def options_svg(
    steps: Sequence[Sequence[Option]], heads: Sequence[str], title: str, note: str
) -> str:
    """A column below each heading, as many beside each other as a page is wide; bars show p."""
    labels = [str(one) for some in steps for one in some]
    width = max(110.0, 24 + max((svg.width_of(label, 13) for label in labels), default=60))
    left, top, down = svg.MARGIN, 92, 38
    deepest = max((len(some) for some in steps), default=0)
    per_row = max(1, min(len(steps), int(PAGE // width)))
    row_height = down * deepest + 34
    parts = svg.heading(title, note)
    for number, some in enumerate(steps):
        x, begin = left + width * (number % per_row), top + row_height * (number // per_row)
        parts.append(svg.text(x, begin, heads[number], 'font-size="11" fill="#555"'))
        for place, one in enumerate(some):
            y = begin + 24 + down * place
            weight = 'font-weight="700"' if one.written else 'fill="#555"'
            if one.ruled_out_by:
                weight += ' text-decoration="line-through"'
            parts.append(svg.text(x, y, str(one), f'font-size="13" {weight}'))
            room = width - 26
            parts.append(svg.rect(x, y + 5, max(1.0, room * one.p), 7, svg.colour(0.3)))
            if one.p_after:
                ink = svg.colour(1.0 if one.written else 0.6)
                parts.append(svg.rect(x, y + 7, max(1.0, room * one.p_after), 3, ink))
    total = max(left + width * per_row + svg.MARGIN, svg.heading_width(title, note))
    n_rows = -(-len(steps) // per_row)
    return svg.document(total, top + row_height * n_rows, title, parts)
