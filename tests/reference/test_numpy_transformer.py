"""Our Transformer computes what a naive one in NumPy computes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from clearhead.layers import BlockConfig
from clearhead.models import Transformer, TransformerConfig
from tests.reference import numpy_transformer

V_SOURCE, V_TARGET, PAD = 11, 9, 2

BLOCK = {"d_model": 12, "d_ff": 10, "n_heads": 4, "dropout": 0.0}
PLAIN: dict[str, Any] = {
    "n_source_tokens": V_SOURCE,
    "n_target_tokens": V_TARGET,
    "is_joint": False,
    "pad": PAD,
    "n_encoder_layers": 2,
    "n_decoder_layers": 2,
}
JOINT = {"n_source_tokens": V_SOURCE, "n_target_tokens": V_SOURCE, "is_joint": True}

CASES: dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "post-norm": ({}, {}),
    "pre-norm": ({}, {"norm": "pre"}),
    "grouped queries": ({}, {"n_kv_heads": 2}),
    "multi-query": ({}, {"n_kv_heads": 1, "norm": "pre"}),
    "gelu": ({}, {"activation": "gelu"}),
    "gelu tanh": ({}, {"activation": "gelu_tanh"}),
    "swiglu": ({}, {"activation": "swiglu"}),
    "attention bias": ({}, {"attention_bias": True}),
    "joint vocabulary": (JOINT, {}),
    "joint pre-norm swiglu": (JOINT, {"norm": "pre", "activation": "swiglu", "n_kv_heads": 2}),
    "uneven stacks": ({"n_encoder_layers": 3, "n_decoder_layers": 1}, {}),
    "odd width": ({}, {"d_model": 9, "n_heads": 3}),
    "learned positions": ({"positions": "learned", "max_length": 8}, {"attention_bias": True}),
}


def build(name: str) -> Transformer:
    """A small model with random weights; biases and norms too."""
    changes, block_changes = CASES[name]
    config = TransformerConfig(
        **{**PLAIN, **changes, "block": BlockConfig(**{**BLOCK, **block_changes})}
    )
    model = Transformer(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.2)
    return model


def sentences(config: TransformerConfig) -> tuple[Tensor, Tensor]:
    """A whole source, one with padding at its end, and one of padding alone; and targets."""
    source = torch.randint(3, config.n_source_tokens, (3, 6))
    source[1, 3:] = PAD
    source[2] = PAD
    return source, torch.randint(0, config.n_target_tokens, (3, 5))


def reference(model: Transformer, source: Tensor, target_in: Tensor) -> Tensor:
    """The naive logits."""
    weights = {name: w.double().numpy() for name, w in model.state_dict().items()}
    logits = numpy_transformer.logits(weights, model.config, source.tolist(), target_in.tolist())
    return torch.from_numpy(logits)


@pytest.mark.parametrize("is_training", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_logits_are_the_naive_ones(name: str, is_training: bool) -> None:
    model = build(name).train(is_training)
    source, target_in = sentences(model.config)
    expected = reference(model, source, target_in)
    assert expected.std() > 0.1
    logits = model(source, target_in).double()
    torch.testing.assert_close(logits, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", ["post-norm", "learned positions"])
def test_in_double_precision_hardly_anything_is_left(name: str) -> None:
    model = build(name).double()
    source, target_in = sentences(model.config)
    expected = reference(model, source, target_in)
    # Our table of sinusoids is rounded to single precision; learned positions are not.
    tolerance = 1e-12 if name == "learned positions" else 1e-6
    torch.testing.assert_close(model(source, target_in), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", ["post-norm", "grouped queries", "joint pre-norm swiglu"])
def test_step_by_step_the_logits_are_the_naive_ones(name: str) -> None:
    model = build(name).eval()
    source, target_in = sentences(model.config)
    expected = reference(model, source, target_in)
    state = model.start(source)
    for t in range(target_in.shape[1]):
        logits, state = model.step(target_in[:, t : t + 1], state)
        torch.testing.assert_close(logits.double(), expected[:, t], rtol=0, atol=1e-5)


def test_padding_matters_to_the_naive_one() -> None:
    model = build("post-norm")
    source, target_in = sentences(model.config)
    expected = reference(model, source, target_in)
    unpadded = source.masked_fill(source == PAD, 3)
    difference = (model(unpadded, target_in) - expected).abs().amax((1, 2))
    assert difference[0] < 1e-5
    assert (difference[1:] > 0.01).all()


def test_the_naive_one_sees_nothing_later() -> None:
    model = build("post-norm")
    source, target_in = sentences(model.config)
    changed = target_in.clone()
    changed[:, 3] = (changed[:, 3] + 1) % V_TARGET
    before = reference(model, source, target_in).numpy()
    after = reference(model, source, changed).numpy()
    assert np.array_equal(before[:, :3], after[:, :3])
    assert not np.isclose(before[:, 3:], after[:, 3:]).all()
