"""What can be looked at in a classifier."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from clearhead.cli.run_options import refuse_writing
from clearhead.errors import InputError, nearest
from clearhead.observe.drawing import Picture
from clearhead.observe.names import name_pieces
from clearhead.observe.reading import Reading
from clearhead.observe.views.cost import cost_view
from clearhead.observe.views.heads import reading_heads_view
from clearhead.observe.views.label import label_view
from clearhead.tasks.classify.classifier import Classifier

__all__ = ["VIEWS", "look"]


@dataclass(frozen=True)
class _Wish:
    """What to look at: a text, and a label that it may have."""

    reading: Reading
    label: str
    probability: float
    place: tuple[int | None, int | None]
    """Block and head."""


def look(
    folder: Path,
    texts: tuple[str, ...],
    *,
    view: str,
    target: str | None = None,
    block: int | None = None,
    head: int | None = None,
    kind: str = "encoder",
    **options: Any,
) -> Picture:
    """Draw a view of what the model does with a text; `target` is a label to ask about."""
    refuse_writing(options, "says labels")
    if len(texts) != 1:
        raise InputError(f"this view shows one text, and {len(texts)} were given")
    classifier = Classifier.load(folder)
    found = classifier(texts[0])
    label = found.label if target is None else target
    if label not in found.probabilities:
        raise InputError(f"no label {label!r}: {nearest(label, classifier.labels)}")
    (tokens,) = classifier.reader.read(texts)
    names = name_pieces(classifier.tokenizer.tokens(tokens))
    number = classifier.labels.index(label)
    reading = Reading(classifier.model, tokens, names, label=number)
    return VIEWS[view](_Wish(reading, label, found.probabilities[label], (block, head)))


def _label(wish: _Wish) -> Picture:
    return label_view(wish.reading, wish.label, wish.probability)


def _heads(wish: _Wish) -> Picture:
    return reading_heads_view(wish.reading, *wish.place)


def _cost(wish: _Wish) -> Picture:
    return cost_view(wish.reading.model, len(wish.reading.tokens))


VIEWS: Final[dict[str, Callable[[_Wish], Picture]]] = {
    "label": _label,
    "heads": _heads,
    "cost": _cost,
}
