"""Tasks: one line through all rooms, from input to output, with its score and its baseline.

A name is imported when it is first asked for: who translates needs nothing of training and scoring.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clearhead.tasks.evaluate import Evaluation, Sample, evaluate
    from clearhead.tasks.glossary import read_glossary
    from clearhead.tasks.train import train
    from clearhead.tasks.translate import Translation, Translator

__all__ = [
    "Evaluation",
    "Sample",
    "Translation",
    "Translator",
    "evaluate",
    "read_glossary",
    "train",
]

_PLACES = {
    "Evaluation": "evaluate",
    "Sample": "evaluate",
    "Translation": "translate",
    "Translator": "translate",
    "evaluate": "evaluate",
    "read_glossary": "glossary",
    "train": "train",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = value  # also in the place of the module of the same name
    return value
