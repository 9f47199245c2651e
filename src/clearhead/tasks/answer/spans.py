"""What a model says of every position → the best spans, over all windows of a context.

    log p(i … j) = start_i + end_j + log share of answers of that length + constant

A span is worth what its first token says of starts and its last one of ends (Devlin et al. 2019,
§4.2). Windows overlap: the better of two values of a span counts.

Departs: both ends are guessed apart from each other, and a model that is unsure of both would take
long spans; so it counts how many answers of the training data are as long, if that is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from clearhead.data.rows import Row, RowBatches
from clearhead.models import Bert
from clearhead.tasks.answer.reading import Read, ReadingConfig

__all__ = ["Spans", "find_spans", "score_rows"]

N_TOKENS = 8192
"""So many tokens are read at once."""


@dataclass(frozen=True)
class Spans:
    """The probability of each span of a context, and that there is no answer in it."""

    probs: NDArray[np.float64]
    """The first token × how many follow it."""
    refusal: float

    @property
    def starts(self) -> NDArray[np.float64]:
        """How probable it is that the answer begins at each token."""
        return self.probs.sum(1)

    @property
    def ends(self) -> NDArray[np.float64]:
        """How probable it is that the answer ends at each token."""
        ends = np.zeros(len(self.probs))
        for more in range(self.probs.shape[1]):
            ends[more:] += self.probs[: len(ends) - more, more]
        return ends

    def best(self, n: int) -> list[tuple[int, int, float]]:
        """The most probable spans: first token, last token, probability."""
        flat = self.probs.ravel()
        order = np.argsort(-flat, kind="stable")[:n]
        found = [(*divmod(int(place), self.probs.shape[1]), float(flat[place])) for place in order]
        return [(first, first + more, prob) for first, more, prob in found if prob > 0]


@torch.no_grad()
def score_rows(model: Bert, rows: Sequence[Row]) -> list[NDArray[np.float64]]:
    """The logits of start and end at each token of each row, in their order."""
    device = next(model.parameters()).device
    found: dict[int, NDArray[np.float64]] = {}
    for batch in RowBatches(rows, N_TOKENS, model.config.pad).in_length_order():
        moved = batch.to(device)
        logits = model(moved.tokens, moved.segments).double().cpu().numpy()
        for place, table in zip(batch.rows.tolist(), logits, strict=True):
            found[place] = table[: len(rows[place].tokens)]
    return [found[place] for place in range(len(rows))]


def find_spans(
    read: Read,
    logits: Sequence[NDArray[np.float64]],
    config: ReadingConfig,
    lengths: Sequence[float] = (),
) -> Spans:
    """All spans of a context that may be an answer; `logits` are those of its windows.

    `lengths` are the shares of answers with one token, two, and so on.
    """
    n = len(read.placed.tokens)
    scores = np.full((n, min(n, config.n_longest)), -np.inf)
    refusal = np.inf
    for window, (begin, table) in enumerate(zip(read.begins, logits, strict=True)):
        inside = table[read.n_before : read.n_before + read.n_context(window)]
        refusal = min(refusal, float(table[0].sum()))
        for more in range(min(len(inside), scores.shape[1])):
            values = inside[: len(inside) - more, 0] + inside[more:, 1]
            place = slice(begin, begin + len(values))
            scores[place, more] = np.maximum(scores[place, more], values)
    if lengths:
        scores += np.log(lengths[: scores.shape[1]])
    _leave_out_blanks(scores, read)
    refusal = refusal if config.has_refusals else -np.inf
    largest = max(refusal, float(scores.max()))
    weights, of_refusal = np.exp(scores - largest), float(np.exp(refusal - largest))
    total = weights.sum() + of_refusal
    return Spans(weights / total, of_refusal / total)


def _leave_out_blanks(scores: NDArray[np.float64], read: Read) -> None:
    """No span begins or ends with white space alone, unless there is nothing else."""
    is_blank = np.array(read.placed.starts) >= np.array(read.placed.ends)
    if is_blank.all():
        return
    scores[is_blank] = -np.inf
    for more in range(1, scores.shape[1]):
        scores[: len(scores) - more, more][is_blank[more:]] = -np.inf
