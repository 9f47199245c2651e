"""Decoders by themselves in the native engine: Llama with all that it may have, experts, GPT."""

import ctypes
from dataclasses import replace

import pytest
import torch

from clearhead.decoding import DecodingConfig, Hypothesis, Request, generate
from clearhead.decoding.loop import Decoding
from clearhead.engine.choice import choose
from clearhead.engine.native_model import NativeModel, Precision
from clearhead.errors import InputError
from clearhead.models import GPT, GPTConfig, Llama, LlamaConfig, Mixtral, MixtralConfig

N_TOKENS = 203
CONFIG = LlamaConfig(
    n_tokens=N_TOKENS, n_layers=2, d_model=48, d_ff=50, n_heads=4, n_kv_heads=2, is_tied=False
)
GPT_CONFIG = GPTConfig(
    n_tokens=N_TOKENS, n_positions=96, n_layers=2, d_model=48, d_ff=50, n_heads=4
)
EXPERTS = MixtralConfig(
    n_tokens=N_TOKENS, n_layers=2, d_model=48, d_ff=50, n_heads=4, n_experts=5, n_chosen=2
)
KINDS: dict[str, LlamaConfig | GPTConfig] = {
    "gpt": GPT_CONFIG,
    "gpt, untied, gelu": replace(GPT_CONFIG, is_tied=False, activation="gelu", norm_eps=1e-3),
    "grouped": CONFIG,
    "one head for all": replace(CONFIG, n_kv_heads=1),
    "tied, with biases": replace(CONFIG, is_tied=True, attention_bias=True, n_kv_heads=None),
    "experts": EXPERTS,
    "one expert of five": replace(EXPERTS, n_chosen=1),
    "all experts": replace(EXPERTS, n_experts=3, n_chosen=3, is_tied=False),
    "wide heads": replace(CONFIG, d_head=18, rotary_base=500.0, norm_eps=1e-3),
}
PROMPTS = [[5, 9, 11, 40], [7], [150, 3, 3, 8, 200, 9, 9, 70, 12], [8, 7]]


def make(config: LlamaConfig | GPTConfig = CONFIG, seed: int = 0) -> Llama | Mixtral | GPT:
    torch.manual_seed(seed)
    kind = {GPTConfig: GPT, LlamaConfig: Llama, MixtralConfig: Mixtral}[type(config)]
    model: Llama | Mixtral | GPT = kind(config).eval()
    for name, parameter in model.named_parameters():
        if "norm" in name or "b_qkv" in name or "bias" in name:  # not all ones and zeros
            torch.nn.init.normal_(parameter, mean=float("norm" in name), std=0.2)
    return model


def padded(rows: list[list[int]]) -> torch.Tensor:
    return torch.tensor([[*row, *[0] * (max(map(len, rows)) - len(row))] for row in rows])


@pytest.mark.parametrize("kernels", ["plain", ""], ids=["plain", "best"])
@pytest.mark.parametrize("kind", KINDS)
def test_float32_equals_the_model(library: ctypes.CDLL, kind: str, kernels: str) -> None:
    model = make(KINDS[kind])
    native = NativeModel(model, library, n_threads=2, kernels=kernels)
    plain, fast = model.start(padded(PROMPTS)), native.start(padded(PROMPTS))
    beams = torch.tensor([0, 0, 1, 2, 2, 3, 3, 3])
    plain, fast = plain.reorder(beams), fast.reorder(beams)
    for t in range(80):
        tokens = torch.randint(3, N_TOKENS, (plain.n_rows, 1))
        expected, plain = model.step(tokens, plain)
        logits, fast = native.step(tokens, fast)
        assert (expected - logits).abs().max() < 1e-4
        if t == 40:
            kept = torch.tensor([1, 0, 1, 1, 0, 1, 1, 1], dtype=torch.bool)
            plain, fast = plain.keep(kept), fast.keep(kept)


def test_learned_positions_have_an_end(library: ctypes.CDLL) -> None:
    native = NativeModel(make(GPT_CONFIG), library)
    longest = [Request([5] * 90, 6, DecodingConfig(n_beams=1, min_length=6))]
    (answer,) = native.search(longest, bos=1, eos=2)[0]
    assert len(answer.tokens) == 6
    with pytest.raises(InputError, match="a text of 97 tokens is longer than the 96 positions"):
        native.search([Request([5] * 90, 7, DecodingConfig(n_beams=1))], bos=1, eos=2)


def test_a_text_can_be_read_at_once_or_token_by_token(library: ctypes.CDLL) -> None:
    native = NativeModel(make(), library)
    text = torch.randint(3, N_TOKENS, (1, 70))  # more than is read together
    expected, _ = native.step(text[:, -1:], native.start(text[:, :-1]))
    state = native.start(text[:, :0])
    for token in text[0]:
        logits, state = native.step(token[None, None], state)
    assert torch.equal(logits, expected)


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "int8"])
@pytest.mark.parametrize("n_beams", [1, 4])
def test_the_search_is_that_of_the_table_whatever_the_neighbours(
    library: ctypes.CDLL, precision: Precision, n_beams: int
) -> None:
    native = NativeModel(make(seed=3), library, precision=precision, n_threads=2)
    config = DecodingConfig(n_beams=n_beams, n_best=n_beams)
    requests = [Request(prompt, 12, config) for prompt in PROMPTS * 11]
    found = native.search(requests, bos=1, eos=2)
    decoding = Decoding(native, bos=1, eos=2, pad=0)
    decoding.add(requests)
    expected: dict[Request, list[Hypothesis]] = {}
    while not decoding.is_idle:
        expected |= dict(decoding.step())
    assert found == [expected[request] for request in requests]
    for request, answers in zip(requests[:4], found, strict=False):
        assert native.search([request], bos=1, eos=2) == [answers]


def test_generation_goes_on_from_the_prompt(library: ctypes.CDLL) -> None:
    """The engine, the model step by step, and all positions at once agree."""
    model = make(seed=5)
    requests = [Request(prompt, 9, DecodingConfig(n_beams=1)) for prompt in PROMPTS]
    plain = generate(model, requests, bos=1, eos=2, pad=0)
    fast = generate(NativeModel(model, library), requests, bos=1, eos=2, pad=0)
    assert [a[0].tokens for a in plain] == [a[0].tokens for a in fast]
    for prompt, (answer,) in zip(PROMPTS, plain, strict=True):
        text = torch.tensor([[*prompt, *answer.tokens]])
        best = model(text)[0].argmax(-1).tolist()
        assert best[len(prompt) - 1 : len(prompt) - 1 + len(answer.tokens)] == answer.tokens


def test_int8_is_near(library: ctypes.CDLL) -> None:
    model = make(replace(CONFIG, d_model=128, d_ff=256))
    native = NativeModel(model, library, precision="int8")
    text = torch.randint(3, N_TOKENS, (20, 30))
    expected, _ = model.step(text[:, -1:], model.start(text[:, :-1]))
    logits, _ = native.step(text[:, -1:], native.start(text[:, :-1]))
    assert (expected.argmax(-1) == logits.argmax(-1)).float().mean() > 0.8
    assert (expected - logits).abs().max() < 0.2 * expected.std()


def test_how_a_decoder_is_run_is_chosen_too() -> None:
    native, choice = choose(make(), "float32")
    assert native is not None
    assert native.is_causal
    assert choice.precision == "float32"
