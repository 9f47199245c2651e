"""Training: loss, schedule, the loop, checkpoints and exact resume."""

from clearhead.training.device import pick_device
from clearhead.training.loop import Interrupted, Outcome, Trainer
from clearhead.training.loss import smoothed_loss
from clearhead.training.settings import TrainingConfig

__all__ = [
    "Interrupted",
    "Outcome",
    "Trainer",
    "TrainingConfig",
    "pick_device",
    "smoothed_loss",
]
