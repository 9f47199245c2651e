"""How well hidden tokens are guessed, beside models that only count."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clearhead.data.masking import frame_rows
from clearhead.errors import InputError
from clearhead.models import Bert
from clearhead.tasks.fill.counts import BOTH_SIDES, LEFT_SIDE, NO_SIDE, Counts
from clearhead.tasks.scores import Score
from clearhead.tasks.text_corpus import encode_texts
from clearhead.text import AnyTokenizer, ForeignTokenizer
from clearhead.text.framing import Framing

__all__ = ["Guessed", "Hidden", "guess_gaps", "hide_tokens", "ordinary_tokens", "score_gaps"]

SHARE = 1 / 7
"""About as much as in training: in seven rounds every token is hidden once."""
N_ENOUGH = 20_000
"""So many hidden tokens say enough; texts with more are not hidden in all rounds."""
N_ROWS = 16
SEED = 20190524


@dataclass(frozen=True)
class Hidden:
    """A row of tokens, and which of them are hidden in each of some rounds."""

    row: NDArray[np.int64]
    rounds: tuple[NDArray[np.bool_], ...]

    @property
    def n_hidden(self) -> int:
        """In all rounds together."""
        return sum(int(each.sum()) for each in self.rounds)

    def targets(self) -> NDArray[np.int64]:
        """What is hidden, round by round."""
        return np.concatenate([self.row[each] for each in self.rounds])


@dataclass(frozen=True)
class Guessed:
    """How likely each hidden token was held, and whether it was the first choice."""

    log_probs: NDArray[np.float64]
    is_right: NDArray[np.bool_]

    @property
    def accuracy(self) -> float:
        """Per cent of the hidden tokens that were the first choice."""
        return 100 * float(self.is_right.mean())

    @property
    def loss(self) -> float:
        """Nats per hidden token."""
        return -float(self.log_probs.mean())

    @property
    def perplexity(self) -> float:
        """Among how many equally probable tokens the model would have to guess."""
        return math.exp(self.loss)


def ordinary_tokens(tokenizer: AnyTokenizer) -> NDArray[np.int64]:
    """All tokens that stand for text, and so may be hidden and guessed."""
    if isinstance(tokenizer, ForeignTokenizer):
        return np.setdiff1d(np.arange(tokenizer.n_tokens), list(tokenizer.specials.values()))
    return np.arange(tokenizer.n_specials, tokenizer.n_tokens)


def hide_tokens(
    tokenizer: AnyTokenizer, texts: Sequence[str], n_rounds: int | None = None
) -> Hidden:
    """Hide a seventh of the tokens in each round, always the same ones; others in every round."""
    row = encode_texts(tokenizer, texts).astype(np.int64)
    can_be = np.isin(row, ordinary_tokens(tokenizer))
    if not can_be.any():
        raise InputError("there is no text in which a token could be hidden")
    n_all = round(1 / SHARE)
    if n_rounds is None:
        n_rounds = min(n_all, math.ceil(N_ENOUGH / max(1.0, SHARE * float(can_be.sum()))))
    turn = np.random.default_rng(SEED).permutation(len(row)) % n_all
    return Hidden(row, tuple(can_be & (turn == each) for each in range(n_rounds)))


@torch.no_grad()
def guess_gaps(model: Bert, tokenizer: AnyTokenizer, hidden: Hidden, context: int) -> Guessed:
    """Let a model fill all gaps, window by window; no hidden token is shown."""
    frame = Framing.of(tokenizer)
    device = next(model.parameters()).device
    log_probs: list[Tensor] = []
    is_right: list[Tensor] = []
    for rows, is_hidden in _windows(hidden, context - frame.n_around(1)):
        targets = frame_rows(rows, (frame.first, frame.last))
        gaps = np.pad(is_hidden, ((0, 0), (1, 1)))
        inputs = torch.from_numpy(np.where(gaps, tokenizer.mask, targets)).to(device)
        x = model.read(inputs)[torch.from_numpy(gaps).to(device)]
        logits = model.output(x[None])[0].float().log_softmax(-1)
        right = torch.from_numpy(targets[gaps]).to(device)
        log_probs.append(logits.gather(1, right[:, None])[:, 0].cpu())
        is_right.append((logits.argmax(-1) == right).cpu())
    return Guessed(torch.cat(log_probs).double().numpy(), torch.cat(is_right).numpy())


def _windows(hidden: Hidden, n_text: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_]]]:
    """Windows of one length under each other, and what is hidden in them; the rest by itself."""
    n_whole = len(hidden.row) // n_text * n_text
    for gaps in hidden.rounds:
        for begin in range(0, n_whole, N_ROWS * n_text):
            end = min(n_whole, begin + N_ROWS * n_text)
            shape = -1, n_text
            yield hidden.row[begin:end].reshape(shape), gaps[begin:end].reshape(shape)
        if n_whole < len(hidden.row):
            yield hidden.row[None, n_whole:], gaps[None, n_whole:]


def score_gaps(
    found: Guessed, hidden: Hidden, tokenizer: AnyTokenizer, train: NDArray[np.integer] | None
) -> list[Score]:
    """The scores of a model, and of what only counts in the tokens it was trained on.

    Without those, tokens are counted in the texts that are guessed, which is more than a model may.
    """
    n = f"{found.is_right.size:,} hidden tokens"
    scores = [
        Score("accuracy of hidden tokens", found.accuracy, f"% of {n}, each the first choice"),
        Score("perplexity of hidden tokens", found.perplexity, "exp of the nats per hidden token"),
    ]
    known = {
        "the most frequent token": (NO_SIDE, "no neighbour"),
        "counts of two tokens before": (LEFT_SIDE, "counted in the training texts"),
        "counts of the tokens on both sides": (BOTH_SIDES, "counted in the training texts"),
    }
    if train is None:
        known = {"the most frequent token": (NO_SIDE, "counted in these very texts")}
    counted_in = hidden.row if train is None else train
    for name, (contexts, how) in known.items():
        counted = _guess_by_counts(hidden, tokenizer, counted_in, contexts)
        scores += [
            Score(f"accuracy of {name}", counted.accuracy, f"%, {how}"),
            Score(f"perplexity of {name}", counted.perplexity, how),
        ]
    return scores


def _guess_by_counts(
    hidden: Hidden,
    tokenizer: AnyTokenizer,
    train: NDArray[np.integer],
    contexts: Sequence[tuple[int, ...]],
) -> Guessed:
    counts = Counts(np.asarray(train), tokenizer.n_tokens, contexts)
    log_probs, is_right = [], []
    for gaps in hidden.rounds:
        places = np.flatnonzero(gaps)
        row = np.where(gaps, tokenizer.mask, hidden.row)
        for right, p in zip(hidden.row[places], counts.guess(row, places), strict=True):
            log_probs.append(math.log(p[right]))
            is_right.append(int(p.argmax()) == right)
    return Guessed(np.array(log_probs), np.array(is_right))
