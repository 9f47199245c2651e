"""How near an answer is to what was expected: exact match and F1, as SQuAD defines them.

F1 = 2 · precision · recall / (precision + recall), over the words that both have, each as often as
both have it; an answer counts by the nearest of its references (Rajpurkar et al. 2016, §6.1).
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence

__all__ = ["Normal", "exact_match", "f1", "plain_words", "squad_words"]

Normal = Callable[[str], list[str]]
ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
# Chinese and Japanese have no spaces between words: each character is one.
_UNSPACED = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")


def squad_words(text: str) -> list[str]:
    """Words as SQuAD's script takes them: small letters, no punctuation, no English articles.

    >>> squad_words("The Beatles' (first) album")
    ['beatles', 'first', 'album']
    """
    return ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def plain_words(text: str) -> list[str]:
    """Words in any language: composed, small letters, no punctuation of Unicode; articles stay.

    >>> plain_words("«L'Égypte», 埃及")
    ['l', 'égypte', '埃', '及']
    """
    text = unicodedata.normalize("NFC", text).casefold()
    kept = "".join(" " if unicodedata.category(c)[0] == "P" else c for c in text)
    return _UNSPACED.sub(r" \1 ", kept).split()


def exact_match(answer: str, references: Sequence[str], normal: Normal = squad_words) -> float:
    """1 if the answer is one of the references; none of them means that there is no answer."""
    return max(float(normal(answer) == normal(each)) for each in references or [""])


def f1(answer: str, references: Sequence[str], normal: Normal = squad_words) -> float:
    """The overlap with the nearest reference."""
    return max(_overlap(normal(answer), normal(each)) for each in references or [""])


def _overlap(answer: list[str], reference: list[str]) -> float:
    if not answer or not reference:
        return float(answer == reference)
    n_same = sum((Counter(answer) & Counter(reference)).values())
    return 2 * n_same / (len(answer) + len(reference))
