"""Other pieces for the same text: BPE in which some merges are left out at random.

A model that sees a word in several pieces learns what the pieces mean, which helps most where there
is little data. At each step of the merging, every possible merge is left out with probability p
(Provilkov et al. 2020, §3.1). What a text gets depends on the seed and on nothing else.
"""

import json
import random
from collections.abc import Sequence
from itertools import pairwise

from clearhead.errors import ConfigError
from clearhead.text.normal import normalise
from clearhead.text.tokenizer import Tokenizer

__all__ = ["Splitter"]

N_SPLITS = 16
"""How many ways to split a word are drawn; each time it stands somewhere, one of them is taken."""


class Splitter:
    """Draws tokens for texts; decoded, they are the texts again."""

    def __init__(self, tokenizer: Tokenizer, p: float, seed: int = 0) -> None:
        if tokenizer.kind != "bpe":
            raise ConfigError(f"subword dropout is for bpe, and the tokenizer is {tokenizer.kind}")
        if not 0 <= p < 1:
            raise ConfigError(f"subword_dropout={p} must be at least 0 and below 1")
        self.tokenizer, self.p, self.seed = tokenizer, p, seed
        rules = json.loads(tokenizer.rules.to_str())["model"]
        self.numbers: dict[str, int] = rules["vocab"]
        self.ranks = {(left, right): rank for rank, (left, right) in enumerate(rules["merges"])}
        self.random = random.Random(seed)
        self._known: dict[str, list[list[int]]] = {}

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Tokens of many texts, drawn anew at each call."""
        return [self.encode(text) for text in texts]

    def encode(self, text: str) -> list[int]:
        """Tokens of a text, without `<bos>` and `<eos>`."""
        rules = self.tokenizer.rules
        normal = normalise(text)
        if rules.normalizer is not None:
            normal = rules.normalizer.normalize_str(normal)
        words = rules.pre_tokenizer.pre_tokenize_str(normal) if rules.pre_tokenizer else []
        tokens: list[int] = []
        for word, _ in words:
            tokens += self.random.choice(self._splits(word))
        return tokens

    def _splits(self, word: str) -> list[list[int]]:
        """Some ways to split a word; one, if it has letters that are written as bytes."""
        if word not in self._known:
            if all(letter in self.numbers for letter in word):
                own = random.Random(f"{self.seed}:{word}")
                drawn = [self._split(word, own) for _ in range(N_SPLITS)]
            else:
                encoded = self.tokenizer.rules.model.tokenize(word)
                drawn = [[token.id for token in encoded]]
            self._known[word] = drawn
        return self._known[word]

    def _split(self, word: str, own: random.Random) -> list[int]:
        pieces = list(word)
        while True:
            possible = [
                (self.ranks[pair], place)
                for place, pair in enumerate(pairwise(pieces))
                if pair in self.ranks and own.random() >= self.p
            ]
            if not possible:
                return [self.numbers[piece] for piece in pieces]
            _, place = min(possible)
            pieces[place : place + 2] = [pieces[place] + pieces[place + 1]]
