"""The words that a question shares with its context: what can be found without any learning.

    words = words_of(context)
    nearness = near_question(shared_words(question, words), words)

It is a baseline by itself, and a hint for a model that has seen few questions.
"""

import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, groupby

import numpy as np
from numpy.typing import NDArray

from clearhead.text.sentences import split

__all__ = ["Word", "keys_of", "near_question", "shared_words", "words_of"]

N_LETTERS = 5
"""Words that begin with the same letters are taken for forms of one word."""


@dataclass(frozen=True)
class Word:
    """A run of letters, marks and digits."""

    text: str
    key: str
    """What its forms have in common."""
    start: int
    end: int
    sentence: int
    """A number that grows from sentence to sentence."""
    is_name: bool
    """Whether it has a capital letter or a digit, and a capital not for beginning a sentence."""


def words_of(text: str) -> list[Word]:
    """The words of a text with their places.

    >>> [(word.text, word.sentence) for word in words_of("L'epoca. Dopo…")]
    [('L', 0), ('epoca', 0), ('Dopo', 2)]
    """
    ends = list(accumulate(len(piece.text) for piece in split(text)))
    words, before = [], -1
    for part, place in _runs(text):
        sentence = bisect_right(ends, place)
        is_name = part[0].isupper() and sentence == before
        is_name = is_name or any(character.isdigit() for character in part)
        words.append(Word(part, _key(part), place, place + len(part), sentence, is_name))
        before = sentence
    return words


def keys_of(text: str) -> set[str]:
    """The keys of all words of a text.

    >>> sorted(keys_of("Quando è iniziata?"))
    ['inizi', 'quand', 'è']
    """
    return {_key(part) for part, _ in _runs(text)}


def shared_words(question: str, words: list[Word]) -> NDArray[np.float64]:
    """How much each word of a context says, if the question has it, too: little if it is common."""
    asked = keys_of(question)
    counts = Counter(word.key for word in words)
    return np.array([1 / counts[word.key] if word.key in asked else 0.0 for word in words])


def near_question(shared: NDArray[np.float64], words: list[Word]) -> NDArray[np.float64]:
    """How much of the question the sentence of each word has, as a share of what the best has."""
    of = np.array([word.sentence for word in words], dtype=np.int64)
    sums = np.bincount(of, shared, minlength=1)
    return sums[of] / max(1e-9, sums.max())


def _key(word: str) -> str:
    return unicodedata.normalize("NFC", word).casefold()[:N_LETTERS]


def _runs(text: str) -> Iterator[tuple[str, int]]:
    """Each word, and where it begins."""
    place = 0
    for is_word, run in groupby(text, _is_of_word):
        part = "".join(run)
        if is_word:
            yield part, place
        place += len(part)


@cache
def _is_of_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN" or character in "\u200c\u200d"
