"""A glossary: terms of the source language, and how each of them must be translated.

    glossary = read_glossary(Path("terms.tsv"))
    translator("The patch panel is new.", glossary=glossary)

A term is found as whole words, whatever their case. Where words have no spaces between them, as in
Chinese or Thai, it is found anywhere. Of two terms that overlap, the longer one counts.
"""

import csv
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from clearhead.data.encoding import detect_encoding, open_text, read_head, read_lines
from clearhead.data.tables import find_delimiter
from clearhead.errors import InputError
from clearhead.text import normalise

__all__ = ["Glossary", "has_no_spaces", "read_glossary"]

# Thai, Lao, Burmese, Khmer; Chinese and Japanese.
_NO_SPACES = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
    r"\u2e80-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)


class Glossary:
    """Terms with their translations, ready to be looked for in many sentences.

    >>> Glossary({"panel": "Tafel", "patch panel": "Steckfeld"}).find("A Patch Panel.")
    ['Steckfeld']
    """

    def __init__(self, terms: Mapping[str, str]) -> None:
        self._terms: dict[str, str] = {}
        for source, target in terms.items():
            for side, text in (("source", source), ("target", target)):
                if not isinstance(text, str) or not text.strip():
                    raise InputError(
                        f"the glossary has {source!r} → {target!r}, whose {side} holds no text: "
                        "give a term on both sides"
                    )
            self._terms[_fold(source)] = " ".join(normalise(target).split())
        self._longest_first = sorted(self._terms, key=len, reverse=True)

    def __len__(self) -> int:
        return len(self._terms)

    @property
    def targets(self) -> Collection[str]:
        """The translations of all terms."""
        return self._terms.values()

    def find(self, sentence: str) -> list[str]:
        """What the answer to this sentence must hold, in the order of the sentence."""
        text = _fold(sentence)
        is_taken = [False] * len(text)
        found: dict[int, str] = {}
        for term in self._longest_first:
            for begin in _places(term, text):
                end = begin + len(term)
                if not any(is_taken[begin:end]):
                    is_taken[begin:end] = [True] * len(term)
                    found[begin] = self._terms[term]
        return list(dict.fromkeys(found[begin] for begin in sorted(found)))


def has_no_spaces(text: str) -> bool:
    """Whether a text begins with a script that has no spaces between words."""
    return _NO_SPACES.match(text) is not None


def _fold(text: str) -> str:
    return normalise(" ".join(text.split()).casefold())


def _places(term: str, text: str) -> Iterator[int]:
    begin = text.find(term)
    while begin >= 0:
        if not _is_inside_word(text, begin) and not _is_inside_word(text, begin + len(term)):
            yield begin
        begin = text.find(term, begin + 1)


def _is_inside_word(text: str, place: int) -> bool:
    """Whether a word, or a letter with its marks, goes on across this place."""
    left, right = text[:place][-1:], text[place : place + 1]
    if not left or not right:
        return False
    if unicodedata.category(right)[0] == "M" or right in "\u200c\u200d":
        return True
    if has_no_spaces(left) or has_no_spaces(right):
        return False
    return _is_of_word(left) and _is_of_word(right)


def _is_of_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN" or character in "_\u200c\u200d"


def read_glossary(path: Path) -> dict[str, str]:
    """Read a file with a term and its translation on each line: CSV if it is so named, else TSV.

    A line that is not such a pair is refused with its number. Blank lines are left out.
    """
    terms: dict[str, str] = {}
    known: dict[str, tuple[int, str]] = {}
    for line, raw in _rows(path):
        cells = [" ".join(cell.split()) for cell in raw]
        if not any(cells):
            continue
        if len(cells) != 2 or not all(cells) or "\ufffd" in "".join(cells):
            raise InputError(
                f"line {line:,} of {path} is no pair of terms: write a term, a "
                f"{'comma' if _is_csv(path) else 'tab'} and its translation, in UTF-8"
            )
        source, target = cells
        first, earlier = known.setdefault(_fold(source), (line, target))
        if earlier != target:
            raise InputError(
                f"line {line:,} of {path} translates {source!r} by {target!r}, and line "
                f"{first:,} by {earlier!r}: keep one of them"
            )
        if first == line:
            terms[source] = target
    return terms


def _is_csv(path: Path) -> bool:
    return ".csv" in path.suffixes


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The cells of each row, with the line on which it ends."""
    head = read_head(path)
    codec = detect_encoding(path, head).codec
    if not _is_csv(path):
        for line, text in enumerate(read_lines(path, codec), 1):
            yield line, text.split("\t")
        return
    dialect = find_delimiter(head.decode(codec, "replace"), ".csv")
    with open_text(path, codec, newline="") as file:
        reader = csv.reader(file, delimiter=dialect.delimiter if dialect else ",", strict=True)
        try:
            for cells in reader:
                yield reader.line_num, cells
        except csv.Error as error:
            raise InputError(
                f"line {reader.line_num:,} of {path} has broken quotes ({error}): double each "
                "quotation mark inside a quoted cell"
            ) from None
