"""Dropout must be fair coins: the right share, no pattern, and the same coins going back."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from clearhead.errors import ConfigError
from clearhead.layers import Dropout
from clearhead.layers.dropout import _CHUNK, _SMALL, random_words

N = 2**20
DTYPES = [torch.float32, torch.bfloat16]
SHARES = [1 / 256, 0.1, 0.3, 0.5, 0.9, 0.99]


def rounded(p: float) -> float:
    return round(p * 256) / 256


def kept(p: float, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Where one call keeps its numbers."""
    return Dropout(p)(torch.ones(shape, dtype=dtype)) != 0


def correlation(a: Tensor, b: Tensor) -> float:
    """Pearson's r; near 0 with standard error 1/√n when the two have nothing in common."""
    a, b = a.double() - a.double().mean(), b.double() - b.double().mean()
    return float((a * b).sum() / (a.norm() * b.norm()))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("p", SHARES)
def test_dropped_share(p: float, dtype: torch.dtype) -> None:
    """Binomial with p rounded to 1/256, which at 0.1 is not binomial with p."""
    n_dropped = N - int(kept(p, N, dtype=dtype).sum())
    error = math.sqrt(N * rounded(p) * (1 - rounded(p)))
    assert abs(n_dropped - N * rounded(p)) < 4 * error


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("p", SHARES)
def test_kept_numbers_are_scaled(p: float, dtype: torch.dtype) -> None:
    x = torch.randn(2**15, dtype=dtype)
    y = Dropout(p)(x)
    expected = (x.float() / (1 - rounded(p))).to(dtype)
    torch.testing.assert_close(y, torch.where(y == 0, 0, expected))


@pytest.mark.parametrize("p", SHARES)
def test_mean_and_variance(p: float) -> None:
    """E = x, Var = x² p/(1 − p)."""
    y = Dropout(p)(torch.full((N,), 3.0)).double()
    odds = rounded(p) / (1 - rounded(p))
    assert abs(y.mean().item() - 3) < 4 * 3 * math.sqrt(odds / N)
    assert y.var().item() == pytest.approx(9 * odds, rel=0.1 if p < 0.01 else 0.05)


@pytest.mark.parametrize("dtype", DTYPES)
def test_no_correlation_with_neighbours(dtype: torch.dtype) -> None:
    """At distances 1 to 16, at widths of models, and between the bytes of one random word."""
    is_kept = kept(0.3, N, dtype=dtype).float()
    words = [_CHUNK // 8, _CHUNK // 4, _CHUNK // 2, 3 * _CHUNK // 4, _CHUNK, _CHUNK + 1]
    for lag in [*range(1, 17), 64, 128, 512, 2048, *words]:
        r = correlation(is_kept[:-lag], is_kept[lag:])
        assert abs(r) < 4.5 / math.sqrt(N - lag), f"distance {lag}"


def test_no_correlation_between_calls() -> None:
    dropout, ones = Dropout(0.3), torch.ones(N)
    calls = [dropout(ones) != 0 for _ in range(4)]
    for i in range(4):
        for j in range(i):
            assert abs(correlation(calls[i], calls[j])) < 4.5 / math.sqrt(N)


def test_no_correlation_between_rows_or_columns() -> None:
    """All pairs among 512 rows of 2048, and all pairs of the first 512 columns."""
    is_kept = kept(0.5, 512, 2048)
    for table in (is_kept, is_kept[:, :512].T):
        r = torch.corrcoef(table.float())
        r.fill_diagonal_(0)
        assert r.abs().max() < 6.5 / math.sqrt(table.shape[1])


def test_rows_and_columns_vary_as_coins_do() -> None:
    """Neither too even nor too uneven: the counts of 1024 rows have the binomial variance."""
    is_kept = kept(0.3, 1024, 1024).double()
    expected = 1024 * rounded(0.3) * (1 - rounded(0.3))
    for axis in (0, 1):
        ratio = is_kept.sum(axis).var().item() / expected
        assert abs(ratio - 1) < 4.5 * math.sqrt(2 / 1023)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gradient_has_the_same_mask_and_scale(dtype: torch.dtype) -> None:
    x = (torch.rand(3, 2**14, dtype=dtype) + 1).requires_grad_()
    grad = torch.rand(3, 2**14, dtype=dtype) + 1
    y = Dropout(0.3)(x)
    y.backward(grad)
    assert x.grad is not None
    expected = (grad.float() / (1 - rounded(0.3))).to(dtype)
    torch.testing.assert_close(x.grad, torch.where(y == 0, 0, expected))


def test_gradient_of_a_sum() -> None:
    """The gradient of a sum is an expanded number, not a table of its own."""
    x = torch.ones(2**15, requires_grad=True)
    y = Dropout(0.5)(x)
    y.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, y.detach())


def test_same_seed_same_mask_and_next_call_another() -> None:
    first, second = kept(0.5, N), kept(0.5, N)
    torch.manual_seed(0)
    assert torch.equal(kept(0.5, N), first)
    assert torch.equal(kept(0.5, N), second)
    assert not torch.equal(first, second)
    torch.manual_seed(1)
    assert not torch.equal(kept(0.5, N), first)


@pytest.mark.parametrize("dropout", [Dropout(0.5).eval(), Dropout(0.0)])
def test_identity_in_eval_mode_and_at_zero(dropout: Dropout) -> None:
    x = torch.randn(2**15)
    assert dropout(x) is x


@pytest.mark.parametrize(
    "x", [torch.ones(_SMALL - 1), torch.ones(2**15, dtype=torch.float64), torch.ones(0, 5)]
)
def test_torch_serves_small_and_double(x: Tensor) -> None:
    torch.manual_seed(3)
    ours = Dropout(0.3)(x)
    torch.manual_seed(3)
    assert torch.equal(ours, F.dropout(x, 0.3))


def test_computed_mask_begins_at_the_small_size() -> None:
    torch.manual_seed(3)
    ours = Dropout(0.3)(torch.ones(_SMALL))
    torch.manual_seed(3)
    assert not torch.equal(ours, F.dropout(torch.ones(_SMALL), 0.3))
    assert ours.max().item() == pytest.approx(256 / (256 - 77))


def test_non_contiguous_input() -> None:
    """A transposed table gets the mask of its copy, and its gradient in its own order."""
    x = (torch.rand(300, 200) + 1).requires_grad_()
    torch.manual_seed(5)
    turned = Dropout(0.3)(x.T)
    torch.manual_seed(5)
    assert torch.equal(turned, Dropout(0.3)(x.T.contiguous()))
    turned.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad != 0, turned.T != 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [_SMALL + 1, _SMALL + 7, _CHUNK - 1, _CHUNK, _CHUNK + 1, 2 * _CHUNK])
def test_odd_sizes(n: int, dtype: torch.dtype) -> None:
    """Also where the last word is used in part, and where the last chunk is full or tiny."""
    x = torch.randn(n, dtype=dtype)
    y = Dropout(0.5)(x)
    assert torch.equal(y[y != 0], 2 * x[y != 0])
    n_kept = int((y != 0).sum())
    assert abs(n_kept - n / 2) < 4.5 * math.sqrt(n / 4)


@pytest.mark.parametrize("n", [_SMALL + 1, _SMALL + 7])
def test_last_element_is_a_coin_too(n: int) -> None:
    n_kept = sum(bool(kept(0.5, n)[-1]) for _ in range(64))
    assert 12 < n_kept < 52


@pytest.mark.parametrize("p", [-0.1, 1.0, 1.5, math.nan])
def test_share_out_of_range(p: float) -> None:
    with pytest.raises(ConfigError, match=rf"dropout={p} must be at least 0 and less than 1"):
        Dropout(p)


def test_share_just_below_one() -> None:
    Dropout(0.999)(torch.ones(_SMALL))


def test_recomputing_draws_the_same_mask() -> None:
    """Gradient checkpointing runs the forward pass twice; both must drop the same numbers."""
    dropout, linear = Dropout(0.3), torch.nn.Linear(64, 64)
    x = torch.randn(512, 64)

    def forward(x: Tensor) -> Tensor:
        return dropout(linear(x)).relu().square()

    torch.manual_seed(7)
    plain = torch.autograd.grad(forward(x).sum(), linear.weight)[0]
    torch.manual_seed(7)
    y = checkpoint(forward, x, use_reentrant=False)
    torch.manual_seed(8)  # other draws happen between the two passes
    recomputed = torch.autograd.grad(y.sum(), linear.weight)[0]
    torch.testing.assert_close(recomputed, plain)


def test_infinite_numbers_are_dropped_too() -> None:
    """0 · ∞ would be NaN; a dropped number is 0 whatever it was."""
    y = Dropout(0.5)(torch.full((2**15,), math.inf))
    assert not y.isnan().any()
    assert (y == 0).any()


def test_random_words_are_distinct() -> None:
    words = torch.cat([random_words(8 * 2**17), random_words(8 * 2**17)])
    assert len(words) == 2**18
    assert len(words.unique()) == 2**18


@pytest.mark.parametrize("n_bytes", [1, 8, 9, 64])
def test_random_words_are_enough(n_bytes: int) -> None:
    assert len(random_words(n_bytes)) == math.ceil(n_bytes / 8)


def test_random_bytes_are_even() -> None:
    """χ² over the 256 values, for all bytes and for each of the eight places in a word."""
    table = random_words(8 * 2**17).view(torch.uint8).view(-1, 8)
    for numbers in (table.flatten(), *table.T):
        assert abs(chi_square(numbers.int(), 256)) < 4.5


@pytest.mark.parametrize("lag", [0, 1, 64])
def test_random_bytes_are_independent(lag: int) -> None:
    """χ² over all pairs: byte i of a word with byte j of the word `lag` further on."""
    table = random_words(8 * 2**19).view(torch.uint8).view(-1, 8).int()
    for i, j in ((0, 1), (0, 7), (3, 4), (7, 6)):
        pairs = table[: len(table) - lag, i] * 256 + table[lag:, j]
        assert abs(chi_square(pairs, 65536)) < 4.5


def chi_square(numbers: Tensor, n_cells: int) -> float:
    """How many standard errors χ² is from what an even spread gives."""
    counts, expected = numbers.bincount(minlength=n_cells).double(), len(numbers) / n_cells
    chi2 = ((counts - expected) ** 2 / expected).sum().item()
    return (chi2 - (n_cells - 1)) / math.sqrt(2 * (n_cells - 1))
