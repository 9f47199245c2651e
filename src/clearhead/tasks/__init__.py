"""Tasks: one line through all rooms, from input to output, with its score and its baseline.

A name is imported when it is first asked for: who translates needs nothing of training and scoring.
`train` and `evaluate` are in the modules of their names.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clearhead.tasks.glossary import read_glossary
    from clearhead.tasks.translate import Translator
    from clearhead.tasks.translation import Translation

__all__ = ["Translation", "Translator", "read_glossary"]

_PLACES = {"Translation": "translation", "Translator": "translate", "read_glossary": "glossary"}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
