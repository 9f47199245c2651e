"""The learning rate: it rises while the model finds its feet, then falls.

    lrate = d_model^−0.5 · min(step^−0.5, step · warm_up^−1.5)  Vaswani et al. 2017, eq. 3

Written with its highest value, `peak` = (d_model · warm_up)^−0.5, this is
peak · min(step / warm_up, √(warm_up / step)). The cosine falls to zero at the last step instead.
"""

import math
from dataclasses import dataclass
from typing import Literal

from clearhead.config import Config
from clearhead.errors import ConfigError

__all__ = ["ScheduleConfig", "learning_rate", "paper_peak"]


@dataclass(frozen=True, kw_only=True)
class ScheduleConfig(Config):
    """How the learning rate moves; `n_steps` matters to the cosine only."""

    kind: Literal["inverse_sqrt", "cosine"] = "inverse_sqrt"
    peak: float = 5e-4
    warm_up: int = 4000
    n_steps: int = 100_000

    def __post_init__(self) -> None:
        """Refuse a schedule that never moves or never rises."""
        super().__post_init__()
        if not self.peak > 0:
            raise ConfigError(f"peak={self.peak} must be above 0")
        if min(self.warm_up, self.n_steps) < 1:
            raise ConfigError(
                f"warm_up={self.warm_up} and n_steps={self.n_steps} must be at least 1"
            )


def learning_rate(config: ScheduleConfig, step: int) -> float:
    """Return the rate of step 1, 2, 3, …

    >>> config = ScheduleConfig(peak=1.0, warm_up=100)
    >>> [round(learning_rate(config, step), 2) for step in (50, 100, 400)]
    [0.5, 1.0, 0.5]
    """
    if step <= config.warm_up:
        return config.peak * step / config.warm_up
    if config.kind == "inverse_sqrt":
        return config.peak * math.sqrt(config.warm_up / step)
    rest = max(1, config.n_steps - config.warm_up)
    progress = min(1.0, (step - config.warm_up) / rest)
    return config.peak * 0.5 * (1 + math.cos(math.pi * progress))


def paper_peak(d_model: int, warm_up: int) -> float:
    """Return the highest rate of equation 3."""
    return (d_model * warm_up) ** -0.5
