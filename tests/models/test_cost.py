"""What a step costs: the products of one position, however many came before."""

from itertools import pairwise
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from clearhead.layers import attention
from clearhead.models import Transformer, TransformerConfig


class _Products(TorchDispatchMode):
    """Counts products with a weight: `mm` and `addmm`."""

    n = 0

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self.n += "mm.default" in str(function) and "bmm" not in str(function)
        return function(*args, **(kwargs or {}))


def test_a_step_projects_one_position_and_the_source_not_again() -> None:
    model = Transformer(TransformerConfig.preset("tiny", 50)).eval()
    tokens = torch.randint(1, 50, (3, 1))
    state = model.start(torch.randint(1, 50, (3, 20)))
    counts = []
    for _ in range(90):
        with _Products() as products:
            _, state = model.step(tokens, state)
        counts.append(products.n)
    # In each of 4 blocks: Q, K, V; W_O; the query of the source; W_O; W_1; W_2. And the output.
    assert set(counts) == {4 * 6 + 1}


def test_only_reading_the_cache_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    # The counter knows plain products, but not the fused kernel of the CPU.
    monkeypatch.setattr(attention, "is_fused_faster", lambda q, k: False)
    model = Transformer(TransformerConfig.preset("tiny", 50)).eval()
    tokens = torch.randint(1, 50, (3, 1))
    state = model.start(torch.randint(1, 50, (3, 20)))
    flops = []
    for _ in range(90):
        with FlopCounterMode(display=False) as counter:
            _, state = model.step(tokens, state)
        flops.append(counter.get_total_flops())
    # Scores and sums over one position more: 2 products, 2 operations each, 3 rows, width 128.
    growth = {after - before for before, after in pairwise(flops)}
    assert growth == {4 * 2 * 2 * 3 * 128}
