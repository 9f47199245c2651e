r"""Where in a text each token stands, so that a part of the text can be given back exactly.

    found = encode_places(tokenizer, ["A cafe\N{COMBINING ACUTE ACCENT}."])[0]
    text[found.starts[1] : found.ends[1]]

Places are counted in the text as it was given, however it is composed: the tokenizer composes it,
and tells the places from before. What it leaves out, such as an accent that was a character of its
own, belongs to the token before; white space around a token belongs to none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from clearhead.text.foreign import AnyTokenizer
from clearhead.text.normal import check_characters

__all__ = ["Placed", "encode_places"]


@dataclass(frozen=True)
class Placed:
    """The tokens of a text, and from where to where each reaches; bytes of a letter reach alike."""

    tokens: list[int]
    starts: list[int]
    ends: list[int]


def encode_places(tokenizer: AnyTokenizer, texts: Sequence[str]) -> list[Placed]:
    """The tokens of texts with their places, without specials around them."""
    checked = [check_characters(text) for text in texts]
    found = tokenizer.rules.encode_batch(checked, add_special_tokens=False)
    return [
        _place(text, encoding.ids, encoding.offsets)
        for text, encoding in zip(texts, found, strict=True)
    ]


def _place(text: str, tokens: list[int], offsets: Sequence[tuple[int, int]]) -> Placed:
    starts, ends = [], []
    following = previous = len(text)
    for start, end in reversed(offsets):
        if start < previous:  # the bytes of one letter begin at the same place
            following, previous = previous, start
        reach = max(end, following)
        while reach > start and text[reach - 1].isspace():
            reach -= 1
        while start < reach and text[start].isspace():
            start += 1
        starts.append(start)
        ends.append(reach)
    return Placed(tokens, starts[::-1], ends[::-1])
