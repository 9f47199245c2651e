"""Our norms are torch's norms, while training and afterwards."""

import copy

import pytest
import torch
from torch import nn

from clearhead.layers import BatchNorm, LayerNorm, RMSNorm
from tests.parity.compare import (
    assert_near,
    assert_same_gradients,
    backward,
    gradient,
    randomise,
    twins,
)
from tests.parity.weights import unchanged, under

B, T, D = 3, 5, 16

PAIRS = {
    "layer": (LayerNorm(D), nn.LayerNorm(D)),
    "layer, no shift": (LayerNorm(D, bias=False), nn.LayerNorm(D, bias=False)),
    "layer, eps": (LayerNorm(D, eps=0.1), nn.LayerNorm(D, eps=0.1)),
    "rms": (RMSNorm(D), nn.RMSNorm(D, eps=1e-6)),
    "rms, eps": (RMSNorm(D, eps=0.1), nn.RMSNorm(D, eps=0.1)),
}


@pytest.mark.parametrize("is_training", [True, False])
@pytest.mark.parametrize("name", PAIRS)
def test_norms_of_a_position_are_torchs(name: str, is_training: bool) -> None:
    ours, theirs = copy.deepcopy(PAIRS[name])
    randomise(theirs)
    ours.load_state_dict(theirs.state_dict())
    ours.train(is_training)
    theirs.train(is_training)
    x, y = twins(B, T, D)

    output, expected = ours(x), theirs(y)
    assert_near(output, expected)
    backward(output, expected)
    assert_near(gradient(x), gradient(y))
    assert_same_gradients(ours, theirs, unchanged)


def test_norms_of_a_position_are_their_equations() -> None:
    x = torch.randn(B, T, D) + 1
    centred = x - x.sum(-1, keepdim=True) / D
    variance = (centred**2).sum(-1, keepdim=True) / D
    assert_near(LayerNorm(D, eps=0.1)(x), centred / (variance + 0.1).sqrt())
    mean_square = (x**2).sum(-1, keepdim=True) / D
    assert_near(RMSNorm(D, eps=0.1)(x), x / (mean_square + 0.1).sqrt())


def test_batch_norm_is_torchs_over_batch_and_time() -> None:
    ours, theirs = BatchNorm(D), nn.BatchNorm1d(D)
    randomise(theirs)
    ours.load_state_dict(under("norm", theirs.state_dict()))

    for is_training in (True, True, False):  # the last one uses what the first two have learned
        ours.train(is_training).zero_grad()
        theirs.train(is_training).zero_grad()
        x, y = twins(B, T, D)
        output, expected = ours(x + 2), theirs((y + 2).transpose(1, 2)).transpose(1, 2)
        assert_near(output, expected)
        backward(output, expected)
        assert_near(gradient(x), gradient(y))
        assert_same_gradients(ours, theirs, lambda weights: under("norm", weights))
        for name, value in theirs.state_dict().items():
            assert_near(ours.state_dict()[f"norm.{name}"], value, name=name)


def test_the_norms_differ_from_each_other() -> None:
    x = torch.randn(B, T, D) + 1
    outputs = [norm(x) for norm in (LayerNorm(D), RMSNorm(D), BatchNorm(D), LayerNorm(D, eps=0.1))]
    for i, one in enumerate(outputs):
        for other in outputs[:i]:
            assert (one - other).abs().max() > 0.01
