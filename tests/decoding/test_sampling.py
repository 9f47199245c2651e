"""What is drawn has the probabilities that it should have, and depends on the seed alone."""

from collections import Counter

import numpy as np
import pytest
import torch

from clearhead.decoding import DecodingConfig, Request, generate
from clearhead.decoding.sampling import shape_distribution
from tests.decoding.scripted import BOS, EOS, PAD, Scripted, answer, random_model

LOG_PROBS = np.log([0.5, 0.25, 0.125, 0.1, 0.025])


def shape(**settings: float) -> dict[int, float]:
    config = DecodingConfig.from_dict({"temperature": 1.0, **settings})
    tokens, p = shape_distribution(LOG_PROBS, config)
    assert p.sum() == pytest.approx(1)
    return dict(zip(tokens.tolist(), p.round(6).tolist(), strict=True))


def test_each_setting_leaves_the_right_tokens() -> None:
    assert shape() == pytest.approx({0: 0.5, 1: 0.25, 2: 0.125, 3: 0.1, 4: 0.025})
    assert shape(top_k=2) == pytest.approx({0: 2 / 3, 1: 1 / 3}, abs=1e-5)
    assert list(shape(top_p=0.75)) == [0, 1]
    assert list(shape(top_p=0.76)) == [0, 1, 2]
    assert list(shape(min_p=0.2)) == [0, 1, 2, 3]
    assert list(shape(top_p=0.01)) == [0]
    cold = shape(temperature=0.5)
    assert cold[0] / cold[1] == pytest.approx(4, rel=1e-3)
    hot = shape(temperature=1e6)
    assert hot[0] == pytest.approx(0.2, abs=1e-4)


def test_frequencies_are_the_probabilities() -> None:
    logits = [-99.0, -99.0, -99.0, *LOG_PROBS.tolist()]
    model = Scripted(lambda tokens: logits if not tokens else [0, 0, 99, 0, 0, 0, 0, 0])
    found = answer(model, 3, temperature=1.0, n_best=2000)
    counts = Counter(hypothesis.tokens[0] for hypothesis in found)
    for token, log_prob in enumerate(LOG_PROBS, 3):
        p = float(np.exp(log_prob))
        assert counts[token] / 2000 == pytest.approx(p, abs=4 * (p * (1 - p) / 2000) ** 0.5)


def test_what_is_drawn_depends_on_the_seed_alone() -> None:
    model = random_model(12, 4)

    def draw(seed: int, *neighbours: int) -> list[list[int]]:
        requests = [
            Request([5], 9, DecodingConfig(temperature=1.2, n_best=2, seed=each))
            for each in (*neighbours, seed)
        ]
        torch.manual_seed(len(neighbours))  # others' random numbers must not matter
        answers = generate(model, requests, bos=BOS, eos=EOS, pad=PAD)[-1]
        return [hypothesis.tokens for hypothesis in answers]

    assert draw(7) == draw(7, 1, 2, 3)
    assert draw(7) != draw(8)
    assert draw(7)[0] != draw(7)[1]


def test_nothing_left_to_draw_ends_the_answer() -> None:
    (found,) = answer(
        random_model(6), 5, temperature=1.0, forbidden=frozenset(range(6)) - {3},
        is_wrong=lambda tokens: len(tokens) > 2,
    )  # fmt: skip
    assert found.tokens == [3, 3]
