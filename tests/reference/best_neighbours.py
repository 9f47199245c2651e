"""SentencePiece's byte pairs once more, as slowly and plainly as possible.

Of all neighbours whose joint piece is in the vocabulary, the pair with the best score joins, the
leftmost first; what is no piece in the end becomes bytes.
"""

from itertools import pairwise

__all__ = ["best_neighbours"]


def best_neighbours(text: str, pieces: list[str], scores: list[float]) -> list[int]:
    """Tokens of a text in which a space is ▁ already."""
    known = {piece: token for token, piece in enumerate(pieces)}
    found = list(text)
    while joint := [known.get(left + right, -1) for left, right in pairwise(found)]:
        place = max(range(len(joint)), key=lambda n: (joint[n] >= 0, scores[joint[n]], -n))
        if joint[place] < 0:
            break
        found[place : place + 2] = [pieces[joint[place]]]
    tokens: list[int] = []
    for piece in found:
        in_bytes = [known[f"<0x{byte:02X}>"] for byte in piece.encode()]
        tokens += [known[piece]] if piece in known else in_bytes
    return tokens
