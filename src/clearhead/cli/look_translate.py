"""What can be looked at in a translator."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final

from clearhead.data import Pair, open_pairs
from clearhead.decoding import SearchLog
from clearhead.errors import InputError
from clearhead.models import Transformer
from clearhead.observe import views
from clearhead.observe.alignment import cross_attention
from clearhead.observe.drawing import Picture
from clearhead.observe.forced import Forced, force
from clearhead.observe.heads import Kind, head_statistics
from clearhead.observe.words import word_paths
from clearhead.tasks import Translator
from clearhead.tasks.alignment import N_LOOKED_AT, aligner_in, choose_aligner, learn_lexicon

__all__ = ["VIEWS", "look"]

N_READ = 5000
"""So many pairs of a file are used, to learn which words belong together."""

OF_TRANSFORMERS = ("layers", "positions", "cost")
"""Views that need to know how the model is built."""


@dataclass(frozen=True)
class _Wish:
    """What to look at: texts, and for some views the target, the word or the heads."""

    translator: Translator
    texts: tuple[str, ...]
    target: str | None
    word: str | None
    kind: Kind
    place: tuple[int | None, int | None]
    """Block and head."""
    files: tuple[Path, ...]
    settings: dict[str, Any]

    @property
    def text(self) -> str:
        """The one text of most views."""
        if len(self.texts) != 1:
            raise InputError(f"this view shows one text, and {len(self.texts)} were given")
        return self.texts[0]

    def answer(self) -> str:
        """What is written: the given target, or what the model answers."""
        return self.target or self.translator(self.text, **self.settings).text

    def search(self) -> SearchLog:
        """How the answer to the text was found."""
        log = self.translator(self.text, **self.settings, log=True).search
        if log is None:
            raise InputError(f"this view shows the search for one sentence, not {self.text[:30]!r}")
        return log

    def pair(self) -> Forced:
        """The text with what is written, ready to be looked at."""
        return self.force(self.text, self.answer())

    def force(self, source: str, target: str) -> Forced:
        """A pair, as much of its source as the model reads."""
        model, tokenizer = self.translator.model, self.translator.tokenizer
        return force(model, tokenizer, source, target, self.translator.max_source)

    @cached_property
    def pairs(self) -> list[Pair]:
        """The pairs on which heads are described."""
        whole = (pair for pair in open_pairs(self.files) if pair.source and pair.target)
        found = list(islice(whole, N_READ))
        if not found:
            raise InputError(f"{self.files[0]} holds no pair with both sides")
        return found


def look(
    folder: Path,
    texts: tuple[str, ...],
    *,
    view: str,
    target: str | None = None,
    word: str | None = None,
    kind: Kind = "cross",
    block: int | None = None,
    head: int | None = None,
    pairs: Sequence[Path] = (),
    loaded: type[Translator] = Translator,
    **settings: Any,
) -> Picture:
    """Draw a view of what the model does with texts; `loaded` is what it becomes."""
    given = {name: value for name, value in settings.items() if value is not None}
    translator = loaded.load(folder)
    if view in OF_TRANSFORMERS and not isinstance(translator.model, Transformer):
        kind = type(translator.model).__name__
        raise InputError(
            f"the view {view} knows the Transformer, and {folder} holds a {kind}: choose another"
        )
    wish = _Wish(translator, texts, target, word, kind, (block, head), tuple(pairs), given)
    return VIEWS[view](wish)


def _align(wish: _Wish) -> Picture:
    model, tokenizer = wish.translator.model, wish.translator.tokenizer
    seen = cross_attention(wish.pair())
    block, head = wish.place
    why = ""
    if block is None or head is None:
        aligner = aligner_in(wish.translator.card)
        why = "this head aligned best on validation pairs"
        if wish.files:
            longest = wish.translator.max_source
            aligner = choose_aligner(model, tokenizer, wish.pairs, max_source=longest)
            why = f"this head aligns best on pairs of {wish.files[0].name}"
        if aligner is None:
            (block, head), why = seen.sharpest(), "the most decided head for this pair"
        else:
            block, head = aligner.block, aligner.head
            why += f": right for {aligner.agreement:.0%} of {aligner.n_links} words"
    n_blocks, n_heads = seen.weights.shape[:2]
    if not (block < n_blocks and head < n_heads):
        raise InputError(
            f"there is no head {head} in block {block}: the decoder has blocks 0 to {n_blocks - 1} "
            f"with heads 0 to {n_heads - 1}"
        )
    return views.align_view(seen, block, head, source=wish.text, why=why)


def _heads(wish: _Wish) -> Picture:
    block, head = wish.place
    if head is not None:
        return views.head_view(wish.pair(), wish.kind, block or 0, head)
    if not wish.files:
        return views.heads_view(wish.pair(), wish.kind)
    some = [wish.force(pair.source, pair.target) for pair in wish.pairs[:N_LOOKED_AT]]
    lexicon = learn_lexicon(wish.translator.tokenizer, wish.pairs)
    described = head_statistics(some, lexicon=lexicon, with_effects=True)
    why = f"means over {len(some)} pairs of {wish.files[0].name}"
    return views.heads_view(wish.pair(), wish.kind, described, why)


def _tree(wish: _Wish) -> Picture:
    if "temperature" in wish.settings:
        raise InputError("the view tree shows a search: leave out --temperature")
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
    if config.positions == "learned":
        raise InputError("this model has learned positions: there are no waves to see")
    return views.positions_view(config.block.d_model, sines_first=config.positions == "sines_first")


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
