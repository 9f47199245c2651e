"""Places by name, or by a pattern: `decoder.*.cross_attention.weights`."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

from clearhead.errors import InputError, nearest
from clearhead.layers.tap import Tap, taps
from clearhead.models import Model

__all__ = ["find_points"]


def find_points(model: Model, patterns: Iterable[str]) -> dict[str, Tap]:
    """The places that fit any of the patterns; `*` stands for any text, dots included."""
    known = taps(model)
    found: dict[str, Tap] = {}
    for pattern in patterns:
        fitting = {name: tap for name, tap in known.items() if fnmatchcase(name, pattern)}
        if not fitting:
            raise InputError(f"the model has no point {pattern!r}: {_advice(pattern, known)}")
        found |= fitting
    return found


def _advice(pattern: str, known: Iterable[str]) -> str:
    told = nearest(pattern, known)
    return told if told.startswith("did") else "`model.points()` lists them"
