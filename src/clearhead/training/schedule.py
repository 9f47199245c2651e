"""The learning rate: it rises while the model finds its feet, then falls.

    lrate = d_model^−0.5 · min(step^−0.5, step · warm_up^−1.5)  Vaswani et al. 2017, eq. 3

Written with its highest value, `lr` = (d_model · warm_up)^−0.5, this is
lr · min(step / warm_up, √(warm_up / step)). The cosine falls to zero at the last step instead.

Dropout may rise, too (Morerio et al. 2017): what has hardly been learned cannot be learned by
heart, and noise only slows it down.
"""

import math
from typing import Literal

__all__ = ["Schedule", "dropout_share", "learning_rate", "paper_lr"]

Schedule = Literal["cosine", "inverse_sqrt"]


def learning_rate(
    step: int, schedule: Schedule = "cosine", *, lr: float, warm_up: int, n_steps: int
) -> float:
    """Return the rate of step 1, 2, 3, …; `lr` is the highest, and comes at step `warm_up`.

    >>> rates = dict(lr=1.0, warm_up=100, n_steps=700)
    >>> [round(learning_rate(step, "inverse_sqrt", **rates), 2) for step in (50, 100, 400)]
    [0.5, 1.0, 0.5]
    >>> [round(learning_rate(step, "cosine", **rates), 2) for step in (50, 100, 400, 700)]
    [0.5, 1.0, 0.5, 0.0]
    """
    if step <= warm_up:
        return lr * step / warm_up
    if schedule == "inverse_sqrt":
        return lr * math.sqrt(warm_up / step)
    progress = min(1.0, (step - warm_up) / max(1, n_steps - warm_up))
    return lr * 0.5 * (1 + math.cos(math.pi * progress))


def dropout_share(step: int, rise: int) -> float:
    """How much of a model's dropout is in force in step 1, 2, 3, …; all of it after the rise.

    >>> [dropout_share(step, rise=50) for step in (1, 26, 51, 100)], dropout_share(1, rise=0)
    ([0.0, 0.5, 1.0, 1.0], 1.0)
    """
    return min(1.0, (step - 1) / rise) if rise else 1.0


def paper_lr(d_model: int, warm_up: int) -> float:
    """Return the highest rate of equation 3."""
    return (d_model * warm_up) ** -0.5
