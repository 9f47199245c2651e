"""A long row of tokens to batches: windows of one length, each with the token after it.

    tokens      the dog runs . <eos> a cat
    inputs      the dog runs .
    targets     dog runs . <eos>

An epoch has every token as a target once, but for the ends: its windows follow each other from a
place that is drawn anew for each epoch, and come in an order that is drawn, too.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor

from clearhead.errors import ConfigError, InputError

__all__ = ["WindowBatch", "Windows"]


@dataclass(frozen=True)
class WindowBatch:
    """Some windows under each other."""

    inputs: Int[Tensor, "B T"]
    targets: Int[Tensor, "B T"]

    def to(self, device: torch.device) -> "WindowBatch":
        """The same on another device."""
        return WindowBatch(self.inputs.to(device), self.targets.to(device))

    @property
    def n_tokens(self) -> int:
        """How many tokens are to be predicted."""
        return self.targets.numel()


class Windows:
    """All windows of the tokens once in each epoch, `n_rows` to a batch.

    The order is made from (seed, epoch) alone. Tokens may be a memory map: only what a batch needs
    is read.
    """

    def __init__(
        self, tokens: NDArray[np.integer], context: int, n_rows: int, seed: int = 0
    ) -> None:
        if context < 1 or n_rows < 1 or seed < 0:
            raise ConfigError(
                f"context={context} and n_rows={n_rows} must be at least 1, seed={seed} at least 0"
            )
        if len(tokens) < 2 * context + 2:
            raise InputError(
                f"{len(tokens)} tokens are too few for windows of context={context}: make it "
                "smaller, or give more text"
            )
        self.tokens, self.context, self.n_rows, self.seed = tokens, context, n_rows, seed

    def n_batches(self, epoch: int) -> int:
        """How many batches an epoch has; the last one may be smaller."""
        return -(-len(self._begins(epoch)) // self.n_rows)

    def epoch(self, number: int, start: int = 0) -> Iterator[WindowBatch]:
        """Yield the batches of an epoch; `start=k` gives exactly what comes after the first k."""
        begins = self._begins(number)
        n_batches = -(-len(begins) // self.n_rows)
        if not 0 <= start <= n_batches:
            raise InputError(f"start={start}, but epoch {number} has {n_batches} batches")
        for first in range(start * self.n_rows, len(begins), self.n_rows):
            yield self._batch(begins[first : first + self.n_rows])

    def some(self, n_batches: int) -> list[WindowBatch]:
        """A few batches to try things with."""
        found = []
        for number, batch in enumerate(self.epoch(0)):
            if number > n_batches:
                break
            found.append(batch)
        return found

    def padding_share(self, epoch: int = 0) -> float:
        """Windows have no padding."""
        return 0.0

    def _begins(self, epoch: int) -> NDArray[np.int64]:
        if epoch < 0:
            raise InputError(f"epoch={epoch} must be at least 0")
        random = np.random.default_rng([self.seed, epoch])
        first = int(random.integers(self.context))
        begins = np.arange(first, len(self.tokens) - self.context, self.context)
        random.shuffle(begins)
        return begins

    def _batch(self, begins: NDArray[np.int64]) -> WindowBatch:
        rows = np.stack([self.tokens[b : b + self.context + 1] for b in begins.tolist()])
        table = torch.from_numpy(rows.astype(np.int64))
        return WindowBatch(table[:, :-1], table[:, 1:])
