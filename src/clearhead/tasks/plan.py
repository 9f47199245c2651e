"""The plan: what is going to be trained, for how long, and why, before anything is started."""

from dataclasses import dataclass, field
from typing import Any

from clearhead.config import Config
from clearhead.errors import ConfigError
from clearhead.training import ScheduleConfig, TrainingConfig

__all__ = ["Plan", "make_plan"]

# By number of pairs: the largest size that such data can fill, its dropout and its highest rate.
_SIZES = [
    (50_000, "tiny", 0.3, 1e-3),
    (200_000, "tiny", 0.1, 1e-3),
    (1_000_000, "small", 0.1, 1e-3),
    (float("inf"), "base", 0.1, 7e-4),
]


@dataclass(frozen=True, kw_only=True)
class Plan(Config):
    """Everything that was decided about a run; `--set KEY=VALUE` changes one of them."""

    size: str
    n_vocabulary: int
    dropout: float
    n_batch_tokens: int = 4096
    smoothing: float = 0.1
    n_epochs: float
    training: TrainingConfig = field(default_factory=TrainingConfig)

    def __post_init__(self) -> None:
        """Refuse a plan that could not be carried out."""
        super().__post_init__()
        if self.n_vocabulary < 1 or self.n_batch_tokens < 1:
            raise ConfigError(
                f"n_vocabulary={self.n_vocabulary} and n_batch_tokens={self.n_batch_tokens} must "
                f"be at least 1"
            )
        if not 0 <= self.smoothing < 1:
            raise ConfigError(f"smoothing={self.smoothing} must be at least 0 and below 1")


def make_plan(
    n_pairs: int,
    n_batches: int,
    n_vocabulary: int,
    *,
    size: str | None = None,
    n_steps: int | None = None,
    settings: dict[str, Any] | None = None,
) -> Plan:
    """Choose everything from the data; `size` and `n_steps` may be given, `settings` override."""
    name, dropout, peak = next(
        (name, dropout, peak) for limit, name, dropout, peak in _SIZES if n_pairs <= limit
    )
    if size is not None and size != name:
        peaks = {name: peak for _, name, _, peak in _SIZES}
        name, peak = size, peaks.get(size, 7e-4)
    if n_steps is None:
        n_steps = round(n_batches * min(60, max(5, 2_000_000 / n_pairs)))
    plan = Plan(
        size=name,
        n_vocabulary=n_vocabulary,
        dropout=dropout,
        n_epochs=round(n_steps / n_batches, 1),
        training=TrainingConfig(
            n_steps=n_steps,
            validate_every=max(1, min(n_steps // 10, 2 * n_batches)),
            schedule=ScheduleConfig(
                kind="cosine", peak=peak, warm_up=max(1, min(2000, n_steps // 5)), n_steps=n_steps
            ),
        ),
    )
    return plan.override(settings or {})
