"""Pictures → batches, each time a little different: moved, mirrored, with a part wiped out.

Everything that is drawn comes from (seed, epoch, batch) alone, so that a run that was stopped goes
on with the exact pictures.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from clearhead.config import Config
from clearhead.data.pictures import PictureSet
from clearhead.errors import ConfigError, InputError

__all__ = ["Changes", "PictureBatch", "PictureBatches", "normalised"]


@dataclass(frozen=True, kw_only=True)
class Changes(Config):
    """What is done to pictures at random while training; what they show stays the same."""

    shift: int = 0
    """Pixels by which a picture is moved at most, up or down and left or right."""
    mirrors: bool = False
    """Whether half of them are turned left to right."""
    erase: float = 0.0
    """The share of pictures of which a rectangle is wiped out."""

    def __post_init__(self) -> None:
        """Refuse what cannot be done."""
        super().__post_init__()
        if self.shift < 0:
            raise ConfigError(f"shift={self.shift} must be at least 0")
        if not 0 <= self.erase <= 1:
            raise ConfigError(f"erase={self.erase} must be from 0 to 1")

    def apply(self, images: NDArray[np.uint8], random: np.random.Generator) -> NDArray[np.uint8]:
        """Change each picture by itself; what moves in is as the edge was."""
        n, _, height, width = images.shape
        if self.shift:
            moves = random.integers(-self.shift, self.shift + 1, (2, n))
            rows = (np.arange(height) + moves[0][:, None]).clip(0, height - 1)
            columns = (np.arange(width) + moves[1][:, None]).clip(0, width - 1)
            each = np.arange(n)[:, None, None]
            moved = images.transpose(0, 2, 3, 1)[each, rows[:, :, None], columns[:, None, :]]
            images = moved.transpose(0, 3, 1, 2)
        if self.mirrors:
            is_turned = random.random((n, 1, 1, 1)) < 0.5
            images = np.where(is_turned, images[..., ::-1], images)
        if self.erase:
            images = images.copy()
            for row in np.flatnonzero(random.random(n) < self.erase).tolist():
                h, w = random.integers(1, [max(2, height // 2), max(2, width // 2)])
                top, left = random.integers(0, [height - h + 1, width - w + 1])
                part = images[row, :, top : top + h, left : left + w]
                part[...] = images[row].mean((1, 2)).astype(np.uint8)[:, None, None]
        return images


@dataclass(frozen=True)
class PictureBatch:
    """Some pictures as the model reads them."""

    images: Float[Tensor, "B channels height width"]
    labels: Int[Tensor, " B"]

    def to(self, device: torch.device) -> "PictureBatch":
        """The same on another device."""
        return PictureBatch(self.images.to(device), self.labels.to(device))


class PictureBatches:
    """All pictures once in each epoch, `n_rows` to a batch; the last may be smaller."""

    def __init__(
        self,
        pictures: PictureSet,
        n_rows: int,
        mean: Sequence[float],
        std: Sequence[float],
        changes: Changes | None = None,
        seed: int = 0,
    ) -> None:
        if n_rows < 1 or seed < 0:
            raise ConfigError(f"n_rows={n_rows} must be at least 1, seed={seed} at least 0")
        if not len(pictures):
            raise InputError("there is nothing to make batches of")
        self.pictures, self.n_rows, self.seed = pictures, n_rows, seed
        self.mean, self.std, self.changes = mean, std, changes or Changes()

    def n_batches(self, epoch: int) -> int:
        """How many batches an epoch has."""
        return -(-len(self.pictures) // self.n_rows)

    def epoch(self, number: int, start: int = 0) -> Iterator[PictureBatch]:
        """Yield the batches of an epoch; `start=k` gives exactly what comes after the first k."""
        if number < 0 or not 0 <= start <= self.n_batches(number):
            raise InputError(
                f"start={start}, but epoch {number} has {self.n_batches(number)} batches"
            )
        order = np.random.default_rng([self.seed, number]).permutation(len(self.pictures))
        for batch in range(start, self.n_batches(number)):
            places = order[batch * self.n_rows : (batch + 1) * self.n_rows]
            random = np.random.default_rng([self.seed, number, batch])
            images = self.changes.apply(self.pictures.images[places], random)
            yield PictureBatch(
                normalised(images, self.mean, self.std),
                torch.from_numpy(self.pictures.labels[places]),
            )

    def some(self, n_batches: int) -> list[PictureBatch]:
        """A few batches to try things with, one more than asked for."""
        found = []
        for epoch in range(n_batches + 1):  # of few pictures, an epoch has few batches
            for batch in self.epoch(epoch):
                found.append(batch)
                if len(found) > n_batches:
                    return found
        return found

    def padding_share(self, epoch: int = 0) -> float:
        """Pictures are all of one size."""
        return 0.0


def normalised(
    images: NDArray[Any], mean: Sequence[float], std: Sequence[float]
) -> Float[Tensor, "B channels height width"]:
    """Bytes as numbers around 0: (x / 255 − mean) / std, channel by channel."""
    pixels = torch.from_numpy(np.ascontiguousarray(images)).float()
    shift, scale = (torch.tensor(numbers)[:, None, None] for numbers in (mean, std))
    return (pixels / 255 - shift) / scale
