"""Some real steps on a model that is thrown away: how fast is this machine?"""

import sys
import time
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from clearhead.data.batches import Batch
from clearhead.models import Transformer
from clearhead.tasks.plan import Speed

__all__ = ["peak_bytes", "probe"]

LossOf = Callable[[Batch], tuple[Tensor, Tensor, int]]

VALIDATION_SHARE = 1.08
"""Validations and checkpoints take some of the time, too."""


def probe(model: Transformer, loss: LossOf, batches: Sequence[Batch]) -> Speed:
    """Time steps in float32, and in bfloat16 where products in it are faster; choose by that.

    The first batch warms up and shows how much memory is needed: give the largest first.
    """
    device = next(model.parameters()).device
    optimizer = torch.optim.Adam(model.train().parameters(), fused=True)
    n_tokens = sum(batch.n_target_tokens for batch in batches[1:]) / len(batches[1:])
    seconds = _seconds_per_step(loss, optimizer, batches, device, "float32")
    precision, reason = "float32", "this machine has no fast products in bfloat16"
    if _bfloat16_gain(device) > 1.2:
        other = _seconds_per_step(loss, optimizer, batches, device, "bfloat16")
        reason = f"a step in bfloat16 takes {other / seconds:.2f} of the time of one in float32"
        if other < 0.95 * seconds:
            seconds, precision = other, "bfloat16"
    average = 4 * model.n_parameters
    return Speed(
        seconds * VALIDATION_SHARE, n_tokens / seconds, precision, peak_bytes() + average, reason
    )


def _seconds_per_step(
    loss: LossOf,
    optimizer: torch.optim.Optimizer,
    batches: Sequence[Batch],
    device: torch.device,
    precision: str,
) -> float:
    """The mean over all batches but the first, which differ in size."""
    start = time.perf_counter()
    for number, batch in enumerate(batches):
        if number == 1:
            start = time.perf_counter()
        with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16"):
            smoothed, plain, _ = loss(batch)
        smoothed.backward()
        optimizer.step()
        optimizer.zero_grad()
        float(plain)  # waits for the device
    return (time.perf_counter() - start) / (len(batches) - 1)


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


def peak_bytes() -> int:
    """The most memory that this process has held so far; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
