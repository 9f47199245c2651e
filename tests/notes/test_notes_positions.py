"""The study notes' positions: the formula by hand, the 50 × 128 picture, and counting in binary."""

import math

import pytest
import torch
from torch import Tensor

from clearhead.layers import SinusoidalPositions
from clearhead.layers.positions import sinusoids


@pytest.fixture
def picture() -> Tensor:
    """A sentence of 50 words, 128 dimensions."""
    return sinusoids(50, 128)


def test_river_is_position_zero() -> None:
    """River bank, d = 6: P(0, 0), P(0, 1), … = 0, 1, 0, 1, 0, 1."""
    assert sinusoids(2, 6)[0].tolist() == [0, 1, 0, 1, 0, 1]


def test_bank_is_position_one() -> None:
    """The second word, with the exponents 0, 1/3 and 2/3 that the notes work out."""
    by_hand = [
        math.sin(1 / 10000**0),
        math.cos(1 / 10000**0),
        math.sin(1 / 10000 ** (1 / 3)),
        math.cos(1 / 10000 ** (1 / 3)),
        math.sin(1 / 10000 ** (2 / 3)),
        math.cos(1 / 10000 ** (2 / 3)),
    ]
    printed = [0.841471, 0.540302, 0.046399, 0.998923, 0.002154, 0.999998]
    assert by_hand == pytest.approx(printed, abs=5e-7)
    assert sinusoids(2, 6)[1].tolist() == pytest.approx(by_hand, abs=1e-7)


def test_sine_belongs_to_place_2i() -> None:
    """The notes write PE(pos, i) = sin(…) for PE(pos, 2i) = sin(…)."""
    table = sinusoids(10, 6)
    for pos in range(10):
        for i in range(3):  # i runs from 0 to d_model/2 − 1
            angle = pos / 10000 ** (2 * i / 6)
            assert table[pos, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[pos, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)
    # As written, place 1 would be a sine, and 0 at position 0: their own P(0, 1) is 1.
    as_written = math.sin(0 / 10000 ** (2 * 1 / 6))
    assert (as_written, table[0, 1].item()) == (0, 1)


def test_even_places_are_sines_when_counting_from_zero() -> None:
    """'Odd → cos, even → sin' is right from 0 on; the notes' even places begin at 2."""
    first = sinusoids(1, 128)[0]
    assert first[0::2].eq(0).all()  # sin 0, and place 0 is one of them
    assert first[1::2].eq(1).all()  # cos 0
    # Counting from 1 it would be the other way round. The exponent's i is (place − 1)/2 for odd
    # places and place/2 for even ones; the notes have (3 − i)/2 and (2 − i)/2.
    table = sinusoids(8, 128)
    for place in (1, 3, 5, 7):
        angle = 7 / 10000 ** (2 * ((place - 1) / 2) / 128)
        assert table[7, place].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_positions_are_as_wide_as_embeddings() -> None:
    """Size of word embedding and positional vector are the same, for any length."""
    assert SinusoidalPositions(512)(3).shape == (3, 512)


def test_sine_alone_repeats() -> None:
    """Sin(pos) is nearly the same at 0 and 355; more functions tell them apart."""
    alone, pair, many = sinusoids(711, 2)[:, 0], sinusoids(711, 2), sinusoids(711, 128)
    assert (alone[0] - alone[355]).abs() < 1e-4
    assert (pair[0] - pair[355]).norm() > 1.9
    assert (pair[0] - pair[710]).norm() < 1e-3  # two functions repeat later
    assert (many[0] - many[710]).norm() > 5


def test_picture_is_bounded(picture: Tensor) -> None:
    """Bounded, unlike counting the words."""
    assert picture.shape == (50, 128)
    assert picture.abs().max() <= 1
    assert sinusoids(100_000, 8).abs().max() <= 1


def test_picture_first_row(picture: Tensor) -> None:
    """Pos = 0 has 0, 1, 0, 1, …, as found for river."""
    assert picture[0].tolist() == [0, 1] * 64


def test_picture_high_dimensions_hardly_change(picture: Tensor) -> None:
    """'Higher dimension is almost same' over 50 words; the low ones go up and down."""
    spread = picture.amax(0) - picture.amin(0)
    assert spread[-32:].max() < 0.05
    assert spread[:16].min() > 1.9


def test_picture_rows_are_distinct(picture: Tensor) -> None:
    """No two of the 50 words have the same vector, nor nearly."""
    apart = torch.cdist(picture, picture) + 10 * torch.eye(50)
    assert apart.min() > 1


def test_picture_near_is_close(picture: Tensor) -> None:
    """Words near each other are close, distant ones distant: at first it only grows."""
    apart = torch.cdist(picture, picture, compute_mode="donot_use_mm_for_euclid_dist")
    from_start = apart[0]
    assert from_start[:4].diff().min() > 0.3
    assert from_start[10:].min() > from_start[3]
    # It depends on the distance only, wherever the two words stand.
    for distance in (1, 5, 20):
        diagonal = apart.diagonal(distance)
        torch.testing.assert_close(diagonal, from_start[distance].expand_as(diagonal))


def test_binary_digits_change_less_often() -> None:
    """0000 to 1111: the higher the digit the less often it changes, each half as often."""
    digits = torch.tensor([[number >> digit & 1 for digit in range(4)] for number in range(16)])
    assert digits.diff(dim=0).abs().sum(0).tolist() == [15, 7, 3, 1]


def test_dimensions_change_less_often_too(picture: Tensor) -> None:
    """The analogy: the sines of the picture change sign ever less often."""
    sines = sinusoids(2000, 128)[1:, 0::2]
    n_changes = (sines[1:] * sines[:-1] < 0).sum(0)
    assert n_changes.diff().max() <= 0
    assert n_changes[0] > 600  # 2000 / π
    assert n_changes[-1] == 0
    # The angle per word falls by the same factor from each sine to the next, as 2 does there.
    angle = torch.atan2(picture[1, 0::2], picture[1, 1::2]).double()
    torch.testing.assert_close(
        angle[1:] / angle[:-1], torch.full((63,), 10000 ** (-2 / 128)).double(), atol=1e-5, rtol=0
    )
