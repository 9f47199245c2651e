"""Rows with labels: every one comes once, batches fit, an epoch can be entered anywhere."""

import numpy as np
import pytest
import torch

from clearhead.data.rows import Row, RowBatches, make_rows, rows_in_order
from clearhead.errors import ConfigError, InputError


def _rows(n: int = 500) -> list[Row]:
    random = np.random.default_rng(0)
    lengths = random.integers(1, 40, n)
    return [
        Row([place % 50 + 1] * length, (place,), [0] * length)
        for place, length in enumerate(lengths)
    ]


def test_a_batch_is_padded_on_the_right() -> None:
    batch = make_rows([Row([5, 6], (1,), [0, 1]), Row([7], (0,))], [3, 4], pad=9)
    assert batch.tokens.tolist() == [[5, 6], [7, 9]]
    assert batch.segments.tolist() == [[0, 1], [0, 0]]
    assert batch.labels.tolist() == [[1], [0]]
    assert batch.n_tokens == 3


def test_each_epoch_has_every_row_once_in_another_order() -> None:
    batches = RowBatches(_rows(), 256, pad=0)
    orders = [torch.cat([b.rows for b in batches.epoch(e)]).tolist() for e in (0, 1)]
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(500))
    assert orders[0] != orders[1]


def test_batches_fit_and_have_little_padding() -> None:
    batches = RowBatches(_rows(), 256, pad=0)
    assert all(batch.tokens.numel() <= 256 for batch in batches.epoch(0))
    n_places = sum(batch.tokens.numel() for batch in batches.epoch(0))
    n_tokens = sum(batch.n_tokens for batch in batches.epoch(0))
    assert batches.padding_share() == pytest.approx(1 - n_tokens / n_places)
    assert batches.padding_share() < 0.1


def test_an_epoch_can_be_entered_at_any_batch() -> None:
    batches = RowBatches(_rows(), 256, pad=0, seed=3)
    whole = list(batches.epoch(2))
    assert len(whole) == batches.n_batches(2)
    for got, wanted in zip(
        RowBatches(_rows(), 256, 0, 3).epoch(2, start=5), whole[5:], strict=True
    ):
        assert torch.equal(got.tokens, wanted.tokens)
    with pytest.raises(InputError, match="start="):
        next(batches.epoch(0, start=10_000))


def test_a_row_that_is_too_long_is_a_batch_by_itself() -> None:
    rows = [Row([1] * 5, (0,)), Row([1] * 100, (1,)), Row([1] * 5, (2,))]
    sizes = sorted(batch.tokens.shape for batch in RowBatches(rows, 20, pad=0).epoch(0))
    assert sizes == [(1, 100), (2, 5)]


def test_sorting_can_be_undone() -> None:
    batches = RowBatches(_rows(), 256, pad=0)
    found = [(batch, batch.labels[:, 0]) for batch in batches.in_length_order()]
    assert found[0][0].tokens.shape[1] == max(batches.lengths)
    assert rows_in_order(found).tolist() == list(range(500))


def test_refuses_what_makes_no_batches() -> None:
    with pytest.raises(InputError, match="nothing"):
        RowBatches([], 256, pad=0)
    with pytest.raises(ConfigError, match="n_tokens=0"):
        RowBatches(_rows(), 0, pad=0)
    with pytest.raises(InputError, match="epoch=-1"):
        RowBatches(_rows(), 256, pad=0).n_batches(-1)
