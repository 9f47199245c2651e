"""The dimension key: one letter for each axis, the same in every file.

Shapes are written as types, `Float[Tensor, "B T D"]`. The tests check them at run time, in
production they cost nothing. Axis order is always batch, head, time, width.
"""

from typing import Final

__all__ = ["AXES", "axis_names"]

AXES: Final[dict[str, str]] = {
    "B": "batch",
    "T": "query",
    "S": "key",
    "D": "model width",
    "H": "head",
    "G": "key/value head",
    "K": "head width",
    "F": "feed-forward width",
    "V": "vocabulary",
    "E": "expert",
    "C": "chosen expert",
    "W": "beam",
    "L": "block",
    "Y": "label",
}
"""Letter → what the axis counts. `docs/notation.md` relates them to the paper's symbols."""


def axis_names(axes: str) -> tuple[str, ...]:
    """Spell a shape out.

    >>> axis_names("B H T S")
    ('batch', 'head', 'query', 'key')
    """
    return tuple(AXES[letter] for letter in axes.split())
