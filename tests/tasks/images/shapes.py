"""Small pictures for the tests: bars that lie, bars that stand, and spots, each somewhere."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["NAMES", "SETTINGS", "draw", "write"]

NAMES = ("bar", "pole", "spot")
SIZE = 12
SETTINGS: dict[str, Any] = {
    "model.n_layers": 2, "model.d_model": 32, "model.d_ff": 64, "model.n_heads": 2,
    "model.patch_size": 3, "n_batch_pictures": 32, "training.n_steps": 150, "training.lr": 0.005,
    "training.validate_every": 50, "training.average": 0.9,
}  # fmt: skip


def draw(n: int, seed: int = 0) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """So many pictures with their labels; each is there once."""
    random = np.random.default_rng(seed)
    images = random.integers(0, 60, (n, SIZE, SIZE), dtype=np.uint8)
    labels = np.arange(n) % 3
    for image, label in zip(images, labels.tolist(), strict=True):
        height, width = ((2, 8), (8, 2), (4, 4))[label]
        top, left = random.integers(0, [SIZE - height + 1, SIZE - width + 1])
        image[top : top + height, left : left + width] += np.uint8(150)
    return images, labels


def write(path: Path, n: int, seed: int = 0) -> Path:
    """The same as an .npz with names."""
    images, labels = draw(n, seed)
    np.savez(path, images=images, labels=labels, names=np.array(NAMES))
    return path
