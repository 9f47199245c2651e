"""Positions: formulas, lengths, and what a score may depend on."""

import math

import pytest
import torch
from torch import Tensor

from clearhead.errors import ConfigError, InputError
from clearhead.layers import (
    Alibi,
    LearnedPositions,
    RelativeBias,
    Rotary,
    RowPositions,
    SinusoidalPositions,
)
from clearhead.layers.attention import attention_scores
from clearhead.layers.positions import sinusoids


@pytest.mark.parametrize("d_model", [1, 2, 5, 6, 64])
@pytest.mark.parametrize("n_positions", [0, 1, 7])
def test_sinusoids_by_hand(n_positions: int, d_model: int) -> None:
    """Any length and width; an odd width ends with a sine."""
    table = sinusoids(n_positions, d_model)
    assert table.shape == (n_positions, d_model)
    for pos in range(n_positions):
        for place in range(d_model):
            angle = pos / 10000 ** ((place - place % 2) / d_model)
            expected = math.cos(angle) if place % 2 else math.sin(angle)
            assert table[pos, place].item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("d_model", [1, 2, 5, 6, 64])
def test_sines_first_are_the_same_numbers(d_model: int) -> None:
    """All even places, then all odd ones."""
    table, turn = sinusoids(300, d_model, sines_first=True), sinusoids(300, d_model)
    assert torch.equal(table, torch.cat([turn[:, ::2], turn[:, 1::2]], dim=1))
    positions = SinusoidalPositions(d_model, sines_first=True)
    assert torch.equal(positions(290, offset=10), table[10:])


def test_sinusoids_stay_exact_far_away() -> None:
    """At position 100,000 the angle still has all the digits a float can show."""
    last = sinusoids(100_001, 8)[-1]
    for i in range(4):
        angle = 100_000 / 10000 ** (2 * i / 8)
        assert last[2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)


def test_sinusoidal_positions_extend_on_demand() -> None:
    """Whatever was asked before, the table is that of a direct computation."""
    positions = SinusoidalPositions(16)
    for n_positions in (3, 256, 257, 1000, 5):
        assert torch.equal(positions(n_positions), sinusoids(n_positions, 16))


def test_sinusoidal_offset() -> None:
    positions, table = SinusoidalPositions(16), sinusoids(400, 16)
    assert torch.equal(positions(5, offset=10), table[10:15])
    assert torch.equal(positions(1, offset=399), table[399:])


def test_sinusoidal_table_is_not_saved_but_moves() -> None:
    positions = SinusoidalPositions(16)
    assert positions.state_dict() == {}
    assert positions.bfloat16()(1000).dtype == torch.bfloat16


@pytest.mark.parametrize("k", [1, 3, 50])
def test_shift_is_a_rotation(k: int) -> None:
    """PE(pos + k) = R(k) PE(pos), and R(k) knows nothing of pos."""
    table = sinusoids(120, 8).double()
    rotation = torch.zeros(8, 8, dtype=torch.float64)
    for i in range(4):
        angle = k / 10000 ** (2 * i / 8)
        cos, sin = math.cos(angle), math.sin(angle)
        rotation[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[cos, sin], [-sin, cos]])
    torch.testing.assert_close(table[k:], table[:-k] @ rotation.T, atol=1e-6, rtol=0)


def test_learned_positions() -> None:
    positions = LearnedPositions(10, 4)
    assert torch.equal(positions(10), positions.weight)
    assert torch.equal(positions(2, offset=8), positions.weight[8:])


@pytest.mark.parametrize(("n_positions", "offset"), [(11, 0), (1, 10), (3, 8)])
def test_learned_positions_end(n_positions: int, offset: int) -> None:
    with pytest.raises(InputError, match=rf"length {offset + n_positions} .* the 10 positions"):
        LearnedPositions(10, 4)(n_positions, offset)


def rotary_scores(rotary: Rotary, q: Tensor, k: Tensor, q_at: int, k_at: int) -> Tensor:
    return attention_scores(rotary(q, q_at), rotary(k, k_at))


def test_rotary_scores_depend_on_the_distance_only() -> None:
    rotary, q, k = Rotary(16), torch.randn(1, 2, 1, 16), torch.randn(1, 2, 1, 16)
    for distance in (0, 1, 30):
        near = rotary_scores(rotary, q, k, distance, 0)
        for shift in (1, 17, 200):
            far = rotary_scores(rotary, q, k, distance + shift, shift)
            torch.testing.assert_close(far, near, atol=1e-4, rtol=1e-4)
    one, other = rotary_scores(rotary, q, k, 1, 0), rotary_scores(rotary, q, k, 2, 0)
    assert not torch.allclose(one, other, atol=1e-2)


def test_rotary_turns_pairs_by_the_formula() -> None:
    """The pair (i, i + d_head/2) turns by pos · base^(−2i/d_head), and keeps its length."""
    rotary, x = Rotary(6, base=100.0), torch.randn(1, 1, 4, 6)
    turned = rotary(x, offset=3)
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1))
    for t in range(4):
        for i in range(3):
            before = complex(x[0, 0, t, i].item(), x[0, 0, t, i + 3].item())
            angle = (3 + t) * 100 ** (-2 * i / 6)
            after = before * complex(math.cos(angle), math.sin(angle))
            assert turned[0, 0, t, i].item() == pytest.approx(after.real, abs=1e-5)
            assert turned[0, 0, t, i + 3].item() == pytest.approx(after.imag, abs=1e-5)


def test_rotary_offset_continues() -> None:
    rotary, x = Rotary(8), torch.randn(2, 3, 10, 8)
    parts = torch.cat([rotary(x[:, :, :4]), rotary(x[:, :, 4:], offset=4)], dim=2)
    torch.testing.assert_close(parts, rotary(x))
    torch.testing.assert_close(rotary(x)[:, :, 0], x[:, :, 0])  # position 0 is not turned


def test_rotary_stretch_divides_positions() -> None:
    x = torch.randn(1, 1, 1, 8)
    torch.testing.assert_close(Rotary(8, stretch=4.0)(x, offset=40), Rotary(8)(x, offset=10))


def test_rotary_needs_pairs() -> None:
    with pytest.raises(ConfigError, match="d_head=7 must be even"):
        Rotary(7)


def test_rotary_angles_survive_bfloat16() -> None:
    """The numbers may be rough, the angles may not: at position 1000 they have turned often."""
    x = torch.randn(1, 1, 1, 64)
    torch.testing.assert_close(Rotary(64).bfloat16()(x, 1000), Rotary(64)(x, 1000))


def test_relative_buckets_near_and_far() -> None:
    """T5's 32 buckets backwards: 16 single distances, then ever wider ones, then one for all."""
    relative = RelativeBias(2, both_ways=False)
    buckets = relative.buckets(-torch.arange(300)[None])[0]
    assert buckets[:16].tolist() == list(range(16))
    assert buckets.diff().min() >= 0
    assert buckets.diff().max() == 1
    for distance in range(16, 300):
        grown = 16 + math.floor(16 * math.log(distance / 16) / math.log(128 / 16))
        assert buckets[distance].item() == min(grown, 31)
    assert relative.buckets(torch.arange(300)[None]).eq(0).all()  # later keys: never read


def test_relative_buckets_both_ways() -> None:
    """Half the buckets for each direction, each monotone in the distance."""
    relative = RelativeBias(2, both_ways=True)
    before = relative.buckets(-torch.arange(300)[None])[0]
    after = relative.buckets(torch.arange(1, 300)[None])[0]
    assert before.diff().min() >= 0
    assert after.diff().min() >= 0
    assert torch.equal(after, before[1:] + 16)
    assert set(before.tolist()) | set(after.tolist()) == set(range(32)) - {16}


def test_relative_bias_of_last_queries() -> None:
    """The bias of the last queries is the end of the whole, and reads the learned table."""
    relative = RelativeBias(3, both_ways=False)
    whole = relative(9, 9)
    assert whole.shape == (1, 3, 9, 9)
    assert torch.equal(relative(2, 9), whole[:, :, 7:])
    assert torch.equal(whole[0, :, 5, 2], relative.weight[3])


@pytest.mark.parametrize("n_buckets", [2, 7])
def test_relative_buckets_are_checked(n_buckets: int) -> None:
    with pytest.raises(ConfigError, match=f"n_buckets={n_buckets} must be even and at least 4"):
        RelativeBias(2, n_buckets=n_buckets, both_ways=True)


def test_relative_buckets_with_a_short_reach() -> None:
    """A reach below the single buckets is refused, or still monotone."""
    try:
        relative = RelativeBias(2, n_buckets=32, max_distance=8, both_ways=False)
    except ConfigError:
        return
    assert relative.buckets(-torch.arange(40)[None]).diff().min() >= 0


def test_alibi_slopes_of_8_heads() -> None:
    """1/2, 1/4, …, 1/256, as printed in the paper."""
    assert list(Alibi(8).slopes) == [2**-i for i in range(1, 9)]


def test_alibi_slopes_of_12_heads() -> None:
    """The eight of 8 heads, then every other one of 16 heads: 2^−0.5, 2^−1.5, …"""
    of_16 = [2 ** (-i / 2) for i in range(1, 17)]
    expected = [2.0**-i for i in range(1, 9)] + of_16[0::2][:4]
    assert list(Alibi(12).slopes) == pytest.approx(expected)


@pytest.mark.parametrize("n_heads", [1, 2, 3, 6, 16, 20])
def test_alibi_slopes_are_distinct(n_heads: int) -> None:
    slopes = Alibi(n_heads).slopes
    assert len(set(slopes)) == n_heads
    assert all(0 < slope < 1 for slope in slopes)


def test_alibi_bias() -> None:
    """−slope · distance; the last queries are the end of the whole."""
    alibi = Alibi(8)
    whole = alibi(5, 5)
    for t in range(5):
        for s in range(5):
            torch.testing.assert_close(whole[0, :, t, s], -torch.tensor(alibi.slopes) * abs(t - s))
    assert torch.equal(alibi(1, 5), whole[:, :, 4:])


def test_row_positions_look_each_row_up() -> None:
    positions = RowPositions(5, 8)
    found = positions(torch.tensor([[0, 1, 4], [-1, 0, 1]]))
    assert torch.equal(found[0], positions.weight[[0, 1, 4]])
    assert torch.equal(found[1, 1:], positions.weight[:2])
    with pytest.raises(InputError, match="a text of 6 tokens is longer than the 5 positions"):
        positions(torch.tensor([[5]]))
    with pytest.raises(ConfigError, match="n_positions=0 and d_model=8 must be at least 1"):
        RowPositions(0, 8)
