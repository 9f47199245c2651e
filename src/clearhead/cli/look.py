"""`clearhead look`: see what a model does with a text, in the terminal or as a picture."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from clearhead.decoding import SearchLog
from clearhead.errors import InputError
from clearhead.observe import views
from clearhead.observe.forced import Forced, force
from clearhead.observe.picture import Picture
from clearhead.observe.words import word_paths
from clearhead.tasks import Translator

__all__ = ["VIEWS", "show_look"]


@dataclass(frozen=True)
class _Wish:
    """What to look at: texts, and for some views the target, the word or the kind of heads."""

    translator: Translator
    texts: tuple[str, ...]
    target: str | None
    word: str | None
    kind: str
    n_beams: int

    @property
    def text(self) -> str:
        """The one text of most views."""
        if len(self.texts) != 1:
            raise InputError(f"this view shows one text, and {len(self.texts)} were given")
        return self.texts[0]

    def answer(self) -> str:
        """What is written: the given target, or what the model answers."""
        return self.target or self.translator(self.text, n_beams=self.n_beams).text

    def search(self) -> SearchLog:
        """How the answer to the text was found."""
        log = self.translator(self.text, n_beams=self.n_beams, log=True).search
        if log is None:
            raise InputError(f"this view shows the search for one sentence, not {self.text[:30]!r}")
        return log

    def pair(self) -> Forced:
        """The text with what is written, ready to be looked at."""
        return force(self.translator.model, self.translator.tokenizer, self.text, self.answer())


def show_look(
    folder: Path,
    texts: tuple[str, ...],
    *,
    view: str,
    out: Path | None = None,
    target: str | None = None,
    word: str | None = None,
    kind: str = "cross",
    n_beams: int = 5,
) -> None:
    """Print a view, or write it to a file."""
    wish = _Wish(Translator.load(folder), texts, target, word, kind, n_beams)
    picture = VIEWS[view](wish)
    if out is None:
        click.echo(picture.text)
        return
    picture.save(out)
    click.echo(f"{picture.title}: {out}", err=True)


def _align(wish: _Wish) -> Picture:
    model, tokenizer = wish.translator.model, wish.translator.tokenizer
    return views.align_view(model, tokenizer, wish.text, wish.answer())


def _heads(wish: _Wish) -> Picture:
    return views.heads_view(wish.pair(), wish.kind)


def _tree(wish: _Wish) -> Picture:
    return views.tree_view(wish.search(), wish.translator.tokenizer.tokens, wish.text)


def _layers(wish: _Wish) -> Picture:
    return views.layers_view(wish.pair(), wish.translator.tokenizer.tokens)


def _words(wish: _Wish) -> Picture:
    if wish.word is None:
        raise InputError("the view words follows one word: give --word, and two sentences with it")
    model, tokenizer = wish.translator.model, wish.translator.tokenizer
    return views.words_view(word_paths(model, tokenizer, wish.word, wish.texts))


def _positions(wish: _Wish) -> Picture:
    config = wish.translator.model.config
    if config.positions != "sinusoidal":
        raise InputError(f"this model has {config.positions} positions: there are no waves to see")
    return views.positions_view(config.block.d_model)


def _steps(wish: _Wish) -> Picture:
    return views.steps_view(wish.search(), wish.translator.tokenizer.tokens, wish.text)


def _norms(wish: _Wish) -> Picture:
    return views.norms_view(wish.pair())


def _cost(wish: _Wish) -> Picture:
    pair = wish.pair()
    return views.cost_view(wish.translator.model, len(pair.source), len(pair.target))


VIEWS: Final[dict[str, Callable[[_Wish], Picture]]] = {
    "align": _align,
    "heads": _heads,
    "tree": _tree,
    "layers": _layers,
    "words": _words,
    "positions": _positions,
    "steps": _steps,
    "norms": _norms,
    "cost": _cost,
}
