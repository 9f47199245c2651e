"""What answers questions without a model: the first sentence, and words in common."""

from collections.abc import Sequence

from clearhead.tasks.answer.overlap import Word, keys_of, words_of
from clearhead.text.sentences import split

__all__ = ["first_sentence", "word_overlap"]


def first_sentence(context: str) -> str:
    """The first sentence of a context."""
    sentences = _sentences(context)
    return sentences[0] if sentences else context.strip()


def word_overlap(question: str, context: str) -> str:
    """In the sentence with most words of the question, the longest run of names and numbers.

    Words of the question are no answer. Where there is no such run, it is the sentence itself.
    """
    asked = keys_of(question)
    best = max(
        _sentences(context) or [context.strip()],
        key=lambda sentence: len(keys_of(sentence) & asked),
    )
    runs: list[list[Word]] = [[]]
    for word in words_of(best):
        if word.key in asked or not word.is_name:
            runs.append([])
            continue
        last = runs[-1]
        if last and best[last[-1].end : word.start].strip(" -.'’"):
            runs.append([])
        runs[-1].append(word)
    longest = max(runs, key=len)
    return best[longest[0].start : longest[-1].end] if longest else best


def _sentences(context: str) -> Sequence[str]:
    return [piece.text for piece in split(context) if piece.is_sentence]
