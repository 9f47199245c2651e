"""Hidden tokens: how many, which, and what stands in their place; the same for the same batch."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from clearhead.data.masking import GapBatches, Hider, frame_rows, words_begin
from clearhead.data.windows import Windows
from clearhead.errors import ConfigError

MASK = 4
ORDINARY = np.arange(5, 50)


def batches(seed: int = 0, n_tokens: int = 500) -> GapBatches:
    row = np.random.default_rng(1).integers(5, 50, n_tokens)
    return GapBatches(Windows(row, 10, 4, seed), Hider(MASK, ORDINARY), (1, 2))


def test_shares_are_those_of_bert() -> None:
    tokens = np.random.default_rng(0).integers(0, 50, (400, 100))
    inputs, is_hidden = Hider(MASK, ORDINARY)(tokens, np.random.default_rng(1))
    can_be = tokens > MASK
    assert is_hidden[can_be].mean() == pytest.approx(0.15, abs=0.005)
    assert not is_hidden[~can_be].any()
    assert (inputs[~is_hidden] == tokens[~is_hidden]).all()
    hidden = inputs[is_hidden]
    assert (hidden == MASK).mean() == pytest.approx(0.8, abs=0.02)
    # One other token in 45 is the same by chance.
    assert (hidden == tokens[is_hidden]).mean() == pytest.approx(0.1 + 0.1 / 45, abs=0.02)
    drawn = hidden[(hidden != MASK) & (hidden != tokens[is_hidden])]
    assert set(drawn.tolist()) == set(ORDINARY.tolist())


@given(st.integers(1, 60), st.integers(0, 1000))
def test_something_is_always_hidden(n: int, seed: int) -> None:
    hider = Hider(MASK, ORDINARY, share=0.01)
    tokens = np.full((1, n + 2), 7)
    tokens[:, [0, -1]] = 1
    is_hidden = hider.choose(tokens, np.random.default_rng(seed))
    assert is_hidden.any()
    assert not is_hidden[:, [0, -1]].any()


@given(st.lists(st.booleans(), min_size=2, max_size=40), st.integers(0, 1000))
def test_the_pieces_of_a_word_are_hidden_together(begins: list[bool], seed: int) -> None:
    """Token 5 begins a word, 6 goes on with it."""
    tokens = np.array([[1, *(5 if each else 6 for each in begins), 2]])
    kinds = np.array([True, True, True, True, True, True, False])
    hider = Hider(MASK, np.array([5, 6]), 0.3, kinds)
    is_hidden = hider.choose(tokens, np.random.default_rng(seed))[0]
    for place in range(2, len(begins) + 1):
        if tokens[0, place] == 6:
            assert is_hidden[place] == is_hidden[place - 1]


def test_which_pieces_begin_words() -> None:
    pieces = ["\u2581dog", "s", ".", "\u2581.", "\u093e", "<0xE2>", "\\n", "9", "<mask>"]
    expected = [True, False, True, True, False, False, True, True, True]
    assert words_begin(pieces).tolist() == expected


def test_the_same_epoch_goes_on_where_it_was() -> None:
    def data(*arguments: int, seed: int = 0) -> list[list[list[int]]]:
        return [b.inputs.tolist() for b in batches(seed).epoch(*arguments)]

    assert data(0)[3:] == data(0, 3)
    assert data(0) == data(0)
    assert data(0) != data(1)
    assert data(0) != data(0, seed=1)
    for batch in batches().epoch(2):
        assert (batch.inputs[:, 0] == 1).all()
        assert (batch.inputs[:, -1] == 2).all()
        assert batch.inputs.shape[1] == 12
        same = batch.inputs == batch.targets
        assert (same | batch.is_hidden).all()
        assert batch.n_tokens == int(batch.is_hidden.sum()) > 0
        assert torch.equal(batch.to(torch.device("cpu")).inputs, batch.inputs)
    assert len(batches().some(3)) == 4
    assert batches().padding_share() == 0


def test_what_cannot_be_is_refused() -> None:
    for share in (0.0, 1.0):
        with pytest.raises(ConfigError, match="must be above 0 and below 1"):
            Hider(MASK, ORDINARY, share)
    assert frame_rows(np.array([[7, 8]], dtype=np.uint16), (1, 2)).tolist() == [[1, 7, 8, 2]]
