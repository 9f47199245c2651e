"""Spans are taken out and can be put back; their share and their lengths are as asked for."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearhead.data.spans import corrupt_spans, put_spans_back
from clearhead.errors import ConfigError, InputError

FIRST = 999


@given(
    st.lists(st.integers(0, 400), min_size=2, max_size=300),
    st.floats(0.01, 0.99),
    st.floats(1, 12),
    st.integers(0, 2**16),
)
def test_put_back_it_is_the_text_again(
    tokens: list[int], noise: float, mean_span: float, seed: int
) -> None:
    random = np.random.default_rng(seed)
    source, target = corrupt_spans(
        tokens, random, first_sentinel=FIRST, noise=noise, mean_span=mean_span
    )
    assert put_spans_back(source, target, FIRST) == tokens
    sentinels = [token for token in source if token > 400]
    assert sentinels == [FIRST - n for n in range(len(sentinels))]
    assert [token for token in target if token > 400] == [*sentinels, FIRST - len(sentinels)]
    assert sentinels[0] == FIRST
    assert source[0] == tokens[0]  # a text begins with what is kept
    assert len(source) + len(target) == len(tokens) + 2 * len(sentinels) + 1
    is_gap = [token > 400 for token in target]
    assert not any(a and b for a, b in itertools.pairwise(is_gap))  # no empty span


@pytest.mark.parametrize(("noise", "mean_span"), [(0.15, 3.0), (0.5, 3.0), (0.15, 10.0)])
def test_share_and_mean_length_are_as_asked_for(noise: float, mean_span: float) -> None:
    random, tokens = np.random.default_rng(0), list(range(512))
    lengths = []
    for _ in range(50):
        _, target = corrupt_spans(
            tokens, random, first_sentinel=FIRST, noise=noise, mean_span=mean_span
        )
        places = [place for place, token in enumerate(target) if token >= 512]
        lengths += [b - a - 1 for a, b in itertools.pairwise(places)]
    assert sum(lengths) / (50 * 512) == pytest.approx(noise, abs=0.005)
    assert np.mean(lengths) == pytest.approx(mean_span, rel=0.05)
    assert min(lengths) == 1
    assert max(lengths) > 2 * mean_span


def test_every_inner_place_is_taken_equally_often() -> None:
    random, tokens = np.random.default_rng(1), list(range(100))
    counts = np.zeros(100)
    for _ in range(2000):
        _, target = corrupt_spans(tokens, random, first_sentinel=FIRST)
        counts[[token for token in target if token < 100]] += 1
    assert counts[0] == 0
    middle = counts[20:80] / 2000
    assert middle.min() > 0.11
    assert middle.max() < 0.19


def test_the_same_seed_gives_the_same_gaps() -> None:
    tokens = list(range(60))
    a, b, c = (
        corrupt_spans(tokens, np.random.default_rng(seed), first_sentinel=FIRST)
        for seed in (1, 1, 2)
    )
    assert a == b != c


def test_what_cannot_be_cut_is_refused() -> None:
    random = np.random.default_rng(0)
    with pytest.raises(InputError, match="a text of 1 tokens is too short"):
        corrupt_spans([5], random, first_sentinel=FIRST)
    with pytest.raises(InputError, match="a token is a sentinel: 998 to 999"):
        corrupt_spans([5, 999, 3], random, first_sentinel=FIRST)
    with pytest.raises(ConfigError, match="first_sentinel=0 leaves no ids for 1 spans"):
        corrupt_spans([5, 7, 3], random, first_sentinel=0)
    with pytest.raises(ConfigError, match=r"noise=1\.5 must be"):
        corrupt_spans([5, 7, 3], random, first_sentinel=FIRST, noise=1.5)


def test_gaps_that_nobody_filled_stay_empty() -> None:
    assert put_spans_back([1, 99, 2, 98, 3], [99, 7], 99) == [1, 7, 2, 3]
