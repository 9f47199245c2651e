"""Positions for the engine, the same numbers as in `layers.positions`."""

import numpy as np
from numpy.typing import NDArray

from clearhead.config import GPTConfig, LlamaConfig
from clearhead.engine.shape import AnyConfig
from clearhead.errors import InputError

__all__ = ["positions_of", "sinusoids", "turns"]


def positions_of(
    config: AnyConfig, n_positions: int, learned: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """What the first positions have: a vector to add, or their turns; all that were learned."""
    if isinstance(config, GPTConfig):
        if n_positions > config.n_positions:
            raise InputError(
                f"a text of {n_positions} tokens is longer than the {config.n_positions} positions "
                "that this model has learned; shorten it, or write less"
            )
        if learned is None or learned.shape != (config.n_positions, config.d_model):
            raise InputError("the weight positions.weight is missing, or has another shape")
        return learned
    if isinstance(config, LlamaConfig):
        return turns(n_positions, config.head_width, config.rotary_base)
    return sinusoids(
        n_positions, config.block.d_model, sines_first=config.positions == "sines_first"
    )


def turns(n_positions: int, d_head: int, base: float) -> NDArray[np.float32]:
    """Cosines, then sines, of pos · base^(−2i/d_head); Su et al. 2021, eq. 15."""
    angle = np.arange(n_positions)[:, None] * base ** -(np.arange(0, d_head, 2) / d_head)
    return np.concatenate([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)


def sinusoids(n_positions: int, d_model: int, *, sines_first: bool = False) -> NDArray[np.float32]:
    """PE for the positions 0, 1, …, n_positions − 1; Vaswani et al. 2017, §3.5."""
    two_i = np.arange(0, d_model, 2)
    angle = np.arange(n_positions)[:, None] / 10000 ** (two_i / d_model)
    waves = [np.sin(angle), np.cos(angle)]
    table = np.concatenate(waves, -1) if sines_first else np.stack(waves, -1)
    return np.ascontiguousarray(table.reshape(n_positions, -1)[:, :d_model], np.float32)
