"""Facts about heads, by hand; words and mixtures, from the model's own numbers."""

import math

import pytest
import torch

from clearhead.errors import InputError
from clearhead.observe.forced import force
from clearhead.observe.heads import _facts, head_statistics
from clearhead.observe.words import mixture, word_paths
from tests.tasks.small_translator import random_translator

TRANSLATOR = random_translator()
PAIRS = [
    force(TRANSLATOR.model, TRANSLATOR.tokenizer, *texts)
    for texts in [("The old dog.", "Der alte Hund."), ("A red house", "Ein rotes Haus")]
]


def test_facts_of_known_weights() -> None:
    """Three heads over four keys: each reads the one before, itself, or all alike."""
    before = torch.zeros(4, 4)
    before[1:, :3] = torch.eye(3)
    before[0, 0] = 1
    weights = torch.stack([before, torch.eye(4), torch.full((4, 4), 0.25)])
    entropy, largest, itself, previous, following, end = _facts(weights).T.tolist()
    assert entropy == pytest.approx([0, 0, math.log(4)], abs=1e-5)
    assert largest == pytest.approx([1, 1, 0.25])
    assert itself == pytest.approx([1 / 3, 1, 0.25])
    assert previous == pytest.approx([2 / 3, 0, 0.25 * 2 / 3])
    assert following == pytest.approx([0, 0, 0.25])
    assert end == pytest.approx([0, 0, 0.25])


def test_every_head_is_described_and_missing_ones_cost() -> None:
    heads = head_statistics(PAIRS, with_effects=True)
    model = TRANSLATOR.model
    assert len(heads) == 2 * (1 + 2 + 2)
    assert all(0 <= head.largest <= 1 and head.alignment is None for head in heads)
    cross = next(head for head in heads if head.kind == "cross" and head.block == 1)
    weight = model.get_submodule("decoder.blocks.1.cross_attention.w_o").get_parameter("weight")
    kept = weight.detach().clone()
    whole = sum(float(pair.log_probs().sum().detach()) for pair in PAIRS)
    weight.data[:, 8 * cross.head : 8 * cross.head + 8] = 0
    without = sum(float(pair.log_probs().sum().detach()) for pair in PAIRS)
    weight.data.copy_(kept)
    n = sum(len(pair.target) for pair in PAIRS)
    assert cross.effect == pytest.approx((whole - without) / n, abs=1e-5)
    with pytest.raises(InputError, match="give at least one"):
        head_statistics([])


def test_a_word_is_the_same_before_the_encoder_and_another_after() -> None:
    sentences = ["The old dog sees the house.", "A small dog", "dog and bird"]
    paths = word_paths(TRANSLATOR.model, TRANSLATOR.tokenizer, "dog", sentences)
    assert paths.vectors.shape == (3, 2, 16)
    cosines = paths.cosines()
    assert float(cosines[0]) == pytest.approx(1.0, abs=1e-5)
    assert float(cosines[1]) < 0.999
    plane = paths.plane()
    assert plane.shape == (3, 2, 2)
    assert torch.allclose(plane[:, 0], plane[:1, 0].expand(3, 2), atol=1e-4)
    distance = (paths.vectors[0, 1] - paths.vectors[1, 1]).norm()
    assert (plane[0, 1] - plane[1, 1]).norm() <= distance + 1e-4
    with pytest.raises(InputError, match="'dog' must stand once in 'A bird', not 0 times"):
        word_paths(TRANSLATOR.model, TRANSLATOR.tokenizer, "dog", ["A dog", "A bird"])
    with pytest.raises(InputError, match="at least two sentences"):
        word_paths(TRANSLATOR.model, TRANSLATOR.tokenizer, "dog", ["A dog"])


def test_a_mixture_has_the_models_weights() -> None:
    found = mixture(TRANSLATOR.model, TRANSLATOR.tokenizer, "The old dog", "dog", 0, 1)
    assert found.words == ["The", "old", "dog", "<eos>"]
    assert sum(found.weights) == pytest.approx(1.0, abs=1e-5)
    assert str(found).startswith("dog' = ")
    assert f"{found.weights[1]:.2f}·old" in str(found)
    with pytest.raises(InputError, match="outside the encoder of 1 blocks with 2 heads"):
        mixture(TRANSLATOR.model, TRANSLATOR.tokenizer, "The dog", "dog", 1, 0)
