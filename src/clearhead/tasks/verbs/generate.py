"""The commands for plain texts."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearhead.data.texts import TextReport, Texts
from clearhead.engine.memory import Wanted
from clearhead.errors import InputError
from clearhead.tasks.verbs import Scored

if TYPE_CHECKING:
    from clearhead.tasks.generate.generator import Generator

__all__ = ["evaluate", "examine", "load", "open_data", "sizes", "takes_model", "train"]

takes_model = False
N_CONTEXT = 256
"""How many tokens a model sees at once, if its card does not say."""


def sizes() -> Sequence[str]:
    """Of decoders by themselves."""
    from clearhead.tasks.generate.plan import SIZES

    return tuple(SIZES)


def open_data(paths: Sequence[Path], columns: tuple[str, str] | None = None) -> Texts:
    """Files, or all that folders hold."""
    return Texts(paths)


def examine(data: Texts, test: Texts | None = None) -> TextReport:
    """Every file looked at."""
    return data.examine([document.text for document in test or ()])[0]


def train(data: Texts, to: Path, **options: Any) -> "Generator":
    """A model that writes on."""
    from clearhead.tasks.generate.train import train_generator

    return train_generator(data, to, **options)


def load(folder: Path, precision: Wanted = "auto") -> "Generator":
    """A model that writes on, from its folder."""
    from clearhead.tasks.generate.generator import Generator

    return Generator.load(folder, precision)


def evaluate(folder: Path, data: Texts, **options: Any) -> Scored:
    """How well the texts are guessed, beside gzip and xz."""
    from clearhead.tasks.generate.evaluate import guess, score_texts

    texts = [document.text for document in data]
    if not texts:
        raise InputError(f"{', '.join(map(str, data.given))} holds no text: nothing can be scored")
    generator = load(folder)
    plan = generator.card.get("plan")
    context = plan.get("context", N_CONTEXT) if isinstance(plan, dict) else N_CONTEXT
    found = guess(generator.model, generator.tokenizer, texts, context)
    return Scored(score_texts(found, (), texts), found.n_characters, "characters")
