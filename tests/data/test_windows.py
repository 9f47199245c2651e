"""Windows over a row of tokens: each token once, the same order for the same epoch."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from clearhead.data.windows import Windows
from clearhead.errors import ConfigError, InputError


@given(st.integers(1, 9), st.integers(1, 5), st.integers(20, 90), st.integers(0, 3))
def test_every_token_is_a_target_once(context: int, n_rows: int, n: int, epoch: int) -> None:
    windows = Windows(np.arange(n), context, n_rows, seed=1)
    batches = list(windows.epoch(epoch))
    assert len(batches) == windows.n_batches(epoch)
    targets = torch.cat([batch.targets.flatten() for batch in batches]).tolist()
    assert len(set(targets)) == len(targets)
    assert len(targets) > n - 2 * context - 1  # all but the ends
    for batch in batches:
        assert torch.equal(batch.inputs + 1, batch.targets)
        assert batch.inputs.shape[1] == context
        assert len(batch.inputs) <= n_rows
        assert batch.n_tokens == batch.targets.numel()


def test_an_epoch_goes_on_where_it_stopped() -> None:
    windows = Windows(np.arange(100), 4, 3, seed=7)
    whole = [batch.inputs for batch in windows.epoch(2)]
    rest = [batch.inputs for batch in Windows(np.arange(100), 4, 3, seed=7).epoch(2, start=3)]
    assert all(torch.equal(a, b) for a, b in zip(whole[3:], rest, strict=True))
    other = [batch.inputs for batch in windows.epoch(3)]
    assert not torch.equal(whole[0], other[0])
    assert windows.padding_share() == 0
    assert len(windows.some(3)) == 4


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ConfigError, match="context=0"):
        Windows(np.arange(100), 0, 3)
    with pytest.raises(InputError, match="9 tokens are too few for windows of context=4"):
        Windows(np.arange(9), 4, 1)
    with pytest.raises(InputError, match="start=99, but epoch 0 has"):
        next(Windows(np.arange(100), 4, 3).epoch(0, start=99))
