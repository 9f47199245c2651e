"""Some real steps on a model that is thrown away: how fast is this machine?"""

import statistics
import time
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import TypeVar

import torch
from torch import Tensor

from clearhead.models import Model
from clearhead.tasks.steps import Speed
from clearhead.training.memory import most_bytes, peak_bytes
from clearhead.training.optimizer import Optimizer, OptimizerKind

__all__ = ["probe"]

B = TypeVar("B")
LossOf = Callable[[B], tuple[Tensor, Tensor, int]]

VALIDATION_SHARE = 1.08
"""Validations and checkpoints take some of the time, too."""
RATE = 1e-4
"""Steps are small: what is learned here is thrown away."""
N_WARMING = 2
ENOUGH_SECONDS = 3.0
"""So long steps are timed, at least, so that a moment's other work does not decide."""


def probe(
    model: Model, loss: LossOf[B], batches: Sequence[B], kind: OptimizerKind = "adam"
) -> Speed:
    """Time steps in float32, and in bfloat16 where products in it are faster; choose by that.

    The first batch warms up and shows how much memory is needed: give the largest first.
    """
    device = next(model.parameters()).device
    parameters = dict(model.train().named_parameters())
    optimizer = Optimizer(parameters, kind)
    seconds, n_tokens = _seconds_per_step(loss, optimizer, batches, device, "float32")
    precision, reason = "float32", "this machine has no fast products in bfloat16"
    if _bfloat16_gain(device) > 1.2:
        optimizer = Optimizer(parameters, kind, precision="bfloat16")
        other, _ = _seconds_per_step(loss, optimizer, batches, device, "bfloat16")
        reason = f"a step in bfloat16 takes {other / seconds:.2f} of the time of one in float32"
        if other < 0.95 * seconds:
            seconds, precision = other, "bfloat16"
    n_bytes = most_bytes(peak_bytes() + 4 * model.n_parameters)  # the average of the weights, too
    return Speed(seconds * VALIDATION_SHARE, n_tokens / seconds, precision, n_bytes, reason)


def _seconds_per_step(
    loss: LossOf[B],
    optimizer: Optimizer,
    batches: Sequence[B],
    device: torch.device,
    precision: str,
) -> tuple[float, float]:
    """Of a usual batch, and its tokens; the first, which is the largest, does not count.

    Batches differ in size, so the median is that of the seconds for a token: the mean would take
    what other programs do just now for the speed of the machine.
    """
    sizes: list[int] = []
    paces: list[float] = []
    timed = 0.0
    for number, batch in enumerate(cycle(batches)):
        if number >= len(batches) and timed > ENOUGH_SECONDS:
            break
        start = time.perf_counter()
        with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16"):
            smoothed, plain, n = loss(batch)
        smoothed.backward()
        optimizer.step(RATE)
        optimizer.clear()
        float(plain)  # waits for the device
        seconds = time.perf_counter() - start
        sizes.append(n)
        if number >= min(N_WARMING, len(batches) - 1):
            paces.append(seconds / n)
            timed += seconds
    n_tokens = statistics.mean(sizes[1 : len(batches)] or sizes)
    return statistics.median(paces) * n_tokens, n_tokens


def _bfloat16_gain(device: torch.device) -> float:
    """How much faster a product of 512 × 512 is; a slow one shows itself in milliseconds."""
    times = []
    for kind in (torch.float32, torch.bfloat16):
        a = torch.ones(512, 512, device=device, dtype=kind)
        best = float("inf")
        for _ in range(6):
            start = time.perf_counter()
            (a @ a)[0, 0].item()
            best = min(best, time.perf_counter() - start)
        times.append(best)
    return times[0] / times[1]
