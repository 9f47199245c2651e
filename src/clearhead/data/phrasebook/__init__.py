"""An English-Hindi phrasebook that a small grammar makes: the corpus of `clearhead demo`.

The pairs are generated. Every English sentence has exactly one translation; *I*, *we*, *you* and
*they* are masculine, *you* is आप, and *a* before an object is एक.
"""

from collections import Counter
from functools import cache
from random import Random

from clearhead.data.phrasebook.grammar import PATTERNS, draw_pairs
from clearhead.data.phrasebook.greetings import ALWAYS

__all__ = ["ALWAYS", "phrasebook"]

FEWEST_USES = 4
"""Every word stands in at least so many sentences."""

_PUNCTUATION = str.maketrans(".,?।", "    ")


def phrasebook(seed: int = 0) -> list[tuple[str, str]]:
    """Every (English, Hindi) pair once, in an order that depends on the seed alone.

    >>> pairs = phrasebook()
    >>> len(pairs) >= 20_000, ("How are you?", "आप कैसे हैं?") in pairs
    (True, True)
    """
    pairs = list(_pairs())
    Random(seed).shuffle(pairs)
    return pairs


@cache
def _pairs() -> tuple[tuple[str, str], ...]:
    """Every pair but those with a rare word: nobody learns a word from one sentence."""
    drawn = dict.fromkeys(pair for name in PATTERNS for pair in draw_pairs(name))
    pairs = {(english, hindi): _words(english + hindi) for english, hindi in drawn}
    counts = Counter(word for words in pairs.values() for word in words)
    while rare := {word for word, n in counts.items() if 0 < n < FEWEST_USES}:
        for pair in [pair for pair, words in pairs.items() if words & rare]:
            counts.subtract(pairs.pop(pair))
    return (*((english, hindi) for english, hindi in ALWAYS), *pairs)


def _words(text: str) -> set[str]:
    return set(text.translate(_PUNCTUATION).lower().split())
