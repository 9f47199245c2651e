"""What can be looked at in a model that answers questions."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from clearhead.cli.run_options import refuse_writing
from clearhead.errors import InputError
from clearhead.observe.drawing import Picture
from clearhead.observe.names import name_pieces
from clearhead.observe.reading import Reading
from clearhead.observe.views.cost import cost_view
from clearhead.observe.views.heads import reading_heads_view
from clearhead.observe.views.span import Marked, span_view
from clearhead.tasks.answer.answerer import Answerer
from clearhead.tasks.answer.reading import Read
from clearhead.tasks.answer.spans import Spans

__all__ = ["VIEWS", "look"]


@dataclass(frozen=True)
class _Wish:
    """What to look at: a question and a text."""

    answerer: Answerer
    question: str
    context: str
    place: tuple[int | None, int | None]
    """Block and head."""

    @cached_property
    def found(self) -> tuple[Read, Spans]:
        """What was read, and all spans."""
        return next(self.answerer.look_at([(self.question, self.context)]))

    def row(self) -> tuple[list[int], list[int]]:
        """The tokens and segments of the window that holds the best answer."""
        read, spans = self.found
        (first, last, _), *_ = spans.best(1)
        holding = [
            window
            for window, begin in enumerate(read.begins)
            if begin <= first and last < begin + read.n_context(window)
        ]
        row = read.rows[holding[0]]
        return list(row.tokens), list(row.segments or ())


def look(
    folder: Path,
    texts: tuple[str, ...],
    *,
    view: str,
    block: int | None = None,
    head: int | None = None,
    kind: str = "encoder",
    **options: Any,
) -> Picture:
    """Draw a view of what the model does with a question and a text."""
    refuse_writing(options, "finds answers in a text")
    if len(texts) != 2:
        raise InputError(
            f"this model answers a question from a text: give QUESTION CONTEXT, and not "
            f"{len(texts)} text{'s' * (len(texts) != 1)}"
        )
    return VIEWS[view](_Wish(Answerer.load(folder), *texts, (block, head)))


def _span(wish: _Wish) -> Picture:
    read, spans = wish.found
    (first, last, probability), *_ = spans.best(1)
    text, start, end = read.text(first, last)
    is_found = probability >= spans.refusal
    marked = Marked(
        wish.context,
        name_pieces(wish.answerer.tokenizer.tokens(read.placed.tokens)),
        spans.starts.tolist(),
        spans.ends.tolist(),
        (first, last) if is_found else None,
        (start, end) if is_found else None,
    )
    told = (text, probability) if is_found else ("", spans.refusal)
    return span_view(marked, wish.question, *told, spans.refusal)


def _heads(wish: _Wish) -> Picture:
    tokens, segments = wish.row()
    names = name_pieces(wish.answerer.tokenizer.tokens(tokens))
    return reading_heads_view(Reading(wish.answerer.model, tokens, names, segments), *wish.place)


def _cost(wish: _Wish) -> Picture:
    return cost_view(wish.answerer.model, len(wish.row()[0]))


VIEWS: Final[dict[str, Callable[[_Wish], Picture]]] = {
    "span": _span,
    "heads": _heads,
    "cost": _cost,
}
