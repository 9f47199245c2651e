"""Vectors of positions for the engine, the same numbers as in `layers.positions`."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["sinusoids"]


def sinusoids(n_positions: int, d_model: int) -> NDArray[np.float32]:
    """PE for the positions 0, 1, …, n_positions − 1; Vaswani et al. 2017, §3.5."""
    two_i = np.arange(0, d_model, 2)
    angle = np.arange(n_positions)[:, None] / 10000 ** (two_i / d_model)
    pairs = np.stack([np.sin(angle), np.cos(angle)], axis=-1)
    table = pairs.reshape(n_positions, -1)[:, :d_model]
    return np.ascontiguousarray(table, np.float32)
