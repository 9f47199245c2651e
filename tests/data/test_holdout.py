"""The hold-out: the same in every run, of the right size, and no source on two sides."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearhead.data import Shares, shares_for, side_of
from clearhead.errors import ConfigError

EXPECTED = ["train", "train", "test", "test", "test", "test"]


@given(st.text(), st.integers(0, 2**32 - 1))
def test_only_the_normalised_source_matters(source: str, seed: int) -> None:
    shares = Shares(validation=0.3, test=0.3)
    side = side_of(source, seed, shares)
    assert side == side_of(f"  {source}\n", seed, shares)
    assert side in ("train", "validation", "test")


def test_sides_never_change() -> None:
    """Written down: another machine or version must not move a pair."""
    shares = Shares(validation=0.25, test=0.25)
    assert [side_of(f"sentence {i}", 0, shares) for i in range(6)] == EXPECTED
    assert side_of("Hello  There", 0, shares) == side_of("hello there", 0, shares)


def test_sides_have_their_sizes_and_change_with_the_seed() -> None:
    shares = shares_for(20_000)
    sides = [side_of(f"sentence {i}", 1, shares) for i in range(20_000)]
    counts = Counter(sides)
    assert counts["validation"] == pytest.approx(1000, abs=100)
    assert counts["test"] == pytest.approx(1000, abs=100)
    assert sides != [side_of(f"sentence {i}", 2, shares) for i in range(20_000)]


@given(st.integers(1, 10**9))
def test_shares_fit_the_size(n_pairs: int) -> None:
    shares = shares_for(n_pairs)
    assert shares.validation == shares.test <= 0.1
    assert shares.test * n_pairs <= 2000.001
    assert shares.test * n_pairs >= min(0.0999 * n_pairs, 99.999)


def test_impossible_shares_are_refused() -> None:
    for validation, test in ((0.5, 0.5), (-0.1, 0.1), (float("nan"), 0.1)):
        with pytest.raises(ConfigError, match="less than 1"):
            Shares(validation=validation, test=test)
    with pytest.raises(ConfigError, match="0 pairs"):
        shares_for(0)
