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
    # Many texts may begin alike: by beginning it is known how long they are, and then which.
    lengths: dict[tuple[str, ...], set[int]] = {}
    numbers: dict[tuple[str, ...], list[int]] = {}
    for number, words in enumerate(rows):
        if len(words) >= N_WORDS:
            lengths.setdefault(tuple(words[:N_WORDS]), set()).add(len(words))
            numbers.setdefault(tuple(words), []).append(number)
    # The longest last, so that what it holds is its own; of equals, the first one.
    order = sorted(range(len(rows)), key=lambda number: (len(rows[number]), -number))
    parents = list(range(len(rows)))
    for whole in order:
        words = rows[whole]
        for start in range(len(words) - N_WORDS + 1):
            for n in lengths.get(tuple(words[start : start + N_WORDS]), ()):
                if n < len(words):
                    for part in numbers.get(tuple(words[start : start + n]), ()):
                        parents[part] = whole
    for number in reversed(order):  # whoever holds a part is longer, and is settled before it
        parents[number] = parents[parents[number]]
    return parents
