"""Which words are spelled alike: the parts of a few letters that several words share.

`charm`, `charming` and `charmless` share `<cha`, `arm` and others; `<` and `>` stand for the begin
and the end of a word. What is learned of one of them says something of the others, too.
"""

from collections import defaultdict
from collections.abc import Sequence

__all__ = ["shared_parts"]

LENGTHS = (3, 4, 5)
"""In letters, `<` and `>` among them."""


def shared_parts(words: Sequence[str]) -> tuple[list[list[int]], int]:
    """The numbers of each word's parts, and how many there are: those that two words share.

    A word without a letter has none.

    >>> shared_parts([" arm", " harm", "!"])
    ([[0, 1, 2], [0, 1, 2], []], 3)
    """
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for number, word in enumerate(words):
        for part in _parts(word.strip()):
            holders[part].append(number)
    parts: list[list[int]] = [[] for _ in words]
    n_shared = 0
    for some in holders.values():
        if len(some) > 1:
            for number in some:
                parts[number].append(n_shared)
            n_shared += 1
    return parts, n_shared


def _parts(word: str) -> list[str]:
    """Each once, in the order in which they begin to occur.

    >>> _parts("arm")
    ['<ar', 'arm', 'rm>', '<arm', 'arm>', '<arm>']
    """
    if not any(map(str.isalpha, word)):
        return []
    whole = f"<{word}>"
    found = (whole[i : i + n] for n in LENGTHS for i in range(len(whole) - n + 1))
    return list(dict.fromkeys(found))
