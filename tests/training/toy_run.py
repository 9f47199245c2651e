"""A small real run for the tests: `python toy_run.py FOLDER` trains, resumes, and can be killed."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor, nn

from clearhead.layers import Dropout
from clearhead.training import Trainer, TrainingConfig

Batch = tuple[Tensor, Tensor]
CONFIG = TrainingConfig(
    n_steps=60,
    validate_every=7,
    patience=100,
    average=0.9,
    dropout_rise=30,
    lr=0.01,
    warm_up=10,
    schedule="inverse_sqrt",
)


class Data:
    """Rows of a linear rule with noise, in another order each epoch."""

    def epoch(self, number: int, start: int = 0) -> Iterator[Batch]:
        rng = torch.Generator().manual_seed(number)
        batches = [torch.randn(8, 5, generator=rng) for _ in range(11)]
        for x in batches[start:]:
            yield x, x.sum(1, keepdim=True)


def make(folder: Path, config: TrainingConfig = CONFIG, pause: float = 0.0) -> Trainer[Batch]:
    """Return a trainer of a network whose dropout needs the same random numbers after a resume."""
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(5, 3000), nn.ReLU(), Dropout(0.3), nn.Linear(3000, 1))

    def loss(batch: Batch) -> tuple[Tensor, Tensor, int]:
        time.sleep(pause)
        error = (model(batch[0]) - batch[1]).square().sum()
        return error, error.detach(), len(batch[0])

    def validate() -> dict[str, float]:
        torch.rand(1)  # a validation may draw numbers; training must not notice
        x = torch.ones(4, 5)
        return {"score": -float((model(x) - 5).square().mean())}

    return Trainer(model, Data(), loss, validate, config, folder)


if __name__ == "__main__":
    torch.set_num_threads(1)
    make(Path(sys.argv[1]), pause=0.02).run()
