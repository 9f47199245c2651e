"""The study notes' scores and weights: dot products, their scale, the softmax and the mask."""

import math

import pytest
import torch
from torch import Tensor

from clearhead.layers import MultiHeadAttention, masks
from clearhead.layers.attention import (
    attention_bias,
    attention_scores,
    attention_weights,
    weighted_values,
)

INF = float("inf")

YOUR_CAT_IS_A_LOVELY_CAT = [
    [0.268, 0.119, 0.134, 0.148, 0.179, 0.152],
    [0.124, 0.278, 0.201, 0.128, 0.154, 0.115],
    [0.147, 0.132, 0.262, 0.097, 0.218, 0.145],
    [0.210, 0.128, 0.206, 0.212, 0.119, 0.125],
    [0.146, 0.158, 0.152, 0.143, 0.227, 0.174],
    [0.195, 0.114, 0.203, 0.103, 0.157, 0.229],
]

# Keys are rows and queries are columns in this picture.
BEFORE_SOFTMAX = [
    [3.53, 0.80, 1.96, 4.48, 3.74, -1.95],
    [-INF, -0.30, -0.21, 0.82, 0.29, 2.91],
    [-INF, -INF, 0.89, 0.67, 2.99, -0.41],
    [-INF, -INF, -INF, 1.31, 1.73, -1.48],
    [-INF, -INF, -INF, -INF, 3.07, 2.94],
    [-INF, -INF, -INF, -INF, -INF, 0.31],
]
AFTER_SOFTMAX = [
    [1.00, 0.75, 0.69, 0.92, 0.46, 0.00],
    [0.00, 0.25, 0.08, 0.02, 0.01, 0.46],
    [0.00, 0.00, 0.24, 0.02, 0.22, 0.02],
    [0.00, 0.00, 0.00, 0.04, 0.06, 0.01],
    [0.00, 0.00, 0.00, 0.00, 0.24, 0.48],
    [0.00, 0.00, 0.00, 0.00, 0.00, 0.03],
]


def one_head(rows: list[list[float]]) -> Tensor:
    """Give a table the axes batch and head."""
    return torch.tensor(rows)[None, None]


def test_dot_product_and_its_scale() -> None:
    """(1, 0, 2) · (0, 1, 5) = 10, scaled 10/√3."""
    score = attention_scores(one_head([[1.0, 0.0, 2.0]]), one_head([[0.0, 1.0, 5.0]]))
    assert score.item() == 10
    scaled = score.item() * MultiHeadAttention(d_model=3, n_heads=1).scale
    assert scaled == pytest.approx(10 / math.sqrt(3))
    assert scaled == pytest.approx(5.7735, abs=1e-4)


def test_king_and_queen_are_similar() -> None:
    """King (0.6, 0.1, 1.0, 0.9), queen (0.3, 0.2, 0.9, 1.0): dot product 2.0, cosine 0.97."""
    words = one_head([[0.6, 0.1, 1.0, 0.9], [0.3, 0.2, 0.9, 1.0]])
    scores = attention_scores(words, words)[0, 0]
    assert scores[0, 1].item() == pytest.approx(2.0)
    cosine = scores[0, 1] / (scores[0, 0] * scores[1, 1]).sqrt()
    assert cosine.item() == pytest.approx(0.9725, abs=1e-4)


def test_good_morning_score() -> None:
    """The notes write 7.9/√2 = 6.8; it is 5.586."""
    scaled = 7.9 * MultiHeadAttention(d_model=2, n_heads=1).scale
    assert scaled == pytest.approx(5.586, abs=5e-4)
    assert abs(scaled - 6.8) > 1


def test_good_morning_weights() -> None:
    """Scores 1 and 6.8 do not give the notes' 0.3 and 0.7; those two do add up to 1."""
    printed = attention_weights(one_head([[1.0, 6.8]]))[0, 0, 0]
    assert printed.tolist() == pytest.approx([0.003, 0.997], abs=5e-4)
    right = attention_weights(one_head([[1.0, 7.9 / math.sqrt(2)]]))[0, 0, 0]
    assert right.tolist() == pytest.approx([0.010, 0.990], abs=5e-4)
    # Their weights belong to scores that lie ln(7/3) = 0.847 apart.
    apart = attention_weights(one_head([[0.0, math.log(7 / 3)]]))[0, 0, 0]
    assert apart.tolist() == pytest.approx([0.3, 0.7])


def test_good_morning_new_embeddings() -> None:
    """Weights 0.3 and 0.7 times the values (1, 3) and (3, 9)."""
    mixed = weighted_values(one_head([[0.3, 0.7], [0.7, 0.3]]), one_head([[1.0, 3.0], [3.0, 9.0]]))
    torch.testing.assert_close(mixed, one_head([[2.4, 7.2], [1.6, 4.8]]))


def test_river_bank_softmax() -> None:
    """Scores 0.5, 0.6, 10, 20: the notes' 0.01, 0.01, 0.28, 0.7 are not their softmax."""
    weights = attention_weights(one_head([[0.5, 0.6, 10.0, 20.0]]))[0, 0, 0]
    right = [3.398e-9, 3.756e-9, 4.5398e-5, 0.99995460]
    assert weights.tolist() == pytest.approx(right, rel=1e-3)
    # The sum of the scores is not 1 either, as the line says, and no temperature gives their
    # weights: bank against river asks for 10.9, bank against went for 4.6.
    assert sum([0.5, 0.6, 10.0, 20.0]) == pytest.approx(31.1)
    temperatures = [(20 - 10) / math.log(0.7 / 0.28), (20 - 0.5) / math.log(0.7 / 0.01)]
    assert temperatures == pytest.approx([10.9, 4.6], abs=0.05)


def test_river_bank_scores_as_in_the_table() -> None:
    """The table above that line has 0.1 and 2.0 for 10 and 20; that gives other weights again."""
    weights = attention_weights(one_head([[0.5, 0.6, 0.1, 2.0]]))[0, 0, 0]
    assert weights.tolist() == pytest.approx([0.138, 0.152, 0.092, 0.618], abs=5e-4)


@pytest.mark.parametrize("row", range(6))
def test_lovely_cat_rows_sum_to_one(row: int) -> None:
    """YOUR CAT IS A LOVELY CAT: each row adds up to 1 within the rounding of six numbers."""
    total = sum(YOUR_CAT_IS_A_LOVELY_CAT[row])
    assert total == pytest.approx(1, abs=6 * 0.0005)
    # Two rows, IS and the second CAT, miss the printed Σ = 1 by one in the last digit.
    assert round(total, 3) == (1.001 if row in (2, 5) else 1.000)


def test_lovely_cat_weights_come_from_scores() -> None:
    """The 6 × 6 weights are the softmax of their own logarithms, up to the rounding."""
    printed = one_head(YOUR_CAT_IS_A_LOVELY_CAT)
    weights = attention_weights(printed.log())
    torch.testing.assert_close(weights, printed, atol=5e-4, rtol=0)
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, 1, 6))


def test_lovely_cat_diagonal_is_highest() -> None:
    """'We expect values along the diagonal to be the highest': true of the printed numbers."""
    assert one_head(YOUR_CAT_IS_A_LOVELY_CAT).argmax(-1)[0, 0].tolist() == list(range(6))
    # It is not a law: a long vector in the same direction scores higher than oneself.
    words = one_head([[1.0, 0.0], [10.0, 0.0]])
    assert attention_weights(attention_scores(words, words)).argmax(-1)[0, 0].tolist() == [1, 1]


def test_two_cats_differ_only_by_position() -> None:
    """Without positions both CATs would have one row; the notes print two different ones."""
    assert YOUR_CAT_IS_A_LOVELY_CAT[1] != YOUR_CAT_IS_A_LOVELY_CAT[5]
    words = torch.randn(1, 1, 6, 16)
    words[:, :, 5] = words[:, :, 1]
    weights = attention_weights(attention_scores(words, words) / 4)[0, 0]
    torch.testing.assert_close(weights[1], weights[5])
    torch.testing.assert_close(weights[:, 1], weights[:, 5])


def test_self_attention_without_parameters() -> None:
    """Seq = 6, d_model = d_k = 512, Q = K = V = the sentence: (6, 6) weights, (6, 512) out."""
    sentence = torch.randn(1, 1, 6, 512)
    weights = attention_weights(attention_scores(sentence, sentence) / math.sqrt(512))
    assert weights.shape == (1, 1, 6, 6)
    assert weighted_values(weights, sentence).shape == (1, 1, 6, 512)


def test_fluffy_creature_table() -> None:
    """A fluffy blue creature …: row i, column j of the picture is K_i · Q_j."""
    q, k = torch.randn(1, 1, 7, 4), torch.randn(1, 1, 7, 4)
    picture = attention_scores(q, k)[0, 0].T
    for i in range(7):
        for j in range(7):
            assert picture[i, j].item() == pytest.approx((k[0, 0, i] @ q[0, 0, j]).item(), abs=1e-5)


def test_causal_picture_is_our_mask_transposed() -> None:
    """−∞ stands where the key (row) comes after the query (column)."""
    may_attend = masks.causal(6)
    assert torch.equal(one_head(BEFORE_SOFTMAX).mT > -INF, may_attend)
    assert not torch.equal(one_head(BEFORE_SOFTMAX) > -INF, may_attend)


def test_causal_picture_after_softmax() -> None:
    """All 36 weights as printed, to two decimals, but one: 0.46 should read 0.47."""
    may_attend = masks.causal(6)
    scaled = one_head(BEFORE_SOFTMAX).mT.nan_to_num(neginf=7.0)  # the mask must do the work
    forbidden = attention_bias(may_attend, None, scaled.dtype)
    assert forbidden is not None
    weights = attention_weights(scaled + forbidden, may_attend)[0, 0]
    printed = one_head(AFTER_SOFTMAX).mT[0, 0]
    is_wrong = (weights - printed).abs() > 0.005
    assert is_wrong.nonzero().tolist() == [[4, 0]]  # the fifth query, the first key
    assert printed[4, 0].item() == pytest.approx(0.46)
    assert weights[4, 0].item() == pytest.approx(0.4652, abs=1e-4)
    # With 0.47 that query's weights add up to 1.00, as printed to 0.99.
    assert printed[4].sum().item() == pytest.approx(0.99, abs=1e-6)


def test_temperature_flattens_the_softmax() -> None:
    """'Softmax: rigid; temperature softmax: creativity': a higher temperature, a flatter row."""
    scores = one_head([[3.74, 0.29, 2.99, 1.73, 3.07]])
    highest = [attention_weights(scores / t).max().item() for t in (0.01, 0.5, 1.0, 2.0, 100.0)]
    assert highest == sorted(highest, reverse=True)
    assert highest[0] == pytest.approx(1.0, abs=1e-6)
    assert highest[-1] == pytest.approx(1 / 5, abs=0.01)


@pytest.mark.parametrize("d_k", [1, 2, 3, 16, 64, 256])
def test_variance_grows_with_d_k(d_k: int) -> None:
    """1 dim → Var(X), 2 dim → 2 Var(X), …, d dim → d Var(X); flat after division by √d_k."""
    n = 20_000
    scores = attention_scores(torch.randn(n, 1, 1, d_k), torch.randn(n, 1, 1, d_k))
    # The variance of one product of two standard normals is 1; its kurtosis 9 bounds the error.
    error = 5 * math.sqrt((2 + 6 / d_k) / n)
    assert scores.var().item() == pytest.approx(d_k, rel=error)
    scale = MultiHeadAttention(d_model=d_k, n_heads=1).scale
    assert (scores * scale).var().item() == pytest.approx(1, rel=error)


def test_variance_of_a_multiple() -> None:
    """Y = c X → Var(Y) = c² Var(X), so that Y/√2 has half the variance."""
    x = torch.randn(1000, dtype=torch.float64)
    assert (3 * x).var().item() == pytest.approx(9 * x.var().item())
    assert (x / math.sqrt(2)).var().item() == pytest.approx(x.var().item() / 2)


def test_unscaled_softmax_saturates() -> None:
    """Why high variance hurts: at d_k = 512 the unscaled softmax looks at one key only."""
    scores = attention_scores(torch.randn(1, 1, 200, 512), torch.randn(1, 1, 10, 512))
    unscaled = attention_weights(scores).amax(-1).mean().item()
    scaled = attention_weights(scores / math.sqrt(512)).amax(-1).mean().item()
    assert unscaled > 0.9
    assert scaled < 0.5
