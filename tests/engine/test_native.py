"""The native engine computes what the model computes, bit by bit the same in every batch."""

import ctypes
import itertools

import numpy as np
import pytest
import torch
from torch import Tensor

from clearhead.decoding import DecodingConfig, Hypothesis, Request, generate
from clearhead.decoding.loop import Decoding
from clearhead.engine.native_model import NativeModel, Precision
from clearhead.errors import ConfigError, InputError
from clearhead.models import Transformer, TransformerConfig

N_TOKENS = 203
KERNELS = ["plain", "avx2", "avx512", "amx"]
PRECISIONS: list[Precision] = ["float32", "bfloat16", "int8"]


def has(library: ctypes.CDLL, kernels: str) -> bool:
    return library.ch_kernels(kernels.encode()) is not None


def make(norm: str = "pre", seed: int = 0, changes: dict[str, object] | None = None) -> Transformer:
    torch.manual_seed(seed)
    settings: dict[str, object] = {
        "block.norm": norm,
        "block.d_model": 48,
        "block.d_ff": 50,
        "block.n_heads": 4,
    }
    settings |= {"n_encoder_layers": 2, "n_decoder_layers": 2, **(changes or {})}
    model = Transformer(TransformerConfig.preset("tiny", N_TOKENS, **settings)).eval()
    for name, parameter in model.named_parameters():
        if "norm" in name or "bias" in name:  # not all ones and zeros
            torch.nn.init.normal_(parameter, mean=float("norm.weight" in name), std=0.2)
    return model


def sources() -> Tensor:
    source = torch.randint(3, N_TOKENS, (5, 9))
    source[1, 6:] = 0
    source[3, 2:] = 0
    return source


def run(model: Transformer, native: NativeModel, n_steps: int = 90) -> tuple[float, float]:
    """Step both with the same tokens while rows are copied, exchanged and dropped.

    Returns the largest difference of their logits, and how often the best token is the same.
    """
    source = sources()
    plain, fast = model.start(source), native.start(source)
    beams = torch.tensor([0, 0, 1, 2, 2, 2, 3, 4, 4])
    plain, fast = plain.reorder(beams), fast.reorder(beams)
    worst, n_same, n = 0.0, 0, 0
    for t in range(n_steps):
        tokens = torch.randint(3, N_TOKENS, (plain.n_rows, 1))
        expected, plain = model.step(tokens, plain)
        logits, fast = native.step(tokens, fast)
        worst = max(worst, float((expected - logits).abs().max()))
        n_same += int((expected.argmax(-1) == logits.argmax(-1)).sum())
        n += len(tokens)
        if t % 3 == 2:  # beams change places with others of the same source
            rows = torch.cat(
                [
                    own[torch.randint(0, len(own), (len(own),))]
                    for own in (torch.where(plain.origins == i)[0] for i in range(5))
                    if len(own)
                ]
            )
            plain, fast = plain.reorder(rows), fast.reorder(rows)
        if t == n_steps // 2:
            kept = plain.origins != 1
            kept[0] = False
            plain, fast = plain.keep(kept), fast.keep(kept)
    return worst, n_same / n


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"block.n_kv_heads": 2},
        {"block.attention_bias": True, "block.activation": "gelu"},
        {"block.d_model": 60, "block.n_heads": 5, "positions": "sines_first"},
        {"block.activation": "swiglu"},
    ],
    ids=["plain", "grouped", "biases", "odd", "gated"],
)
def test_float32_equals_the_model(
    library: ctypes.CDLL, kernels: str, norm: str, changes: dict[str, object]
) -> None:
    if not has(library, kernels):
        pytest.skip(f"this processor has no {kernels}")
    model = make(norm, changes=changes)
    worst, _ = run(model, NativeModel(model, library, n_threads=2, kernels=kernels))
    assert worst < 1e-4


@pytest.mark.parametrize("kernels", KERNELS)
def test_bfloat16_equals_the_model_with_rounded_weights(library: ctypes.CDLL, kernels: str) -> None:
    if not has(library, kernels):
        pytest.skip(f"this processor has no {kernels}")
    model = make()
    native = NativeModel(model, library, precision="bfloat16", kernels=kernels)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" not in name and "bias" not in name and "embedding" not in name:
                parameter.copy_(parameter.bfloat16())
    rounded = model.source_embedding.weight.detach().bfloat16().float()
    model.output.weight = torch.nn.Parameter(rounded)  # the output, not what is read
    worst, _ = run(model, native)
    assert worst < 1e-4


def test_the_best_tokens_are_those_of_the_logits(library: ctypes.CDLL) -> None:
    model = make()
    for precision, n_times in itertools.product(PRECISIONS[:2], (1, 9)):  # few rows, and many
        native = NativeModel(model, library, precision=precision, n_threads=2)
        _compare_best(native, sources().repeat(n_times, 1))


def _compare_best(native: NativeModel, source: Tensor) -> None:
    tokens = torch.full((len(source), 1), 7)
    logits, _ = native.step(tokens, native.start(source))
    for k in (1, 4, N_TOKENS, N_TOKENS + 5):
        best, log_probs = native.step_best(tokens[:, 0].numpy(), native.start(source), k)
        expected = logits.log_softmax(-1).topk(min(k, N_TOKENS))
        assert torch.equal(torch.from_numpy(best).long(), expected.indices)
        assert torch.allclose(torch.from_numpy(log_probs), expected.values, atol=1e-5)


def test_with_bytes_the_best_tokens_have_exact_logits(library: ctypes.CDLL) -> None:
    """The vector before the output is from bytes, its products with the best tokens are not."""
    model = make(changes={"block.d_model": 128, "block.d_ff": 256})
    source = torch.randint(3, N_TOKENS, (40, 9))
    tokens = torch.full((40, 1), 7)
    exact = NativeModel(model, library)
    expected = exact.step(tokens, exact.start(source))[0].log_softmax(-1)
    native = NativeModel(model, library, precision="int8")
    rough = native.step(tokens, native.start(source))[0].log_softmax(-1)
    best, log_probs = native.step_best(tokens[:, 0].numpy(), native.start(source), 5)
    assert (np.diff(log_probs, axis=1) <= 0).all()
    places = torch.from_numpy(best).long()
    errors = [
        float((found - expected.gather(1, places)).abs().mean())
        for found in (torch.from_numpy(log_probs), rough.gather(1, places))
    ]
    assert errors[0] < 0.9 * errors[1]


@pytest.mark.parametrize("kernels", KERNELS)
def test_int8_is_near_and_a_quarter_of_the_size(library: ctypes.CDLL, kernels: str) -> None:
    if not has(library, kernels):
        pytest.skip(f"this processor has no {kernels}")
    model = make(changes={"block.d_model": 128, "block.d_ff": 256})
    native = NativeModel(model, library, precision="int8", kernels=kernels)
    _, share = run(model, native)
    assert share > 0.9  # of an untrained model, whose logits are nearly tied
    embedding = 4 * model.source_embedding.weight.numel()
    floats = NativeModel(model, library)
    assert native.n_bytes - embedding < 0.3 * (floats.n_bytes - embedding)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_kernels_and_threads_give_the_same_bytes(
    library: ctypes.CDLL, precision: Precision
) -> None:
    """Products of bytes are exact; only sums of floats may differ between kernels."""
    model, source = make(), sources()
    logits = []
    for kernels, n_threads in [("", 1), ("", 2), ("plain", 1)]:
        native = NativeModel(
            model, library, precision=precision, n_threads=n_threads, kernels=kernels
        )
        logits.append(native.step(torch.full((5, 1), 7), native.start(source))[0])
    assert torch.equal(logits[0], logits[1])
    assert torch.allclose(logits[0], logits[2], atol=0.05 if precision == "int8" else 1e-5)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("n_beams", [1, 4])
def test_neighbours_do_not_change_a_bit(
    library: ctypes.CDLL, precision: Precision, n_beams: int
) -> None:
    native = NativeModel(make(seed=3), library, precision=precision, n_threads=1, n_for_many=2)
    config = DecodingConfig(n_beams=n_beams, n_best=n_beams)
    lengths = (3, 11, 1, 7, 5, 2, 8, 8, 4, 6, 9, 3, 2, 10) * 3  # with beams, more than 32 rows
    requests = [Request(torch.randint(3, N_TOKENS, (n,)).tolist(), 4 + n, config) for n in lengths]
    together = generate(native, requests, bos=1, eos=2, pad=0)
    for request, answers in zip(requests, together, strict=True):
        (alone,) = generate(native, [request], bos=1, eos=2, pad=0)
        assert alone == answers  # tokens and every log-probability


def test_the_search_finds_the_same_answers(library: ctypes.CDLL) -> None:
    model = make(seed=5)
    requests = [
        Request(torch.randint(3, N_TOKENS, (n,)).tolist(), 15, DecodingConfig(n_beams=3))
        for n in (4, 9, 6)
    ]
    plain = generate(model, requests, bos=1, eos=2, pad=0)
    fast = generate(NativeModel(model, library), requests, bos=1, eos=2, pad=0)
    assert [a[0].tokens for a in plain] == [a[0].tokens for a in fast]
    for (one,), (other,) in zip(plain, fast, strict=True):
        assert one.log_probs == pytest.approx(other.log_probs, abs=1e-4)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "options",
    [
        {"n_beams": 1},
        {"n_beams": 1, "min_length": 3},
        {"n_beams": 4, "n_best": 4},
        {"n_beams": 5, "n_best": 2, "length_norm": "paper", "length_power": 0.6, "min_length": 4},
        {"n_beams": 3, "length_power": 0.0},
        {"n_beams": 250, "n_best": 250},  # more than there are tokens
    ],
)
def test_the_engines_search_is_that_of_the_table(
    library: ctypes.CDLL, options: dict[str, object], seed: int
) -> None:
    """The same native steps, once with each step's choice in Python: equal to the last bit."""
    model = make(seed=seed)
    with torch.no_grad():  # let answers end, some early
        model.source_embedding.weight[2] *= 3
    native = NativeModel(model, library)
    config = DecodingConfig(**options)  # type: ignore[arg-type]
    requests = [
        Request(torch.randint(3, N_TOKENS, (n,)).tolist(), limit, config)
        for n, limit in ((3, 9), (11, 1), (1, 14), (7, 6))
    ]
    decoding = Decoding(native, bos=1, eos=2, pad=0)
    decoding.add(requests)
    expected: dict[Request, list[Hypothesis]] = {}
    while not decoding.is_idle:
        expected |= dict(decoding.step())
    found = native.search(requests, bos=1, eos=2)
    assert found == [expected[request] for request in requests]


def test_what_the_engine_cannot_do_is_told(library: ctypes.CDLL) -> None:
    with pytest.raises(InputError, match="no kernels named abacus"):
        NativeModel(make(), library, kernels="abacus")
    with pytest.raises(ConfigError, match="does not know learned positions"):
        NativeModel(make(changes={"positions": "learned"}), library)
    with pytest.raises(InputError, match="a token is outside the vocabulary"):
        NativeModel(make(), library).start(torch.tensor([[5, N_TOKENS]]))
