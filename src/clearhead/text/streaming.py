"""Text from tokens one by one, in which every piece that is given out is whole and final.

    stream = TextStream(tokenizer)
    for token in tokens:
        print(stream.push(token), end="")
    print(stream.finish())

Two things are held back: bytes that may become another character, and the last grapheme, which is
what a reader takes for one letter: `कि` is two characters, and a flag or a family of emoji several.
"""

import unicodedata
from functools import cache
from itertools import pairwise
from typing import Final

from clearhead.text.foreign import AnyTokenizer

__all__ = ["GraphemeReader", "TextStream", "graphemes"]

ZWJ: Final = "\u200d"
ZWNJ: Final = "\u200c"
VIRAMA: Final = 9  # the combining class of the sign that takes a consonant's vowel away
PREPENDED: Final = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\U000110bd\U000110cd"
    "\U000111c2\U000111c3\U0001193f\U00011941\U00011a3a\U00011d46\U00011f02"
    + "".join(map(chr, range(0x11A84, 0x11A8A)))
)
"""Signs that stand before the letter to which they belong."""
TRAILING: Final = frozenset("\u0e33\u0eb3\uff9e\uff9f" + "".join(map(chr, range(0x1F3FB, 0x1F400))))
"""Letters and emoji modifiers that belong to what stands before them, as marks do."""

_MAY_FOLLOW = {"L": ("L", "V", "LV", "LVT"), "V": ("V", "T"), "LV": ("V", "T")}
_MAY_FOLLOW |= {"T": ("T",), "LVT": ("T",)}


class TextStream:
    """The text of tokens as they come: all of it together is `tokenizer.decode` of all tokens.

    Nothing that is given out ends within a character of several bytes or within a grapheme, and
    nothing changes later. The cost of a token does not grow with the text before it.

    A row of byte tokens is held back to its end, because the tokenizer decides on the row as a
    whole: one byte that is no UTF-8 makes � of all of them.
    """

    def __init__(self, tokenizer: AnyTokenizer) -> None:
        self._tokenizer = tokenizer
        self._anchor: list[int] = []  # the last token that has text by itself: what may be decoded
        self._open: list[int] = []  # tokens after the anchor, whose text is not known yet
        self._held: list[str] = []  # the characters of the last grapheme
        self._reader = GraphemeReader()

    def push(self, token: int) -> str:
        """Take the next token; return the text that has become final, which may be none."""
        if self._tokenizer.is_open([*self._open, token]):
            self._open.append(token)
            return ""
        has_text = self._tokenizer.decode([token]) != ""
        if not has_text and self._anchor and not self._text_after_anchor([token]):
            return ""  # a special token, which parts nothing
        self._open.append(token)
        if not has_text and not self._anchor:
            return ""  # a special token, or the space before the first word
        text = self._text_after_anchor(self._open)
        self._open = []
        if has_text:
            self._anchor = [token]
        return self._whole(text)

    def finish(self) -> str:
        """Return what was held back, when there are no more tokens."""
        rest = "".join(self._held) + self._text_after_anchor(self._open)
        self._held, self._open = [], []
        return rest

    def _text_after_anchor(self, tokens: list[int]) -> str:
        # Decoded after another token, because the first space of a text is left out.
        before = self._tokenizer.decode(self._anchor)
        return self._tokenizer.decode([*self._anchor, *tokens])[len(before) :]

    def _whole(self, text: str) -> str:
        """Add text to what is held, and return it up to the begin of the last grapheme."""
        begin = 0
        for place, character in enumerate(text):
            if self._reader.begins(character):
                begin = place + 1
        if not begin:
            self._held.append(text)
            return ""
        whole = "".join(self._held) + text[: begin - 1]
        self._held = [text[begin - 1 :]]
        return whole


class GraphemeReader:
    """Tells of one character after another whether a grapheme begins with it.

    These are the extended grapheme clusters of Unicode (UAX 29), made from Python's `unicodedata`.
    Where its data does not suffice, more is joined and never less: anything after a zero-width
    joiner, a letter after a virama of any script, and invisible format characters with what stands
    before them. A mark that is younger than Python's Unicode (`unicodedata.unidata_version`) is
    unknown, and taken for a letter.
    """

    def __init__(self) -> None:
        self._before = ""  # the last character, and what kind it is
        self._kind = "control"
        self._is_dead = False  # after a virama, a consonant joins what stands before
        self._n_flags = 0

    def begins(self, character: str) -> bool:
        """Whether a grapheme begins here; ask this for every character, in their order."""
        kind = _kind(character)
        is_begin = not self._joins(kind, character)
        if kind == "mark":
            dies = unicodedata.combining(character) == VIRAMA
            self._is_dead = dies or (self._is_dead and character != ZWNJ)
        else:
            self._is_dead = False
        self._n_flags = self._n_flags + 1 if kind == "flag" else 0
        self._before, self._kind = character, kind
        return is_begin

    def _joins(self, kind: str, character: str) -> bool:
        if kind == "control" or self._kind == "control":
            return (self._before, character) == ("\r", "\n")
        if kind == "mark" or self._before == ZWJ or self._before in PREPENDED:
            return True
        if kind == "flag":
            return self._n_flags % 2 == 1
        if self._is_dead and unicodedata.category(character) == "Lo":
            return True
        return kind in _MAY_FOLLOW.get(self._kind, ())


def graphemes(text: str) -> list[str]:
    r"""Cut a text into what a reader takes for single letters; together they are the text.

    >>> graphemes("क्षि👍🏽🇮🇳🇩🇪e\N{COMBINING ACUTE ACCENT}!") == [
    ...     "क्षि", "👍🏽", "🇮🇳", "🇩🇪", "e\N{COMBINING ACUTE ACCENT}", "!"]
    True
    """
    reader = GraphemeReader()
    begins = [place for place, character in enumerate(text) if reader.begins(character)]
    return [text[begin:end] for begin, end in pairwise([*begins, len(text)])]


@cache
def _kind(character: str) -> str:
    """What decides whether a grapheme begins: control, mark, flag, a Hangul part, or other."""
    category = unicodedata.category(character)
    if category in ("Cc", "Zl", "Zp"):
        return "control"
    if category[0] == "M" or character in TRAILING:
        return "mark"
    if category == "Cf" and character not in PREPENDED:
        return "mark"  # joiners, tags and variation selectors, and what is invisible anyway
    code = ord(character)
    if 0x1F1E6 <= code <= 0x1F1FF:
        return "flag"
    if 0xAC00 <= code <= 0xD7A3:
        return "LVT" if (code - 0xAC00) % 28 else "LV"
    for kind, first, last in _JAMO:
        if first <= code <= last:
            return kind
    return "other"


# Hangul letters that stand alone: initial consonants, vowels, final consonants.
_JAMO: Final = (
    ("L", 0x1100, 0x115F),
    ("L", 0xA960, 0xA97C),
    ("V", 0x1160, 0x11A7),
    ("V", 0xD7B0, 0xD7C6),
    ("T", 0x11A8, 0x11FF),
    ("T", 0xD7CB, 0xD7FB),
)
