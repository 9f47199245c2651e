"""Texts of any length: cut where the model can follow, so that nothing is lost or cut off.

One line stays in one piece if it is not longer than what the model has learned from. A text of
several lines, and a longer line, becomes sentences; and a sentence that is still too long is cut at
the best place there is.
"""

from clearhead.text import AnyTokenizer
from clearhead.text.sentences import Piece, split

__all__ = ["cut", "even", "has_lines"]


def even(text: str) -> str:
    r"""Single spaces, and none outside: as the doctor evens the training data.

    >>> even(" How  are\nyou? ")
    'How are you?'
    """
    return " ".join(text.split())


def has_lines(text: str) -> bool:
    r"""Whether there is a line break between two texts.

    >>> has_lines("One.\nTwo."), has_lines("One.\n")
    (True, False)
    """
    return len(text.strip().splitlines()) > 1


def cut(text: str, language: str | None, longest: int, tokenizer: AnyTokenizer) -> list[Piece]:
    """Sentences of at most `longest` tokens, and what stands between them; nothing is lost."""
    pieces: list[Piece] = []
    for piece in split(text, language, max(1, len(text))):
        pieces += _shorten(piece, language, longest, tokenizer) if piece.is_sentence else [piece]
    return pieces


def _shorten(
    piece: Piece, language: str | None, longest: int, tokenizer: AnyTokenizer
) -> list[Piece]:
    n_tokens = len(tokenizer.encode(even(piece.text)))
    n_characters = len(piece.text)
    if n_tokens <= longest or n_characters == 1:
        return [piece]
    # As many characters as have `longest` tokens, if tokens are spread evenly; else cut again.
    shorter = split(piece.text, language, max(1, n_characters * longest // n_tokens))
    return [
        part
        for each in shorter
        for part in (_shorten(each, language, longest, tokenizer) if each.is_sentence else [each])
    ]
