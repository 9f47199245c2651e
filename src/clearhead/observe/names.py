"""Pieces of text as people can read them: no broken letters, and nothing that acts by itself."""

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from clearhead.text.normal import BYTES

__all__ = ["inert", "name_piece", "name_pieces", "spell"]

_NUMBERS: Final = {piece: number for number, piece in enumerate(BYTES)}
_JOINERS: Final = "\u200c\u200d"
"""Marks without a shape that scripts of India and Iran need."""
_ACTING: Final = ("Cc", "Cf", "Cs", "Zl", "Zp")


def inert(text: str) -> str:
    r"""No control characters, and nothing that turns the direction of what follows.

    >>> inert("a\u202eb\n")
    'a⟨U+202E⟩b␣'
    """
    return "".join(map(_inert, text))


def _inert(c: str) -> str:
    if c in "\t\n\r":
        return "␣"
    is_acting = unicodedata.category(c) in _ACTING and c not in _JOINERS
    # The last two of each plane are no characters, and make XML invalid.
    return f"⟨U+{ord(c):04X}⟩" if is_acting or ord(c) & 0xFFFE == 0xFFFE else c


def name_pieces(pieces: Sequence[str]) -> list[str]:
    """Names for the pieces of a text, in their order; single bytes are parts of their letter.

    >>> name_pieces(["▁ice", "-", "▁", "▁क", "ी", "<0xC3>", "<0xA9>"])
    ['ice', '-', '␣', 'क', '◌ी', 'é 1/2', 'é 2/2']
    """
    names: list[str] = []
    for run in _runs(pieces):
        if run[0] in _NUMBERS:
            names += _name_bytes(run)
        else:
            names.append(_name(run[0]))
    return names


def name_piece(piece: str) -> str:
    """A piece by itself, as one that could come next."""
    return name_pieces([piece])[0]


def spell(pieces: Sequence[str]) -> str:
    """What pieces of one word spell together, without the space before it."""
    data = b"".join(
        bytes([_NUMBERS[piece]]) if piece in _NUMBERS else piece.encode() for piece in pieces
    )
    try:
        return data.decode().removeprefix("▁")
    except UnicodeDecodeError:  # a letter that is cut
        return "".join(pieces).removeprefix("▁")


def _runs(pieces: Sequence[str]) -> Iterator[list[str]]:
    """Bytes that follow each other together, everything else alone."""
    run: list[str] = []
    for piece in pieces:
        if run and not (piece in _NUMBERS and run[0] in _NUMBERS):
            yield run
            run = []
        run.append(piece)
    if run:
        yield run


def _name_bytes(run: Sequence[str]) -> Iterator[str]:
    try:
        letters = bytes(_NUMBERS[piece] for piece in run).decode()
    except UnicodeDecodeError:
        yield from run
        return
    for letter in letters:
        n = len(letter.encode())
        name = _name(letter)
        yield from [name] if n == 1 else (f"{name} {i}/{n}" for i in range(1, n + 1))


def _name(piece: str) -> str:
    name = inert(piece.removeprefix("▁").replace("▁", " ")).strip() or "␣"
    is_mark = unicodedata.category(name[0]).startswith("M") or name[0] in _JOINERS
    return f"◌{name}" if is_mark else name
