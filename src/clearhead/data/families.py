"""Texts that are parts of other texts, which must not be on two sides of a hold-out.

A model that has seen `a film of rare charm` knows the label of `of rare charm`: to be asked for it
is no test. So a text goes with the longest text that has all its words in a row.
"""

from collections.abc import Sequence

__all__ = ["families"]

N_WORDS = 3
"""Texts of fewer words are parts of too many others, and stand by themselves."""


def families(texts: Sequence[str]) -> list[int]:
    """The number of the text that each goes with; its own if it is part of no other.

    >>> families(["rare charm and wit", "a film of rare charm and wit", "of rare charm", "charm"])
    [1, 1, 1, 3]
    """
    rows = [text.split() for text in texts]
    beginnings: dict[tuple[str, ...], list[int]] = {}
    for number, words in enumerate(rows):
        if len(words) >= N_WORDS:
            beginnings.setdefault(tuple(words[:N_WORDS]), []).append(number)
    # The longest last, so that what it holds is its own; of equals, the first one.
    order = sorted(range(len(rows)), key=lambda number: (len(rows[number]), -number))
    parents = list(range(len(rows)))
    for whole in order:
        words = rows[whole]
        for start in range(len(words) - N_WORDS + 1):
            for part in beginnings.get(tuple(words[start : start + N_WORDS]), ()):
                n = len(rows[part])
                if n < len(words) and words[start : start + n] == rows[part]:
                    parents[part] = whole
    for number in reversed(order):  # whoever holds a part is longer, and is settled before it
        parents[number] = parents[parents[number]]
    return parents
