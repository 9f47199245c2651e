"""The commands for plain texts with gaps."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearhead.data.texts import TextReport, Texts
from clearhead.engine.memory import Wanted
from clearhead.errors import InputError
from clearhead.tasks.verbs import Scored

if TYPE_CHECKING:
    from clearhead.tasks.fill.filler import Filler

__all__ = ["evaluate", "examine", "load", "open_data", "sizes", "takes_model", "train"]

takes_model = True


def sizes() -> Sequence[str]:
    """Of encoders by themselves."""
    from clearhead.tasks.fill.plan import SIZES

    return tuple(SIZES)


def open_data(paths: Sequence[Path], columns: tuple[str, str] | None = None) -> Texts:
    """Files, or all that folders hold."""
    return Texts(paths, "task: fill, as asked: hidden tokens of plain texts are guessed")


def examine(data: Texts, test: Texts | None = None) -> TextReport:
    """Every file looked at."""
    return data.examine([document.text for document in test or ()])[0]


def train(data: Texts, to: Path, **options: Any) -> "Filler":
    """A model that fills gaps."""
    from clearhead.tasks.fill.train import train_filler

    return train_filler(data, to, **options)


def load(folder: Path, precision: Wanted = "auto") -> "Filler":
    """A model that fills gaps, from its folder."""
    from clearhead.tasks.fill.filler import Filler

    return Filler.load(folder, precision)


def evaluate(folder: Path, data: Texts, **options: Any) -> Scored:
    """How well hidden tokens are guessed, beside the most frequent one."""
    from clearhead.tasks.fill.evaluate import guess_gaps, hide_tokens, score_gaps

    texts = [document.text for document in data]
    if not texts:
        raise InputError(f"{', '.join(map(str, data.given))} holds no text: nothing can be scored")
    filler = load(folder)
    hidden = hide_tokens(filler.tokenizer, texts)
    found = guess_gaps(filler.model, filler.tokenizer, hidden, filler.context)
    scores = score_gaps(found, hidden, filler.tokenizer, None)
    return Scored(scores, hidden.n_hidden, "tokens")
