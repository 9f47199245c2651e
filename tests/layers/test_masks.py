"""Masks: who may read whom."""

import pytest
import torch

from clearhead.layers import masks


@pytest.mark.parametrize(("n_queries", "n_keys"), [(1, 1), (4, 4), (1, 5), (3, 5), (2, 2)])
def test_causal_reads_no_later_position(n_queries: int, n_keys: int) -> None:
    may_attend = masks.causal(n_queries, n_keys)
    assert may_attend.dtype == torch.bool
    assert may_attend.shape == (1, 1, n_queries, n_keys)
    for t in range(n_queries):
        position = n_keys - n_queries + t  # the queries are the last positions
        for s in range(n_keys):
            assert may_attend[0, 0, t, s].item() is (s <= position)


def test_causal_of_the_last_queries_is_the_end_of_the_whole() -> None:
    whole = masks.causal(7)
    for n_queries in range(1, 8):
        assert torch.equal(masks.causal(n_queries, 7), whole[:, :, 7 - n_queries :])


def test_padding_hides_keys_from_all_queries() -> None:
    is_token = torch.tensor([[True, True, False], [True, False, False]])
    may_attend = masks.padding(is_token)
    assert may_attend.shape == (2, 1, 1, 3)
    assert torch.equal(may_attend[:, 0, 0], is_token)


def test_masks_combine() -> None:
    is_token = torch.tensor([[False, True, True]])
    both = masks.causal(3) & masks.padding(is_token)
    assert both.int()[0, 0].tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 1]]
