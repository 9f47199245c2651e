"""Which script a text is written in: Latin, Devanagari, Cyrillic and so on."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache

__all__ = ["LANGUAGE_SCRIPTS", "count_scripts", "has_share", "main_script"]

EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "BOPOMOFO", "IDEOGRAPHIC")
MIN_MAJORITY = 0.7

_BY_SCRIPT = {
    "Devanagari": "hi mr ne sa hin mar nep",
    "Bengali": "bn as ben",
    "Gurmukhi": "pa pan",
    "Gujarati": "gu guj",
    "Oriya": "or",
    "Tamil": "ta tam",
    "Telugu": "te tel",
    "Kannada": "kn kan",
    "Malayalam": "ml mal",
    "Sinhala": "si",
    "Arabic": "ar fa ur ps ug ara fas urd",
    "Hebrew": "he yi heb",
    "Cyrillic": "ru uk bg be mk ky tg rus ukr",
    "Greek": "el ell",
    "Armenian": "hy",
    "Georgian": "ka",
    "Thai": "th tha",
    "Lao": "lo",
    "Khmer": "km",
    "Myanmar": "my",
    "Ethiopic": "am ti",
    "Hangul": "ko kor",
    "East Asian": "zh ja zho cmn jpn",
    "Latin": "en de fr es it pt nl sv da nb nn no fi pl cs sk hu ro tr id vi "
    "eng deu fra spa ita por nld swe dan nor fin pol ces hun ron tur ind vie",
}
LANGUAGE_SCRIPTS = {code: script for script, codes in _BY_SCRIPT.items() for code in codes.split()}
"""Language code → the script in which it is usually written, for languages that have one."""


class _ScriptOf(dict[str, str]):
    """Character → script, or nothing for what is no letter; filled as characters are met."""

    def __missing__(self, character: str) -> str:
        self[character] = script = _script_of(character)
        return script


def _script_of(character: str) -> str:
    """Tell it from the character's name: `DEVANAGARI LETTER KA`.

    >>> _script_of("क"), _script_of("ね"), _script_of("é"), _script_of("5")
    ('Devanagari', 'East Asian', 'Latin', '')
    """
    if unicodedata.category(character)[0] not in "LM":
        return ""
    first, *rest = unicodedata.name(character, "").split(" ")
    if first in ("FULLWIDTH", "HALFWIDTH") and rest:
        first = rest[0]
    if first in EAST_ASIAN:
        return "East Asian"
    if first in ("COMBINING", "MODIFIER", "VARIATION", "MATHEMATICAL", ""):
        return ""  # goes with any script
    return first.title()


_SCRIPT_OF = _ScriptOf()


def count_scripts(text: str) -> Counter[str]:
    """How many letters of each script a text has."""
    counts = Counter(map(_SCRIPT_OF.__getitem__, text))
    del counts[""]
    return counts


@cache
def _letters_of(script: str) -> re.Pattern[str]:
    """Runs of the script's letters below U+10000: where nearly all letters of today are."""
    letters = "".join(letter for letter in map(chr, range(1 << 16)) if _script_of(letter) == script)
    return re.compile(f"[{re.escape(letters)}]+") if letters else re.compile("(?!)")


def has_share(text: str, script: str, share: float) -> bool:
    """Whether so much of a text is letters of a script, at a fraction of the cost of counting.

    Letters beyond U+10000 are left out, so True is certain and False is worth a count.
    """
    n_own = len(text) - len(_letters_of(script).sub("", text))
    return n_own >= share * len(text)


def main_script(texts: Iterable[str]) -> str | None:
    """The script in which most of these texts are mostly written, or None if there is none."""
    votes: Counter[str] = Counter()
    for text in texts:
        if counts := count_scripts(text):
            votes[max(counts, key=lambda script: counts[script])] += 1
    if not votes:
        return None
    script, n = votes.most_common(1)[0]
    return script if n >= MIN_MAJORITY * votes.total() else None
