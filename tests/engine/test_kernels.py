"""Every kernel that this processor has, beside NumPy and beside the plain reference."""

import ctypes
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.engine.kernel_calls import (
    ACTIVATIONS,
    BLOCK,
    PRECISIONS,
    UNTOUCHED,
    Bytes,
    Floats,
    KernelSet,
    Packed,
    placed,
)

EPS = float(np.finfo(np.float32).eps)
Doubles = NDArray[np.float64]

seeds = st.integers(0, 2**32 - 1)
activations = st.sampled_from(ACTIVATIONS)
sizes = st.sampled_from([1e-3, 1.0, 300.0])


@pytest.fixture(scope="module", params=["plain", "avx2", "avx512", "amx"])
def kernels(request: pytest.FixtureRequest, library: ctypes.CDLL) -> KernelSet:
    found = KernelSet(library, request.param)
    if not found.handle:
        pytest.skip(f"this processor has no {request.param}")
    return found


@pytest.fixture(scope="module")
def plain(library: ctypes.CDLL) -> KernelSet:
    return KernelSet(library, "plain")


def normal(rng: np.random.Generator, *shape: int) -> Floats:
    return rng.standard_normal(shape).astype(np.float32)


def to_bfloat16(w: Floats) -> Floats:
    bits = w.view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16
    return rounded.astype(np.uint32).view(np.float32)


def to_bytes(x: Floats) -> tuple[Bytes, Floats]:
    """Each row in bytes, and what one of them is worth."""
    largest = np.abs(x).max(1)
    unit = np.where(largest < np.float32(1e-30), np.float32(1), largest / np.float32(127))
    return np.rint(x * (np.float32(1) / unit)[:, None]).astype(np.int8), unit


def activated(x: Doubles, activation: str) -> Doubles:
    if activation == "relu":
        return np.maximum(x, 0)
    if activation == "gelu":
        return x * 0.5 * (1 + np.vectorize(math.erf, [float])(x / math.sqrt(2)))
    if activation == "gelu_tanh":
        return x * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return x


def linear_case(seed: int, n_out: int, n_in: int, n_rows: int, size: float) -> dict[str, Any]:
    """Rows that are longer than they should be, with numbers behind them that must not count."""
    rng = np.random.default_rng(seed)
    x = normal(rng, n_rows, n_in + int(rng.integers(0, 9))) * np.float32(size)
    x[:, n_in:] = np.nan
    x[rng.integers(n_rows), :n_in] = 0
    w = normal(rng, n_out, n_in)
    w[rng.integers(n_out)] = 0
    bias = normal(rng, n_out) if rng.integers(2) else None
    n_blocks = -(-n_out // BLOCK)
    begin, end = sorted(rng.integers(0, n_blocks + 1, 2).tolist())
    return {"rng": rng, "x": x, "w": w, "bias": bias, "begin": begin, "end": end}


shapes = {
    "seed": seeds,
    "n_out": st.integers(1, 170),
    "n_in": st.integers(1, 150),
    "n_rows": st.integers(1, 70),
    "size": sizes,
}


@settings(max_examples=60)
@given(**shapes, activation=activations, precision=st.sampled_from(PRECISIONS[:2]))
@example(0, 64, 64, 70, 1.0, "relu", "float32")
@example(0, 33, 1, 7, 1.0, "gelu", "bfloat16")
def test_products_of_floats(
    kernels: KernelSet, plain: KernelSet, library: ctypes.CDLL, seed: int, n_out: int, n_in: int,
    n_rows: int, size: float, activation: str, precision: str,
) -> None:  # fmt: skip
    case = linear_case(seed, n_out, n_in, n_rows, size)
    x, w, bias, begin, end = (case[name] for name in ("x", "w", "bias", "begin", "end"))
    packed = Packed(library, w, bias, precision)
    y = kernels.product(packed, x, activation, begin=begin, end=end, y_step=n_out + 5)

    w = (to_bfloat16(w) if precision == "bfloat16" else w).astype(np.float64)
    b = np.zeros(n_out) if bias is None else bias.astype(np.float64)
    inputs = x[:, :n_in].astype(np.float64)
    expected = activated(inputs @ w.T + b, activation)
    # No order of the additions can be further off; what follows is right to some digits.
    bound = 2 * EPS * (n_in + 4) * (np.abs(inputs) @ np.abs(w).T + np.abs(b)) + 1e-30
    here = slice(begin * BLOCK, min(end * BLOCK, n_out))
    assert (np.abs(y[:, :n_out] - expected) <= bound)[:, here].all()
    y[:, here] = UNTOUCHED
    assert (y == UNTOUCHED).all()
    if begin == 0:
        y, other = (k.product(packed, x, activation, end=end)[:, here] for k in (kernels, plain))
        assert (np.abs(y.astype(np.float64) - other) <= bound[:, here]).all()


@settings(max_examples=60)
@given(**shapes, activation=activations)
@example(0, 64, 64, 70, 1.0, "relu")
@example(1, 128, 2048, 33, 1.0, "none")
@example(2, 40, 301, 600, 1.0, "gelu")
def test_products_of_bytes_are_exact(
    kernels: KernelSet, plain: KernelSet, library: ctypes.CDLL, seed: int, n_out: int, n_in: int,
    n_rows: int, size: float, activation: str,
) -> None:  # fmt: skip
    case = linear_case(seed, n_out, n_in, n_rows, 1.0)
    rng, w, bias, begin, end = (case[name] for name in ("rng", "w", "bias", "begin", "end"))
    padded = -(-n_in // 4) * 4
    q = rng.integers(-127, 128, (n_rows, padded + int(rng.integers(0, 9)))).astype(np.int8)
    q[:, n_in:padded] = 0
    q[0, :n_in], q[-1, :n_in] = 127, -127  # as large as sums can be
    w[0] = 1
    scale = np.abs(normal(rng, n_rows)) * np.float32(size)
    packed = Packed(library, w, bias, "int8")
    range_ = {"begin": begin, "end": end, "y_step": n_out + 5}
    y = kernels.product(packed, q, activation, scale=scale, **range_)
    assert y.tobytes() == plain.product(packed, q, activation, scale=scale, **range_).tobytes()

    w_bytes, w_scale = to_bytes(w)
    sums = q[:, :n_in].astype(np.int64) @ w_bytes.T.astype(np.int64)
    expected = sums.astype(np.float32) * (scale[:, None] * w_scale)
    expected += np.float32(0) if bias is None else bias
    here = slice(begin * BLOCK, min(end * BLOCK, n_out))
    if activation.startswith("gelu"):
        doubles = activated(expected.astype(np.float64), activation)
        close = np.abs(y[:, :n_out] - doubles) <= 1e-6 * np.maximum(np.abs(expected), 1)
    else:
        close = y[:, :n_out] == (np.maximum(expected, 0) if activation == "relu" else expected)
    assert close[:, here].all()
    y[:, here] = UNTOUCHED
    assert (y == UNTOUCHED).all()


@settings(max_examples=60)
@given(**shapes, activation=activations, precision=st.sampled_from(PRECISIONS))
@example(0, 112, 96, 70, 1.0, "gelu", "int8")
def test_a_row_of_a_product_does_not_know_its_neighbours(
    kernels: KernelSet, library: ctypes.CDLL, seed: int, n_out: int, n_in: int, n_rows: int,
    size: float, activation: str, precision: str,
) -> None:  # fmt: skip
    """Alone or among others, in one part or in several: every bit is the same."""
    case = linear_case(seed, n_out, n_in, n_rows, size)
    packed = Packed(library, case["w"], case["bias"], precision)
    x, scale = np.ascontiguousarray(case["x"][:, :n_in]), np.ones(n_rows, np.float32)
    if precision == "int8":
        rows, units = zip(*[kernels.quantise(row) for row in x], strict=True)
        x, scale = np.stack(rows), np.array(units, np.float32)

    def run(first: int, last: int, **range_: int) -> Floats:
        scales = scale[first:last].copy() if precision == "int8" else None
        return kernels.product(
            packed, placed(x[first:last], first % 7), activation, scale=scales, **range_
        )

    together = run(0, n_rows)
    for m in range(n_rows):
        assert run(m, m + 1).tobytes() == together[m].tobytes()
    some = int(case["rng"].integers(1, n_rows + 1))
    assert run(n_rows - some, n_rows).tobytes() == together[n_rows - some :].tobytes()
    middle = (case["begin"] + 1) * BLOCK
    parts = (
        run(0, n_rows, end=case["begin"] + 1)[:, :middle],
        run(0, n_rows, begin=case["begin"] + 1),
    )
    joined = (
        np.concatenate([parts[0], parts[1][:, middle:]], axis=1) if middle < n_out else parts[0]
    )
    assert joined.tobytes() == together.tobytes()


@given(seed=seeds, n_out=st.integers(1, 60), n_rows=st.integers(1, 20), activation=activations)
def test_the_end_of_a_product_of_bytes(
    kernels: KernelSet, plain: KernelSet, library: ctypes.CDLL, seed: int, n_out: int,
    n_rows: int, activation: str,
) -> None:  # fmt: skip
    rng = np.random.default_rng(seed)
    packed = Packed(library, normal(rng, n_out, 8), normal(rng, n_out), "int8")
    sums = rng.integers(-(2**31), 2**31, (n_rows, BLOCK)).astype(np.int32)
    scale = np.abs(normal(rng, n_rows)) * np.float32(1e-6)
    for block in range(packed.n_blocks):
        y, other = (k.finish_int8(packed, sums, scale, block, activation) for k in (kernels, plain))
        assert y.tobytes() == other.tobytes()


@given(seed=seeds, n=st.integers(1, 300), size=sizes)
def test_quantise(kernels: KernelSet, plain: KernelSet, seed: int, n: int, size: float) -> None:
    x = normal(np.random.default_rng(seed), n) * np.float32(size)
    q, unit = kernels.quantise(x)
    expected, units = to_bytes(x[None])
    assert unit == units[0]
    assert (q[:n] == expected[0]).all()
    assert not q[n:].any()
    assert np.abs(q[:n] * np.float64(unit) - x).max() <= 0.501 * unit
    other, _ = plain.quantise(x)
    assert q.tobytes() == other.tobytes()
    moved, _ = kernels.quantise(placed(x, 3))
    assert q.tobytes() == moved.tobytes()


@pytest.mark.parametrize("n", [1, 7, 8, 37])
def test_rows_that_cannot_be_bytes(kernels: KernelSet, n: int) -> None:
    for small in (0.0, 1e-42, 1e-35):
        q, unit = kernels.quantise(np.full(n, small, np.float32))
        assert unit == 1
        assert not q.any()
    for bad in (np.nan, np.inf, -np.inf):
        x = np.arange(n, dtype=np.float32)
        x[n // 2] = bad
        q, unit = kernels.quantise(x)
        assert np.isnan(unit)
        assert not q.any()
    q, unit = kernels.quantise(np.full(n, -3e38, np.float32))
    assert (q[:n] == -127).all()
    assert np.isfinite(unit)


@given(seed=seeds, n=st.integers(1, 3000), size=sizes, mean=st.sampled_from([0.0, 5.0, -100.0]))
@example(0, 1, 1.0, 0.0)
@example(0, 20_001, 1.0, -100.0)
def test_layer_norm(
    kernels: KernelSet, plain: KernelSet, seed: int, n: int, size: float, mean: float
) -> None:
    rng = np.random.default_rng(seed)
    x, weight, bias = (normal(rng, 3, n) * np.float32(size) + np.float32(mean)).astype(np.float32)
    y = kernels.layer_norm(x, weight, bias)
    doubles = x.astype(np.float64)
    centred = doubles - doubles.mean()
    deviation = math.sqrt((centred**2).mean() + 1e-5)
    # The mean is right to some digits of the numbers, then all is divided by their deviation.
    bound = 1e-5 * (np.abs(weight) * (1 + np.abs(x).max() / deviation) + np.abs(bias))
    assert (np.abs(y - (centred / deviation * weight + bias)) <= bound).all()
    assert (np.abs(y - plain.layer_norm(x, weight, bias)) <= 10 * bound).all()
    moved = kernels.layer_norm(placed(x, 1), placed(weight, 3), placed(bias, 5))
    assert moved.tobytes() == y.tobytes()
    kernels.functions["layer_norm"](
        kernels.handle, *(t.ctypes.data for t in (x, weight, bias)), 1e-5, n, x.ctypes.data
    )
    assert x.tobytes() == y.tobytes()  # in place


@given(seed=seeds, n=st.integers(1, 3000), size=sizes)
@example(0, 1, 1.0)
def test_rms_norm(kernels: KernelSet, plain: KernelSet, seed: int, n: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    x, weight = normal(rng, 2, n) * np.float32(size)
    y = kernels.rms_norm(x, weight)
    doubles = x.astype(np.float64)
    expected = doubles / math.sqrt((doubles**2).mean() + 1e-5) * weight
    bound = 1e-5 * np.abs(expected) + 1e-30
    assert (np.abs(y - expected) <= bound).all()
    assert (np.abs(y - plain.rms_norm(x, weight)) <= bound).all()
    assert kernels.rms_norm(placed(x, 1), placed(weight, 3)).tobytes() == y.tobytes()
    kernels.functions["rms_norm"](
        kernels.handle, x.ctypes.data, weight.ctypes.data, 1e-5, n, x.ctypes.data
    )
    assert x.tobytes() == y.tobytes()  # in place


@given(seed=seeds, n=st.integers(1, 400), size=st.sampled_from([0.1, 1.0, 30.0, 1000.0]))
def test_gate(kernels: KernelSet, plain: KernelSet, seed: int, n: int, size: float) -> None:
    x = normal(np.random.default_rng(seed), 2 * n) * np.float32(size)
    y = kernels.gate(x)
    gate, value = x[:n].astype(np.float64), x[n:]
    with np.errstate(over="ignore"):
        expected = gate / (1 + np.exp(-gate)) * value
    bound = 1e-5 * np.abs(expected) + 1e-5 * np.abs(value)
    assert (np.abs(y - expected) <= bound).all()
    assert (np.abs(y - plain.gate(x)) <= bound).all()
    assert kernels.gate(placed(x, 3)).tobytes() == y.tobytes()


@settings(max_examples=60)
@given(
    seed=seeds, d_head=st.integers(1, 128), n=st.integers(1, 90), has_rows=st.booleans(),
    size=st.sampled_from([0.1, 1.0, 30.0]),
)  # fmt: skip
@example(0, 64, 1, True, 1.0)
@example(0, 128, 1000, False, 1.0)
def test_attend(
    kernels: KernelSet,
    plain: KernelSet,
    seed: int,
    d_head: int,
    n: int,
    has_rows: bool,
    size: float,
) -> None:
    rng = np.random.default_rng(seed)
    n_rows, n_places = 3, n + int(rng.integers(0, 5))
    table = normal(rng, n_rows, n_places, 2 * d_head + 3)
    table[:, n:] = np.nan
    q = normal(rng, d_head) * np.float32(size)
    row = rng.integers(0, n_rows, n).astype(np.int32) if has_rows else None
    keys, values = table, table.reshape(-1)[d_head:]
    values = np.lib.stride_tricks.as_strided(values, table.shape, table.strides)
    out = kernels.attend(q, keys, values, row, n, 0.125)

    which = np.zeros(n, np.int64) if row is None else row
    chosen = table[which, np.arange(n)].astype(np.float64)
    scores = chosen[:, :d_head] @ q.astype(np.float64) * 0.125
    weights = np.exp(scores - scores.max())
    expected = weights / weights.sum() @ chosen[:, d_head : 2 * d_head]
    bound = 3e-6 * (1 + np.abs(scores).max()) * np.abs(chosen).max()
    assert np.abs(out - expected).max() <= bound
    assert np.abs(out - plain.attend(q, keys, values, row, n, 0.125)).max() <= 2 * bound
    moved = kernels.attend(placed(q, 1), keys, values, row, n, 0.125)
    assert moved.tobytes() == out.tobytes()


@settings(max_examples=60)
@given(seed=seeds, n=st.integers(1, 700), share=st.floats(0, 1), has_ties=st.booleans(), size=sizes)
@example(0, 64, 1.0, True, 1.0)
@example(0, 20_000, 0.001, True, 1.0)
def test_best(
    kernels: KernelSet, plain: KernelSet, seed: int, n: int, share: float, has_ties: bool,
    size: float,
) -> None:  # fmt: skip
    rng = np.random.default_rng(seed)
    logits = normal(rng, n) * np.float32(size)
    if has_ties:
        logits = rng.integers(-3, 4, n).astype(np.float32)
    k = max(1, min(n, round(share * n)))
    tokens, log_probs = kernels.best(logits, k)
    assert (tokens == np.argsort(-logits, kind="stable")[:k]).all()
    doubles = logits.astype(np.float64)
    total = doubles.max() + math.log(np.exp(doubles - doubles.max()).sum())
    bound = 2e-6 * (1 + np.abs(logits).max())
    assert np.abs(log_probs - (doubles[tokens] - total)).max() <= bound
    assert np.abs(log_probs - plain.best(logits, k)[1]).max() <= 2 * bound
    moved = kernels.best(placed(logits, 3), k)
    assert moved[1].tobytes() == log_probs.tobytes()


def test_a_number_that_is_none_is_not_hidden(kernels: KernelSet, library: ctypes.CDLL) -> None:
    """It comes out of every kernel as none, so that somebody sees it."""
    x, w = np.ones((20, 24), np.float32), np.ones((40, 24), np.float32)
    x[3, 5] = np.nan
    for precision in PRECISIONS:
        packed = Packed(library, w, None, precision)
        for activation in ACTIVATIONS:
            rows, scale = x, None
            if precision == "int8":
                parts, units = zip(*[kernels.quantise(row) for row in x], strict=True)
                rows, scale = np.stack(parts), np.array(units, np.float32)
            y = kernels.product(packed, rows, activation, scale=scale)
            assert (np.isnan(y) == (np.arange(20) == 3)[:, None]).all()
    row = x[3]
    assert np.isnan(kernels.layer_norm(row, w[0], w[0])).all()
    assert np.isnan(kernels.attend(row[:8], w[None], w[None], None, 40, 1.0)).sum() == 8
