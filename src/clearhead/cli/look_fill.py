"""What can be looked at in a model that fills gaps."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from clearhead.cli.run_options import refuse_writing
from clearhead.errors import InputError
from clearhead.observe import views
from clearhead.observe.drawing import Picture
from clearhead.observe.reading import Reading
from clearhead.tasks.fill.filler import Filler

__all__ = ["VIEWS", "look"]

N_SHOWN = 8


@dataclass(frozen=True)
class _Wish:
    """What to look at: a text, and for heads one of them."""

    filler: Filler
    text: str
    block: int | None
    head: int | None

    def reading(self) -> Reading:
        """The text as the model reads it."""
        filler = self.filler
        tokens = filler.tokens_of(filler.parts(self.text))
        return Reading(filler.model, tokens, filler.tokenizer.tokens(tokens))


def look(
    folder: Path,
    texts: tuple[str, ...],
    *,
    view: str,
    block: int | None = None,
    head: int | None = None,
    kind: str | None = None,
    **options: Any,
) -> Picture:
    """Draw a view of what the model does with a text that has gaps."""
    refuse_writing(options, "fills gaps")
    if len(texts) != 1:
        raise InputError(f"this view shows one text, and {len(texts)} were given")
    return VIEWS[view](_Wish(Filler.load(folder), texts[0], block, head))


def _gaps(wish: _Wish) -> Picture:
    found = wish.filler(wish.text, n_best=N_SHOWN)
    gaps = [[(one.token, one.probability) for one in some] for some in found.gaps]
    return views.gaps_view(wish.text, gaps)


def _heads(wish: _Wish) -> Picture:
    return views.reading_heads_view(wish.reading(), wish.block, wish.head)


def _layers(wish: _Wish) -> Picture:
    reading, mask = wish.reading(), wish.filler.tokenizer.mask
    places = [place for place, token in enumerate(reading.tokens) if token == mask]
    return views.gap_layers_view(reading, places, wish.filler.tokenizer.tokens)


def _cost(wish: _Wish) -> Picture:
    reading = wish.reading()
    n_gaps = list(reading.tokens).count(wish.filler.tokenizer.mask)
    return views.cost_view(reading.model, len(reading.tokens), n_scored=n_gaps)


VIEWS: Final[dict[str, Callable[[_Wish], Picture]]] = {
    "gaps": _gaps,
    "heads": _heads,
    "layers": _layers,
    "cost": _cost,
}
