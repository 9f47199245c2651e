"""What is computed from inside a model: against finite differences, by hand, and by properties."""

import pytest
import torch
from torch import Tensor

from clearhead.errors import InputError
from clearhead.layers.tap import listen, taps
from clearhead.observe.attribution import input_x_gradient, integrated_gradients, value_zeroing
from clearhead.observe.forced import Forced, force
from clearhead.observe.lens import logit_lens
from clearhead.observe.patching import patch_heads, patch_positions
from clearhead.observe.rollout import encoder_rollout, rollout
from tests.tasks.small_translator import random_translator

TARGET = "Der alte Mann"


def pair(source: str = "The old dog.", target: str = TARGET) -> Forced:
    translator = random_translator()
    return force(translator.model, translator.tokenizer, source, target)


def test_log_probs_are_those_of_the_model() -> None:
    forced = pair()
    logits = forced.model(*forced.inputs)[0].detach()
    expected = [float(row.log_softmax(-1)[t]) for row, t in zip(logits, forced.target, strict=True)]
    assert forced.log_probs().tolist() == pytest.approx(expected)
    with pytest.raises(InputError, match="need at least one word"):
        pair(" ")


def test_rollout_by_hand_and_its_rows_sum_to_one() -> None:
    first, second = torch.rand(3, 4, 4), torch.rand(3, 4, 4)
    first, second = first / first.sum(-1, keepdim=True), second / second.sum(-1, keepdim=True)
    mixed = [(w.mean(0) + torch.eye(4)) / 2 for w in (first, second)]
    assert torch.allclose(rollout([first, second]), mixed[1] @ mixed[0])
    found = encoder_rollout(pair())
    assert torch.allclose(found.sum(-1), torch.ones(len(found)), atol=1e-6)


@torch.no_grad()
def scaled(forced: Forced, place: int, factor: float) -> Tensor:
    """The log-probabilities when the vector of one source token is scaled."""
    tap = taps(forced.model)["source_embedding.vectors"]

    def hear(x: Tensor) -> Tensor:
        x = x.clone()
        x[:, place] *= factor
        return x

    with listen({tap: hear}):
        return forced.log_probs()


def test_gradients_are_those_of_small_differences() -> None:
    """x · ∂f/∂x is how f changes when x is made a little longer."""
    forced = pair()
    forced.model.double()
    found = input_x_gradient(forced)
    assert found.shape == (len(forced.target), len(forced.source))
    small = 1e-5
    for place in range(len(forced.source)):
        before, after = (scaled(forced, place, 1 + sign * small) for sign in (-1, 1))
        expected = (after - before).double() / (2 * small)
        assert torch.allclose(found[:, place].double(), expected, atol=1e-5)


def test_integrated_gradients_add_up() -> None:
    forced = pair()
    found = integrated_gradients(forced, n_steps=200)
    tap = taps(forced.model)["source_embedding.vectors"]
    with torch.no_grad(), listen({tap: torch.zeros_like}):
        without = forced.log_probs()
    difference = forced.log_probs().detach() - without
    assert torch.allclose(found.sum(-1), difference, atol=0.02)
    with pytest.raises(InputError, match="n_steps=0 must be at least 1"):
        integrated_gradients(forced, 0)


def test_value_zeroing_is_a_share() -> None:
    forced = pair()
    found = value_zeroing(forced, 0)
    assert found.shape == (len(forced.source),) * 2
    assert (found >= 0).all()
    assert torch.allclose(found.sum(-1), torch.ones(len(found)), atol=1e-5)
    with pytest.raises(InputError, match="block=1 is outside the encoder: it has 1"):
        value_zeroing(forced, 1)


def test_the_lens_after_the_last_block_is_the_model() -> None:
    forced = pair()
    lens = logit_lens(forced)
    expected = forced.model(*forced.inputs)[0].log_softmax(-1)
    assert lens.log_probs.shape == (2, len(forced.target), expected.shape[-1])
    assert torch.allclose(lens.log_probs[-1], expected, atol=1e-5)
    tokens, p = lens.best()
    assert (lens.rank_of(tokens[-1].tolist())[-1] == 0).all()
    assert ((p > 0) & (p <= 1)).all()


def test_patching_restores_the_clean_run_where_the_difference_is() -> None:
    clean, changed = pair("The old dog."), pair("The red dog.")
    effects = patch_positions(clean, changed, 1)
    assert effects.shape == (1, len(clean.source))
    heads = patch_heads(clean, changed, 1)
    assert heads.shape == (1, 2)
    assert effects.abs().max() > 0.1


def test_what_cannot_be_patched_is_refused() -> None:
    with pytest.raises(InputError, match="they must be as long as each other"):
        patch_positions(pair(), pair("The old dog sees the river."), 0)
    with pytest.raises(InputError, match="the same target"):
        patch_positions(pair(), pair(target="Ein Hund"), 0)
    with pytest.raises(InputError, match="makes no difference"):
        patch_positions(pair(), pair(), 0)
