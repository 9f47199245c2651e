"""Training: loss, schedule, the loop, checkpoints and exact resume."""

from clearhead.training.device import pick_device
from clearhead.training.loop import Interrupted, Outcome, Trainer, TrainingConfig
from clearhead.training.loss import smoothed_loss

__all__ = [
    "Interrupted",
    "Outcome",
    "Trainer",
    "TrainingConfig",
    "pick_device",
    "smoothed_loss",
]
