"""How fast is this machine, though other programs run on it?"""

import time

import pytest
import torch
from torch import Tensor

from clearhead.config import LlamaConfig
from clearhead.models import Llama
from clearhead.tasks.probe import ENOUGH_SECONDS, VALIDATION_SHARE, probe


def test_a_moment_of_other_work_does_not_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Llama(LlamaConfig(n_tokens=9, n_layers=1, d_model=8, d_ff=8, n_heads=2))
    usual, now, sizes = 0.1, 0.0, []

    def loss(n_tokens: int) -> tuple[Tensor, Tensor, int]:
        nonlocal now
        sizes.append(n_tokens)
        now += usual * n_tokens / 100 * (20 if len(sizes) in (1, 5) else 1)
        found = model(torch.ones(1, 2, dtype=torch.long)).sum()
        return found, found.detach(), n_tokens

    def clock() -> float:
        nonlocal now
        now += 1e-6  # products of other kinds are timed, too, and take some time
        return now

    monkeypatch.setattr(time, "perf_counter", clock)
    speed = probe(model, loss, [300, 50, 150, 100, 100, 50, 150, 100])
    assert sizes[:10] == [300, 50, 150, 100, 100, 50, 150, 100, 300, 50]
    assert now > ENOUGH_SECONDS
    assert speed.seconds_per_step == pytest.approx(usual * VALIDATION_SHARE, rel=1e-3)
    assert speed.tokens_per_second == pytest.approx(1000, rel=1e-3)
