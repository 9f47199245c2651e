"""How a model is trained: every number that `--set training.NAME=VALUE` can change."""

from dataclasses import dataclass

from clearhead.config import Config
from clearhead.errors import ConfigError
from clearhead.training.optimizer import OptimizerKind
from clearhead.training.schedule import Schedule

__all__ = ["TrainingConfig"]


@dataclass(frozen=True, kw_only=True)
class TrainingConfig(Config):
    """How a model is trained."""

    seed: int = 0
    n_steps: int = 100_000
    lr: float = 5e-4
    """The highest learning rate, reached after `warm_up` steps."""
    warm_up: int = 4000
    schedule: Schedule = "cosine"
    n_accumulated: int = 1
    clip: float = 1.0
    optimizer: OptimizerKind = "adam"
    weight_decay: float = 0.0
    """How far matrices shrink in a step, as a share of the learning rate; biases do not."""
    dropout_rise: int = 0
    """In so many steps dropout grows from nothing to what the model has."""
    average: float = 0.999
    """Each step, the averaged weights keep this share of themselves; 0 for no average."""
    validate_every: int = 500
    patience: int = 10
    """How many validations in a row may bring neither a better score nor a lower loss."""
    precision: str = "float32"

    def __post_init__(self) -> None:
        """Check what can be checked before the first step."""
        super().__post_init__()
        for name in ("n_steps", "warm_up", "n_accumulated", "validate_every", "patience"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be at least 1")
        if not 0 <= self.average < 1:
            raise ConfigError(f"average={self.average} must be at least 0 and below 1")
        if self.dropout_rise < 0:
            raise ConfigError(f"dropout_rise={self.dropout_rise} must be at least 0")
        for name in ("lr", "clip"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name}={getattr(self, name)} must be above 0")
        if not 0 <= self.weight_decay * self.lr < 1:
            raise ConfigError(
                f"weight_decay={self.weight_decay} must be at least 0, and below 1 / lr = "
                f"{1 / self.lr:g}: a step may not shrink a weight to nothing"
            )
        if self.precision not in ("float32", "bfloat16"):
            raise ConfigError(
                f"precision={self.precision!r} is not allowed: choose float32 or bfloat16"
            )
