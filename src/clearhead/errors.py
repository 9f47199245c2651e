"""What can go wrong, said in the user's words: what was given, what is allowed, what to do."""

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["ClearheadError", "ConfigError", "InputError", "nearest"]


class ClearheadError(Exception):
    """Any error that the user can mend; its text is one clear sentence."""


class ConfigError(ClearheadError, ValueError):
    """A model or a run was asked for that cannot be built."""


class InputError(ClearheadError, ValueError):
    """A value was given to a model or a file reader that it cannot take."""


def nearest(name: str, known: Iterable[str]) -> str:
    """End an error text: the nearest known name, or all of them.

    >>> nearest("d_modle", ["d_ff", "d_model"])
    'did you mean d_model?'
    >>> nearest("colour", ["d_ff", "d_model"])
    'known: d_ff, d_model'
    """
    known = sorted(known)
    close = get_close_matches(name, known, n=1)
    return f"did you mean {close[0]}?" if close else f"known: {', '.join(known)}"
