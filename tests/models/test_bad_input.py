"""Bad input, as in production: the error says what was given and what is allowed."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from clearhead.errors import ClearheadError, ConfigError, InputError
from clearhead.layers import BlockConfig, MultiHeadAttention
from clearhead.models import Transformer, TransformerConfig

pytestmark = pytest.mark.usefixtures("unchecked")


def refused(run: Callable[[], object], error: type[ClearheadError], *parts: str) -> None:
    """Run what must fail with exactly this error, whose text holds these parts."""
    with pytest.raises(ClearheadError) as caught:
        run()
    assert type(caught.value) is error
    for part in parts:
        assert part in str(caught.value)


def config(**changes: Any) -> TransformerConfig:
    sizes = {"n_encoder_layers": 1, "n_decoder_layers": 1}
    return TransformerConfig.preset("tiny", 20, **sizes | changes)


def block(**sizes: Any) -> BlockConfig:
    return BlockConfig(**sizes)


@pytest.fixture
def model() -> Transformer:
    return Transformer(config()).eval()


@pytest.fixture
def learned() -> Transformer:
    return Transformer(config(positions="learned", max_length=8)).eval()


def tokens(*shape: int) -> Tensor:
    return torch.randint(1, 20, shape)


def test_width_does_not_divide_into_heads() -> None:
    parts = ("d_model=130", "multiple of n_heads=4")
    refused(lambda: config(**{"block.d_model": 130}), ConfigError, *parts)
    refused(lambda: MultiHeadAttention(130, 4), ConfigError, *parts)


def test_heads_do_not_divide_into_groups() -> None:
    parts = ("n_heads=4", "multiple of n_kv_heads=3")
    refused(lambda: config(**{"block.n_kv_heads": 3}), ConfigError, *parts)
    refused(lambda: MultiHeadAttention(128, 4, 3), ConfigError, *parts)


@pytest.mark.parametrize("name", ["d_model", "n_heads", "d_ff"])
@pytest.mark.parametrize("value", [0, -4])
def test_sizes_below_one(name: str, value: int) -> None:
    refused(lambda: block(**{name: value}), ConfigError, f"{name}={value}", "at least 1")


@pytest.mark.parametrize("value", [0, -2])
def test_groups_below_one(value: int) -> None:
    parts = (f"n_kv_heads={value}", "at least 1")
    refused(lambda: BlockConfig(n_kv_heads=value), ConfigError, *parts)


@pytest.mark.parametrize("name", ["dropout", "attention_dropout", "hidden_dropout"])
@pytest.mark.parametrize("value", [-0.1, 1.0, float("nan")])
def test_dropout_outside(name: str, value: float) -> None:
    parts = (f"{name}={value}", "at least 0 and below 1")
    refused(lambda: block(**{name: value}), ConfigError, *parts)


@pytest.mark.parametrize("name", ["n_encoder_layers", "n_decoder_layers"])
def test_no_layers(name: str) -> None:
    refused(lambda: config(**{name: 0}), ConfigError, f"{name}=0", "at least 1")


@pytest.mark.parametrize("n_tokens", [0, -1])
def test_no_vocabulary(n_tokens: int) -> None:
    parts = (f"n_source_tokens={n_tokens}", "at least 1")
    refused(lambda: TransformerConfig.preset("tiny", n_tokens), ConfigError, *parts)


def test_joint_vocabulary_of_two_sizes() -> None:
    parts = ("n_source_tokens=20", "n_target_tokens=30", "set is_joint=False")
    refused(lambda: config(n_target_tokens=30), ConfigError, *parts)
    assert config(n_target_tokens=30, is_joint=False).n_target_tokens == 30


@pytest.mark.parametrize("pad", [-1, 20])
def test_pad_outside(pad: int) -> None:
    refused(lambda: config(pad=pad), ConfigError, f"pad={pad}", "outside the vocabulary")


def test_pad_outside_says_what_is_allowed() -> None:
    refused(lambda: config(pad=25), ConfigError, "19")


@pytest.mark.parametrize(("name", "hint"), [("bse", "did you mean base?"), ("xxl", "base, big")])
def test_unknown_preset(name: str, hint: str) -> None:
    refused(lambda: TransformerConfig.preset(name, 20), ConfigError, repr(name), hint)


def test_unknown_choice_in_text() -> None:
    parts = ("norm='middle'", "post, pre")
    refused(lambda: config(**{"block.norm": "middle"}), ConfigError, *parts)
    parts = ("positions='rotary'", "sinusoidal, learned")
    refused(lambda: config(positions="rotary"), ConfigError, *parts)


@pytest.mark.parametrize(
    "build",
    [
        lambda: BlockConfig(norm="middle"),  # type: ignore[arg-type]
        lambda: BlockConfig(activation="tanh"),  # type: ignore[arg-type]
        lambda: TransformerConfig(
            n_source_tokens=20,
            n_target_tokens=20,
            positions="rotary",  # type: ignore[arg-type]
        ),
    ],
)
def test_unknown_choice_in_code(build: Callable[[], object]) -> None:
    refused(build, ConfigError)


@pytest.mark.parametrize("value", [0, -1])
def test_learned_positions_without_length(value: int) -> None:
    parts = (f"max_length={value}", "at least 1")
    refused(lambda: Transformer(config(positions="learned", max_length=value)), ConfigError, *parts)


@pytest.mark.parametrize("bad", [20, 1000, -1])
@pytest.mark.parametrize("side", ["source", "target", "step"])
def test_token_id_outside(model: Transformer, bad: int, side: str) -> None:
    wrong = torch.tensor([[3, bad]])
    run = {
        "source": lambda: model(wrong, tokens(1, 4)),
        "target": lambda: model(tokens(1, 4), wrong),
        "step": lambda: model.step(wrong, model.start(tokens(1, 4))),
    }[side]
    refused(run, InputError, f"token id {bad}", "20 tokens (0 to 19)")


def test_each_vocabulary_has_its_own_range() -> None:
    model = Transformer(config(n_target_tokens=30, is_joint=False)).eval()
    assert model(tokens(1, 4), torch.tensor([[29]])).shape == (1, 1, 30)
    refused(lambda: model(torch.tensor([[29]]), tokens(1, 4)), InputError, "29", "0 to 19")
    refused(lambda: model(tokens(1, 4), torch.tensor([[30]])), InputError, "30", "0 to 29")


def test_empty_batch(model: Transformer) -> None:
    refused(lambda: model(tokens(0, 4), tokens(0, 3)), InputError, "no rows", "at least one")
    refused(lambda: model.start(tokens(0, 4)), InputError, "no rows", "at least one")


def test_length_zero(model: Transformer) -> None:
    parts = ("length 0", "at least one token")
    refused(lambda: model(tokens(2, 0), tokens(2, 3)), InputError, "source", *parts)
    refused(lambda: model(tokens(2, 3), tokens(2, 0)), InputError, "target", *parts)
    state = model.start(tokens(2, 3))
    refused(lambda: model.step(tokens(2, 0), state), InputError, "target", *parts)


def test_longer_than_the_learned_positions(learned: Transformer) -> None:
    parts = ("length 9", "8 positions")
    refused(lambda: learned(tokens(1, 9), tokens(1, 3)), InputError, *parts)
    refused(lambda: learned(tokens(1, 3), tokens(1, 9)), InputError, *parts)
    state = learned.start(tokens(1, 8))
    _, state = learned.step(tokens(1, 8), state)
    refused(lambda: learned.step(tokens(1, 1), state), InputError, *parts)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bool, torch.int16])
def test_tokens_of_another_type(model: Transformer, dtype: torch.dtype) -> None:
    wrong, parts = torch.ones(2, 3, dtype=dtype), (str(dtype), "int64 or int32")
    refused(lambda: model(wrong, tokens(2, 3)), InputError, "source", *parts)
    refused(lambda: model(tokens(2, 3), wrong), InputError, "target", *parts)
    refused(lambda: model.start(wrong), InputError, "source", *parts)


@pytest.mark.parametrize("shape", [(3,), (2, 3, 4), ()])
def test_tokens_of_another_shape(model: Transformer, shape: tuple[int, ...]) -> None:
    parts = (str(shape), "(rows, positions)")
    refused(lambda: model.start(tokens(*shape)), InputError, *parts)
    refused(lambda: model(tokens(*shape), tokens(*shape)), InputError, *parts)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_mask_of_another_type(model: Transformer, dtype: torch.dtype) -> None:
    """Ones and zeros might mean either thing; only a boolean says permission."""
    wrong, parts = torch.ones(1, 1, 1, 3, dtype=dtype), (str(dtype), "must be boolean")
    x = torch.randn(1, 3, 128)
    refused(lambda: MultiHeadAttention(128, 4)(x, may_attend=wrong), InputError, *parts)
    refused(lambda: model.encoder(x, wrong), InputError, *parts)
    refused(lambda: model.decoder(x, x, wrong), InputError, *parts)


def test_rows_of_source_and_target_differ(model: Transformer) -> None:
    parts = ("2 rows", "target_in has 3", "pairs")
    refused(lambda: model(tokens(2, 4), tokens(3, 4)), InputError, *parts)
    refused(lambda: model(tokens(1, 4), tokens(3, 4)), InputError, "1 rows", "has 3")


def test_state_of_another_number_of_rows(model: Transformer) -> None:
    state = model.start(tokens(2, 4))
    refused(lambda: model.step(tokens(3, 1), state), InputError, "3 rows", "holds 2")
    refused(lambda: model.step(tokens(1, 1), state), InputError, "1 rows", "holds 2")
    _, state = model.step(tokens(2, 1), state)
    refused(lambda: model.step(tokens(3, 1), state), InputError, "3 rows", "holds 2")


def test_refused_step_leaves_the_state_alone(model: Transformer) -> None:
    """After an error the caller can go on with what is right."""
    source, first, second = tokens(2, 4), tokens(2, 1), tokens(2, 1)
    _, state = model.step(first, model.start(source))
    refused(lambda: model.step(tokens(3, 1), state), InputError)
    refused(lambda: model.step(torch.full((2, 1), 99), state), InputError)
    logits, _ = model.step(second, state)
    at_once = model(source, torch.cat([first, second], dim=1))[:, -1]
    torch.testing.assert_close(logits, at_once, atol=1e-4, rtol=1e-4)
