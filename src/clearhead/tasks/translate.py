"""Translation: text in one language → text in another, with its score and its tokens.

translator = Translator.load("en-hi")
translator("How are you?").text
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import torch

from clearhead.decoding import DecodingConfig, Hypothesis, Request, generate
from clearhead.errors import InputError
from clearhead.models import Transformer
from clearhead.tasks.folder import load_folder
from clearhead.text import Tokenizer

__all__ = ["Translation", "Translator", "max_length_for"]


@dataclass(frozen=True)
class Translation:
    """One answer. The score is the mean log-probability of its tokens."""

    text: str
    score: float
    tokens: list[str]
    is_finished: bool
    """False when the answer had to be cut at its longest allowed length."""


class Translator:
    """A trained model with its tokenizer: call it with a text, or with several."""

    def __init__(self, model: Transformer, tokenizer: Tokenizer, card: dict[str, Any]) -> None:
        self.model, self.tokenizer, self.card = model.eval(), tokenizer, card

    @classmethod
    def load(cls, folder: str | Path) -> "Translator":
        """Open a model folder."""
        contents = load_folder(Path(folder))
        return cls(contents.model, contents.tokenizer, contents.card)

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return next(self.model.parameters()).device

    @overload
    def __call__(self, text: str, *, n_beams: int = ...) -> Translation: ...
    @overload
    def __call__(self, text: list[str], *, n_beams: int = ...) -> list[Translation]: ...
    def __call__(
        self, text: str | list[str], *, n_beams: int = 5
    ) -> Translation | list[Translation]:
        """Translate a text, or several in their order. A blank text stays blank."""
        if isinstance(text, str):
            return self._translate([text], n_beams)[0]
        return self._translate(text, n_beams)

    def _translate(self, texts: list[str], n_beams: int, n_tokens: int = 2048) -> list[Translation]:
        """Batches of similar length, the answers put back in the order of the texts."""
        even = [" ".join(text.split()) for text in texts]  # as the doctor evens the training data
        ids = self.tokenizer.encode_batch(even)
        rows = [[*row, self.tokenizer.eos] if row else [] for row in ids]
        answers: list[Translation | None] = [None] * len(rows)
        config = DecodingConfig(n_beams=n_beams)
        for places in _similar_lengths([len(row) for row in rows], n_tokens):
            found = generate(
                self.model,
                [
                    Request(rows[place], max_length_for(len(rows[place])), config)
                    for place in places
                ],
                bos=self.tokenizer.bos,
                eos=self.tokenizer.eos,
                pad=self.tokenizer.pad,
                device=self.device,
            )
            for place, hypotheses in zip(places, found, strict=True):
                answers[place] = self._answer(hypotheses[0])
        blank = Translation("", 0.0, [], True)
        return [blank if answer is None else answer for answer in answers]

    def _answer(self, hypothesis: Hypothesis) -> Translation:
        return Translation(
            # One line in, one line out: a model may have learned to write a line break.
            " ".join(self.tokenizer.decode(hypothesis.tokens).split()),
            hypothesis.score,
            self.tokenizer.tokens(hypothesis.tokens),
            hypothesis.is_finished,
        )


def max_length_for(n_source_tokens: int) -> int:
    """The longest answer that is allowed: generous, but an end that never comes is cut off."""
    return 2 * n_source_tokens + 20


def _similar_lengths(lengths: list[int], n_tokens: int) -> Iterator[list[int]]:
    """Places of texts that are not blank, in groups of about `n_tokens` padded tokens."""
    if n_tokens < 1:
        raise InputError(f"n_tokens={n_tokens} must be at least 1")
    order = sorted((place for place, n in enumerate(lengths) if n), key=lambda p: -lengths[p])
    while order:
        n_rows = max(1, n_tokens // lengths[order[0]])
        yield order[:n_rows]
        order = order[n_rows:]
