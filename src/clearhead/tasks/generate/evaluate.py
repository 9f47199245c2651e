"""How well a text model guesses what comes next, beside models that are nearly nothing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from clearhead.models import Llama
from clearhead.tasks.generate.ngrams import bits_of_ngrams, bits_of_packing
from clearhead.tasks.scores import Score
from clearhead.tasks.text_corpus import encode_texts
from clearhead.text import AnyTokenizer
from clearhead.training import smoothed_loss

__all__ = ["Guess", "guess", "score_texts"]

N_ROWS = 16


@dataclass(frozen=True)
class Guess:
    """The loss over some texts: every token is guessed once."""

    nats: float
    n_tokens: int
    n_characters: int
    n_bytes: int

    @property
    def loss(self) -> float:
        """Nats per token."""
        return self.nats / self.n_tokens

    @property
    def bits_per_byte(self) -> float:
        """How many bits a byte costs: the same measure for every vocabulary."""
        return self.nats / math.log(2) / self.n_bytes

    @property
    def nats_per_character(self) -> float:
        """The loss of character models."""
        return self.nats / self.n_characters


@torch.no_grad()
def guess(model: Llama, tokenizer: AnyTokenizer, texts: Sequence[str], context: int) -> Guess:
    """Guess each token from at least half a context before it, where there is so much."""
    row = torch.from_numpy(encode_texts(tokenizer, texts).astype("int64"))
    device = next(model.parameters()).device
    step = max(1, context // 2)
    begins = list(range(0, max(1, len(row) - 1 - step), step))
    nats, n_tokens = 0.0, 0
    for first in range(0, len(begins), N_ROWS):
        rows, targets, counts = [], [], []
        for begin in begins[first : first + N_ROWS]:
            window = row[begin : begin + context + 1]
            is_new = torch.arange(len(window) - 1) >= (0 if begin == 0 else context - step)
            pad = context + 1 - len(window)
            rows.append(torch.nn.functional.pad(window, (0, pad), value=tokenizer.pad))
            counts.append(torch.nn.functional.pad(is_new, (0, pad), value=False))
            targets.append(rows[-1][1:])
        inputs = torch.stack(rows)[:, :-1].to(device)
        plain, n = _loss(model, inputs, torch.stack(targets).to(device), torch.stack(counts))
        nats, n_tokens = nats + plain, n_tokens + n
    n_characters = sum(map(len, texts)) + len(texts)
    n_bytes = sum(len(text.encode("utf-8", "replace")) for text in texts) + len(texts)
    return Guess(nats, n_tokens, n_characters, n_bytes)


def _loss(model: Llama, inputs: Tensor, targets: Tensor, counts: Tensor) -> tuple[float, int]:
    _, plain = smoothed_loss(
        model.read(inputs), model.output.weight, targets, counts.to(inputs.device)
    )
    return float(plain), int(counts.sum())


def score_texts(found: Guess, train: Sequence[str], test: Sequence[str]) -> list[Score]:
    """The scores of a model, and of what needs none; counting needs the training texts."""
    scores = [
        Score("bits per byte", found.bits_per_byte, "of the test texts, each with its end"),
        Score("nats per character", found.nats_per_character, "the same loss"),
        Score("perplexity of a token", math.exp(found.loss), "exp of the nats per token"),
    ]
    if train:
        unigram, trigram = (bits_of_ngrams(train, test, order) for order in (1, 3))
        scores += [
            Score("bits per byte of a unigram", unigram, "bytes by themselves"),
            Score("bits per byte of a trigram", trigram, "two bytes before"),
        ]
    packed = bits_of_packing(train, test)
    how = "lzma, with the training texts before" if train else "lzma, of the test texts alone"
    return [
        *scores,
        Score("bits per byte of gzip", packed["gzip"], "zlib, level 9, of the test texts alone"),
        Score("bits per byte of xz", packed["xz"], how),
    ]
