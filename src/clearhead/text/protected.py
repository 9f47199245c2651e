"""What must survive a translation, and visible flags for answers that cannot be trusted.

Numbers, addresses, placeholders and tags are found by their form, in any language. Numbers are
compared by value: १२ is 12, and 1.000,5 is 1,000.5. What is not seen is a number in words beyond
these digits: 10,000 as 1万 or "ten thousand" is reported, and a person decides.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from operator import eq
from typing import Final, Literal, NamedTuple, cast

__all__ = ["Flag", "Protected", "added", "find", "flags", "missing"]

Kind = Literal["number", "url", "email", "placeholder", "tag", "entity"]

MAX_IN_WORDS: Final = 12
"""Bare numbers up to this one are often words in the other language (3 and three): not reported."""

MAX_PERIOD: Final = 8
MIN_WORD_REPEATS: Final = 4
MIN_LETTER_REPEATS: Final = 5
MIN_LETTERS: Final = 10
"""Runaway is 4 times the same 1 to 8 words, or 5 times the same 1 to 8 letters, 10 or more."""

_NAMES: Final[dict[Kind, str]] = {
    "number": "number",
    "url": "address",
    "email": "e-mail address",
    "placeholder": "placeholder",
    "tag": "tag",
    "entity": "character code",
}

# Every pattern is bounded, or stops where the next could begin: no text takes long.
_IN_URL = r"[^\s<>\"“”«»‹›「」『』【】（）。，、；：！？।॥۔{}|\\^`]"
_URL_BEGIN = r"(?<![A-Za-z0-9_.@-])"
_URL_END = r"(?<![.,;:!?'’)\]*_])"
_PATTERNS: Final[dict[Kind, str]] = {
    "tag": r"""</?(?:[A-Za-z][\w:.-]*+|\d++)
        (?:\s++[\w:.-]++\s*+=\s*+(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>=]++))*+\s*+/?>
        |<!--[^<>]*-->""",
    "entity": r"&(?:[A-Za-z][A-Za-z0-9]{1,31}|\#\d{1,7}|\#[xX][0-9A-Fa-f]{1,6});",
    "url": rf"""(?:(?<![A-Za-z])(?:https?|ftp)://|{_URL_BEGIN}www\.){_IN_URL}+{_URL_END}
        |{_URL_BEGIN}(?:[A-Za-z0-9-]{{1,63}}\.){{1,6}}(?:com|org|net|edu|gov|info|io|dev)
            (?![A-Za-z0-9@-])(?:/(?:{_IN_URL}+{_URL_END})?)?""",
    "email": r"""(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@
        [A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})++""",
    "placeholder": r"""%%|%\(\w++\)[-+0\#]?\d*\.?\d*[A-Za-z]|%\{\w++\}|%<\w++>[A-Za-z]?
        |(?<!\d)%(?:\d++\$)?[-+0\#]*+\d*+(?:\.\d++)?(?:hh|ll|[hlLqjzt])?[A-Za-z@](?![A-Za-z])
        |\{\{[^{}]*+\}\}|\$?\{[^\s{}]*+\}
        |(?<![\w$])\$\d(?!\w|[.,]\d)|\\[nrt](?![A-Za-z])""",
    "number": r"""\d{1,3}(?:[\xa0\u2009\u202f]\d{3})++(?!\d)(?:[.,]\d++)?
        |\d++(?:[.,'’٫٬]\d++)*+""",
}
_PROTECTED = re.compile(
    "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS.items()), re.VERBOSE
)
_DATE = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4}|\d{2})")
_SPACED = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})++(?!\d)(?:[.,]\d++)?")
_EAST_ASIAN = re.compile(r"[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]")
_PUNCTUATION = ".,;:!?…\"'“”‘’«»()[]{}-–—*।॥۔؟،。、！？，"


class Protected(NamedTuple):
    """A part of a text that a translation must keep: `text[start:end]`."""

    kind: Kind
    text: str
    start: int
    end: int


class Flag(NamedTuple):
    """Why an answer should be looked at, in one sentence."""

    kind: Literal["missing", "added", "empty", "repetition", "copy"]
    detail: str


def find(text: str) -> list[Protected]:
    """Everything in a text that must survive, in its order.

    A date such as 31.12.2016 is three numbers, because other languages write it in another way.

    >>> [(part.kind, part.text) for part in find("Pay {name} 1,000.5 € at <b>https://a.org</b>.")]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('placeholder', '{name}'), ('number', '1,000.5'), ('tag', '<b>'), ('url', 'https://a.org'),
     ('tag', '</b>')]
    """
    found: list[Protected] = []
    for match in _PROTECTED.finditer(text):
        kind, start, end = cast(Kind, match.lastgroup), match.start(), match.end()
        if kind == "number" and (date := _DATE.fullmatch(match[0])):
            parts = (date.span(group) for group in (1, 2, 3))
            found += [
                Protected(kind, text[start + a : start + b], start + a, start + b) for a, b in parts
            ]
            continue
        if (
            kind == "url"
            and text[end : end + 1] == ")"
            and match[0].count("(") > match[0].count(")")
        ):
            end += 1  # .../Tamil_(language)
        found.append(Protected(kind, text[start:end], start, end))
    return found


def missing(source: str, answer: str) -> list[Protected]:
    """What the source has and the answer lacks; what occurs twice must be there twice.

    Not reported are bare numbers from 0 to 12, which may have become words, and `$5` where the
    answer has 5: it is a placeholder or money.

    >>> [part.text for part in missing("{n} of १,००० files, 3 times", "1.000 Dateien, dreimal")]
    ['{n}']
    """
    wanted, given = _find_both(source, answer)
    return _lacking(wanted, given)


def added(source: str, answer: str) -> list[Protected]:
    """What the answer has and the source lacks, by the rules of `missing`."""
    given, wanted = _find_both(source, answer)
    return _lacking(wanted, given)


def flags(source: str, answer: str) -> list[Flag]:
    """Everything that makes an answer doubtful, each in one sentence; none for a good answer.

    >>> flags("Call 112 now.", "Rufen Sie jetzt an.")
    [Flag(kind='missing', detail='The number 112 of the source is missing in the answer.')]
    """
    if source.strip() and not answer.strip():
        return [Flag("empty", "The answer is empty, but the source is not.")]
    in_source, in_answer = _find_both(source, answer)
    found = [
        Flag(
            "missing",
            f"The {_NAMES[part.kind]} {part.text} of the source is missing in the answer.",
        )
        for part in _lacking(in_source, in_answer)
    ]
    found += [
        Flag(
            "added", f"The answer has the {_NAMES[part.kind]} {part.text}, which the source lacks."
        )
        for part in _lacking(in_answer, in_source)
    ]
    found += _repetition(source, answer)
    if _words(source) == _words(answer) and _is_ordinary(source, in_source):
        found.append(Flag("copy", "The answer is a copy of the source."))
    return found


def _find_both(source: str, answer: str) -> tuple[list[Protected], list[Protected]]:
    in_source, in_answer = find(source), find(answer)
    known = set(map(_key, in_source + in_answer))
    return _group(source, in_source, known), _group(answer, in_answer, known)


def _group(text: str, found: list[Protected], known: set[tuple[str, str]]) -> list[Protected]:
    """Read 10 000 as one number if either text has it as one: it could be a 10 and a 000."""
    grouped: list[Protected] = []
    begins = {part.start for part in found if part.kind == "number"}
    for match in _SPACED.finditer(text) if " " in text else ():
        number = Protected("number", match[0], match.start(), match.end())
        if number.start in begins and _key(number) in known:
            grouped.append(number)
    if not grouped:
        return found
    inside = {place for number in grouped for place in range(number.start, number.end)}
    return sorted(
        [*grouped, *(part for part in found if part.start not in inside)],
        key=lambda part: part.start,
    )


def _lacking(wanted: list[Protected], given: list[Protected]) -> list[Protected]:
    left = Counter(map(_key, given))
    lacking = []
    for part in wanted:
        keys = [_key(part)]
        if part.kind == "placeholder" and part.text[1:].isdecimal():  # $5
            keys.append(("number", _value(part.text[1:])))
        key = next((key for key in keys if left[key] > 0), None)
        if key:
            left[key] -= 1
        elif not _may_be_word(part):
            lacking.append(part)
    return lacking


def _may_be_word(part: Protected) -> bool:
    if part.kind != "number" or not part.text.isdecimal():
        return False
    value = _value(part.text)
    return len(value) <= 2 and int(value) <= MAX_IN_WORDS


def _key(part: Protected) -> tuple[str, str]:
    """What two parts share that mean the same."""
    if part.kind == "number":
        return part.kind, _value(part.text)
    return part.kind, part.text.lower() if part.kind == "email" else part.text


def _value(number: str) -> str:
    """Write a number in one way: without groups, with a point, in ASCII.

    Where a single mark could be either, as in 1.234, three digits after it are a group: whether
    this is right does not matter, as long as 1,234 is read in the same way.

    >>> [_value(number) for number in ("1,000.50", "1.000,5", "१,००,०००", "3,14", "1.2.3", "007")]
    ['1000.5', '1000.5', '100000', '3.14', '1.2.3', '7']
    """
    if not number.isascii():
        number = "".join(_ascii(character) for character in number)
    number = number.replace("'", "").replace(" ", "")
    if number.isdecimal():
        return number.lstrip("0") or "0"
    marks = re.sub(r"\d", "", number)
    if len(set(marks)) == 2 and marks.count(marks[-1]) == 1:  # the last is the decimal mark
        number = number.replace("," if marks[-1] == "." else ".", "")
        whole, _, fraction = number.partition(marks[-1])
        return _decimal(whole, fraction)
    first, *groups = re.split("[.,]", number)
    is_grouped = (
        len(first) <= 3 and first.strip("0") != "" and all(len(g) in (2, 3) for g in groups)
    )
    if groups and is_grouped and len(groups[-1]) == 3:
        return _decimal(first + "".join(groups), "")
    if len(groups) > 1:
        return ".".join([first, *groups])
    return _decimal(first, "".join(groups))


def _decimal(whole: str, fraction: str) -> str:
    return f"{whole.lstrip('0') or '0'}.{fraction.rstrip('0')}".rstrip(".")


def _ascii(character: str) -> str:
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    return {"٫": ".", "٬": "'", "’": "'"}.get(character, " " if character.isspace() else character)


def _repetition(source: str, answer: str) -> list[Flag]:
    """Whether the answer says the same again and again, or is far too long."""
    in_source = [_words(source), *_long_words(source, MIN_WORD_REPEATS)]
    usual = max(_repeats(units)[0] for units in in_source)
    words = _words(answer)
    n, place, period = _repeats(words)
    if n >= MIN_WORD_REPEATS and n > usual:
        return [_repeated(" ".join(words[place : place + period]), n)]
    for word in _long_words(answer, MIN_LETTERS):
        n, place, period = _repeats(word)
        if n >= MIN_LETTER_REPEATS and n * period >= MIN_LETTERS and n > usual:
            return [_repeated(word[place : place + period], n)]
    # An East Asian character says about as much as three letters.
    sizes = [len(text) + 2 * len(_EAST_ASIAN.findall(text)) for text in (source, answer)]
    if sizes[1] > 4 * sizes[0] + 40:
        lengths = f"{len(answer)} characters for {len(source)} of the source"
        return [Flag("repetition", f"The answer is far longer than expected: {lengths}.")]
    return []


def _repeated(phrase: str, n: int) -> Flag:
    shown = phrase if len(phrase) <= 40 else f"{phrase[:40]}…"
    return Flag("repetition", f"The answer repeats “{shown}” {n} times in a row.")


def _repeats(units: Sequence[str]) -> tuple[int, int, int]:
    """How often the same 1 to 8 units follow each other at most, from where, and how many units.

    >>> _repeats("to be or not or not or not".split())
    (3, 2, 2)
    """
    most = (1, 0, 0)
    for period in range(1, min(MAX_PERIOD, len(units) // 2) + 1):
        place = 0
        for is_same, run in groupby(map(eq, units[period:], units)):
            length = sum(1 for _ in run)
            if is_same and length // period + 1 > most[0]:
                most = (length // period + 1, place, period)
            place += length
    return most


def _words(text: str) -> list[str]:
    """Words without their case and the signs around them; signs alone stay."""
    return [word.strip(_PUNCTUATION) or word for word in text.casefold().split()]


def _long_words(text: str, min_length: int) -> list[str]:
    return [word for word in text.casefold().split() if len(word) >= min_length]


def _is_ordinary(text: str, found: Sequence[Protected]) -> bool:
    """Whether a text has some words that another language would not share.

    These are at least three words with letters, two of them without a capital: no names, nothing
    protected. Where words have no spaces between them, two East Asian characters or eight other
    letters count as a word.
    """
    begins = [0, *(part.end for part in found)]
    ends = [*(part.start for part in found), len(text)]
    rest = " ".join(text[begin:end] for begin, end in zip(begins, ends, strict=True))
    n_words = n_ordinary = 0
    for word in (word.strip(_PUNCTUATION) for word in rest.split()):
        if not any(map(str.isalpha, word)):
            continue
        n = 1
        if word.lower() == word.upper():
            n = max(1, len(_EAST_ASIAN.findall(word)) // 2, len(word) // 8)
        n_words += n
        n_ordinary += 0 if word[0].isupper() else n
    return n_words >= 3 and n_ordinary >= 2
