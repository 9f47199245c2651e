"""Texts for an encoder: what stands before, between and after them, and whose each token is.

    tokens      <bos> who runs ? <eos> a dog runs . <eos>
    segments      0    0   0   0   0   1  1   1   1   1

Tokenizers that others made have tokens of their own for this, BERT's [CLS] and [SEP].
"""

from collections.abc import Sequence
from dataclasses import dataclass

from clearhead.text.foreign import AnyTokenizer, ForeignTokenizer

__all__ = ["Framing"]


@dataclass(frozen=True)
class Framing:
    """Which tokens stand around texts."""

    first: int
    """Before the first text; its vector stands for the whole."""
    last: int
    """After each text."""

    @classmethod
    def of(cls, tokenizer: AnyTokenizer) -> "Framing":
        """As the tokenizer's makers do: [CLS] and [SEP], or else `<bos>` and `<eos>`."""
        if isinstance(tokenizer, ForeignTokenizer) and {"cls", "sep"} <= tokenizer.specials.keys():
            return cls(tokenizer.special("cls"), tokenizer.special("sep"))
        return cls(tokenizer.bos, tokenizer.eos)

    def around(self, *texts: Sequence[int]) -> tuple[list[int], list[int]]:
        """One or two texts in a row, and the segment of each token.

        >>> Framing(1, 2).around([7, 8], [9])
        ([1, 7, 8, 2, 9, 2], [0, 0, 0, 0, 1, 1])
        """
        tokens, segments = [self.first], [0]
        for segment, text in enumerate(texts):
            tokens += [*text, self.last]
            segments += [segment] * (len(text) + 1)
        return tokens, segments

    def n_around(self, n_texts: int) -> int:
        """How many tokens are added to so many texts."""
        return 1 + n_texts
