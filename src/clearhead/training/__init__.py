"""Training: loss, schedule, the loop, checkpoints and exact resume."""

from clearhead.training.loop import Interrupted, Outcome, Trainer, TrainingConfig
from clearhead.training.loss import smoothed_loss
from clearhead.training.schedule import ScheduleConfig

__all__ = [
    "Interrupted",
    "Outcome",
    "ScheduleConfig",
    "Trainer",
    "TrainingConfig",
    "smoothed_loss",
]
