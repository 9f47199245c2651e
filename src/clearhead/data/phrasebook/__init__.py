"""An English-Hindi phrasebook that a small grammar makes: the corpus of `clearhead demo`.

The pairs are generated. Every English sentence has exactly one translation; *I*, *we*, *you* and
*they* are masculine, *you* is आप, and *a* before an object is एक. Some sentences have no full stop,
as people write; then their translation has none.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from random import Random

from clearhead.data.phrasebook.grammar import PATTERNS, draw_pairs
from clearhead.data.phrasebook.greetings import ALWAYS

__all__ = ["ALWAYS", "phrasebook"]

FEWEST_USES = 4
"""Every word stands in at least so many sentences."""

ONE_WITHOUT_STOP = 6
"""Of so many statements, one has no full stop."""

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
    return tuple(dict.fromkeys([*((english, hindi) for english, hindi in ALWAYS), *_end(pairs)]))


def _end(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Leave out the full stop of some statements, on both sides."""
    for number, (english, hindi) in enumerate(pairs):
        if number % ONE_WITHOUT_STOP == 0 and english.endswith("."):
            yield english.removesuffix("."), hindi.removesuffix("।")
        else:
            yield english, hindi


def _words(text: str) -> set[str]:
    return set(text.translate(_PUNCTUATION).lower().split())
