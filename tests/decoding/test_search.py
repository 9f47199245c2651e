"""Beams with required terms and in groups; early stopping; requests that come and go."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearhead.decoding import DecodingConfig, Hypothesis, Request, generate, stream
from clearhead.decoding.loop import Decoding
from tests.decoding.scripted import BOS, EOS, PAD, Scripted, answer, random_model


def _contains(tokens: list[int], term: tuple[int, ...]) -> bool:
    return any(tuple(tokens[i : i + len(term)]) == term for i in range(len(tokens)))


@given(seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_required_terms_are_in_the_answer(seed: int) -> None:
    terms = ((7, 8), (4,))
    (found,) = answer(random_model(9, seed), 12, n_beams=6, required=terms)
    assert all(_contains(found.tokens, term) for term in terms)


def test_required_terms_that_come_anyway_change_nothing() -> None:
    model = random_model(9, 3)
    (free,) = answer(model, 8, n_beams=5)
    (asked,) = answer(model, 8, n_beams=5, required=(tuple(free.tokens[1:3]),))
    assert asked.score >= free.score - 1e-9


@given(seed=st.integers(0, 1000), power=st.sampled_from([0.0, 0.7, 1.0]))
@settings(max_examples=20, deadline=None)
def test_a_beam_of_the_whole_space_finds_the_best(seed: int, power: float) -> None:
    """The early stop must not lose it, whatever the length normalisation."""
    model = random_model(5, seed)
    config = DecodingConfig(n_beams=80, length_power=power)
    best = max(
        (_score(model, config, target), target)
        for n in range(4)
        for target in itertools.product([0, 1, 3, 4], repeat=n)
    )
    (found,) = answer(model, 4, n_beams=80, length_power=power)
    assert found.score == pytest.approx(best[0], abs=1e-5)


def _score(model: Scripted, config: DecodingConfig, target: tuple[int, ...]) -> float:
    total = 0.0
    written: list[int] = []
    for token in (*target, EOS):
        total += float(torch.tensor(list(model.logits(written))).log_softmax(-1)[token])
        written.append(token)
    return config.normalise(total, len(written))


def test_groups_choose_different_tokens() -> None:
    model = random_model(30, 5)
    alike = answer(model, 6, n_beams=6, n_best=6)
    varied = answer(model, 6, n_beams=6, n_best=6, n_groups=3, diversity=5.0)

    def n_firsts(found: list[Hypothesis]) -> int:
        return len({tuple(hypothesis.tokens[:1]) for hypothesis in found})

    assert n_firsts(varied) >= 3
    assert n_firsts(varied) > n_firsts(alike)


def test_the_papers_norm_is_that_of_the_paper() -> None:
    config = DecodingConfig(length_norm="paper", length_power=0.6)
    assert config.normalise(-3.0, 7) == pytest.approx(-3.0 / ((5 + 7) ** 0.6 / 6**0.6))


def test_finished_rows_cost_nothing_and_new_requests_can_enter() -> None:
    lengths = {5: 2, 6: 6}
    model = Scripted(lambda tokens: [0, 0, 9.0 if len(tokens) >= 2 else -9, 1, 0])
    decoding = Decoding(model, bos=BOS, eos=EOS, pad=PAD)
    config = DecodingConfig(n_beams=1)
    first, second = Request([5], lengths[5], config), Request([6], lengths[6], config)
    decoding.add([first])
    decoding.step()
    decoding.add([second])
    ended = []
    while not decoding.is_idle:
        ended += [request for request, _ in decoding.step()]
    assert ended == [first, second]
    assert max(model.n_rows) == 1


def test_a_cancelled_request_leaves_and_the_others_do_not_notice() -> None:
    config = DecodingConfig(n_beams=3, n_best=3)
    requests = [Request([5], 8, config), Request([6], 8, config)]
    model = random_model(9, 1)
    decoding = Decoding(model, bos=BOS, eos=EOS, pad=PAD)
    decoding.add(requests)
    decoding.step()
    decoding.cancel(requests[0])
    n_before = len(model.n_rows)
    answers: dict[Request, list[Hypothesis]] = {}
    while not decoding.is_idle:
        answers |= dict(decoding.step())
    assert list(answers) == [requests[1]]
    assert max(model.n_rows[n_before:]) <= 3
    assert answers[requests[1]] == generate(model, requests[1:], bos=BOS, eos=EOS, pad=PAD)[0]


@pytest.mark.parametrize("options", [{"n_beams": 1}, {"temperature": 0.8}, {"n_beams": 3}])
def test_a_stream_gives_the_tokens_of_the_answer(options: dict[str, float]) -> None:
    model = random_model(9, 2)
    request = Request([5], 9, DecodingConfig(**options))  # type: ignore[arg-type]
    tokens = list(stream(model, request, bos=BOS, eos=EOS, pad=PAD))
    assert tokens == generate(model, [request], bos=BOS, eos=EOS, pad=PAD)[0][0].tokens
