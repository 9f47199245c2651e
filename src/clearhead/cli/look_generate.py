"""What can be looked at in a model that continues texts."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from clearhead.errors import InputError
from clearhead.observe import views
from clearhead.observe.drawing import Picture
from clearhead.observe.forced import Forced, force_text
from clearhead.tasks.generate.generator import Continuation, Generator

__all__ = ["VIEWS", "look"]

N_WRITTEN = 12
"""So many tokens are written to look at; more do not fit a page."""


@dataclass(frozen=True)
class _Wish:
    """What to look at: how a text begins, how it goes on, and for heads which one."""

    generator: Generator
    text: str
    target: str | None
    place: tuple[int | None, int | None]
    settings: dict[str, Any]

    def write(self, **more: Any) -> Continuation:
        """Go on with the text; the most probable token each time, unless asked otherwise."""
        settings = {"temperature": 0.0, "max_length": N_WRITTEN, **self.settings, **more}
        return self.generator(self.text, **settings)

    def whole(self) -> Forced:
        """The text with its continuation, ready to be looked at."""
        end = self.write().text if self.target is None else self.target
        return force_text(self.generator.model, self.generator.tokenizer, self.text + end)


def look(
    folder: Path,
    texts: tuple[str, ...],
    *,
    view: str,
    target: str | None = None,
    block: int | None = None,
    head: int | None = None,
    **options: Any,
) -> Picture:
    """Draw a view of how the model goes on with a text."""
    if len(texts) != 1:
        raise InputError(f"each view shows one text, and {len(texts)} were given")
    for name in ("word", "pairs"):
        if options.pop(name, None):
            raise InputError(f"--{name} is for translators, and this model continues texts")
    options.pop("kind", None)  # there is one kind of attention
    settings = {name: value for name, value in options.items() if value is not None}
    wish = _Wish(Generator.load(folder), texts[0], target, (block, head), settings)
    return VIEWS[view](wish)


def _steps(wish: _Wish) -> Picture:
    log = wish.write(log=True).search
    assert log is not None
    return views.steps_view(log, wish.generator.tokenizer.tokens, wish.text)


def _heads(wish: _Wish) -> Picture:
    block, head = wish.place
    if head is not None:
        return views.head_view(wish.whole(), "decoder", block or 0, head)
    return views.heads_view(wish.whole(), "decoder")


def _layers(wish: _Wish) -> Picture:
    return views.layers_view(wish.whole(), wish.generator.tokenizer.tokens)


def _tree(wish: _Wish) -> Picture:
    if "temperature" in wish.settings:
        raise InputError("the view tree shows a search: leave out --temperature")
    log = wish.write(**{"n_beams": 4, **wish.settings, "log": True}).search
    assert log is not None
    return views.tree_view(log, wish.generator.tokenizer.tokens, wish.text)


def _norms(wish: _Wish) -> Picture:
    return views.norms_view(wish.whole())


def _cost(wish: _Wish) -> Picture:
    n_read = len(wish.generator.tokenizer.encode(wish.text))
    n_all = len(wish.whole().target)
    return views.cost_view(wish.generator.model, n_read, max(1, n_all - n_read))


VIEWS: Final[dict[str, Callable[[_Wish], Picture]]] = {
    "steps": _steps,
    "heads": _heads,
    "layers": _layers,
    "tree": _tree,
    "norms": _norms,
    "cost": _cost,
}
