"""ROUGE: how many words, pairs of words and words in order a summary shares with a reference.

    precision = shared / of the answer,   recall = shared / of the reference
    F1 = 2 · precision · recall / (precision + recall)

Lin 2004. ROUGE-1 and -2 count words and pairs of neighbours, ROUGE-L the longest sequence of words
that is in both. On English the figures are those of Google's rouge-score without stemming. There
letters with accents and of other scripts end a word; here they belong to it.
"""

import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

from clearhead.errors import InputError
from clearhead.tasks.glossary import has_no_spaces
from clearhead.tasks.scores import Score

__all__ = ["MEASURES", "rouge_l", "rouge_n", "score_summaries", "words"]

SIGNATURE: Final = "F1, mean of the pairs; lower-cased Unicode words; no stemming"
"""A word is a run of letters, marks and digits; in scripts without spaces, each letter is one."""


def words(text: str) -> list[str]:
    """What is counted.

    >>> words("Don't count 3.5 times: über, हिन्दी, 摘要"), words("snake_case")
    (['don', 't', 'count', '3', '5', 'times', 'über', 'हिन्दी', '摘', '要'], ['snake', 'case'])
    """
    return "".join(map(_part, text.lower())).split()


@cache
def _part(character: str) -> str:
    if unicodedata.category(character)[0] not in "LNM":
        return " "
    is_word = unicodedata.category(character)[0] == "L" and has_no_spaces(character)
    return f" {character}" if is_word else character


def rouge_n(answer: Sequence[str], reference: Sequence[str], n: int) -> float:
    """The F1 of sequences of n words, from 0 to 1; each counts as often as it is in both.

    >>> rouge_n(["the", "dog", "sleeps"], ["the", "dog", "runs"], 2)
    0.5
    """
    of_answer, of_reference = (
        Counter(zip(*(side[k:] for k in range(n)), strict=False)) for side in (answer, reference)
    )
    n_shared = (of_answer & of_reference).total()
    return _f1(n_shared, of_answer.total(), of_reference.total())


def rouge_l(answer: Sequence[str], reference: Sequence[str]) -> float:
    """The F1 of the longest sequence of words that is in both, with gaps, from 0 to 1.

    >>> rouge_l(["a", "dog", "now", "runs"], ["a", "dog", "runs", "far"])
    0.75
    """
    return _f1(_n_in_order(answer, reference), len(answer), len(reference))


def _n_in_order(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence.

    A row of the usual table rises by 0 or 1 from place to place: it is one number whose zeros are
    the rises, and a whole row takes three operations (Hyyrö 2004).
    """
    places: dict[str, int] = {}
    for place, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << place
    full = (1 << len(one)) - 1
    row = full
    for word in other:
        met = row & places.get(word, 0)
        row = ((row + met) | (row - met)) & full
    return len(one) - row.bit_count()


def _f1(n_shared: int, n_answer: int, n_reference: int) -> float:
    return 2 * n_shared / (n_answer + n_reference) if n_shared else 0.0


MEASURES: Final[dict[str, Callable[[Sequence[str], Sequence[str]], float]]] = {
    "ROUGE-1": lambda answer, reference: rouge_n(answer, reference, 1),
    "ROUGE-2": lambda answer, reference: rouge_n(answer, reference, 2),
    "ROUGE-L": rouge_l,
}


def score_summaries(answers: Sequence[str], references: Sequence[str], of: str = "") -> list[Score]:
    """Compare answers with one reference each; `of` ends the names of the scores."""
    if len(answers) != len(references) or not answers:
        raise InputError(
            f"{len(answers)} summaries and {len(references)} references cannot be compared: give "
            "as many of both, and at least one"
        )
    pairs = [(words(a), words(r)) for a, r in zip(answers, references, strict=True)]
    return [
        Score(f"{name}{of}", 100 * sum(measure(*pair) for pair in pairs) / len(pairs), SIGNATURE)
        for name, measure in MEASURES.items()
    ]
