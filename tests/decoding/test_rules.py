"""Each rule does what it says, in greedy search, beam search and sampling alike."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearhead.decoding import DecodingConfig, Request
from clearhead.errors import ConfigError, InputError
from tests.decoding.scripted import EOS, Scripted, answer, random_model

END = [0, 0, 99, 0, 0, 0]
WAYS = [{"n_beams": 1}, {"n_beams": 4, "n_best": 4}, {"temperature": 1.0, "n_best": 3}]


@pytest.mark.parametrize("way", WAYS)
@given(seed=st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_rules_hold(way: dict[str, object], seed: int) -> None:
    model = random_model(9, seed)
    for found in answer(model, 12, forbidden=frozenset({3, 4}), min_length=4, **way):
        assert not {3, 4} & set(found.tokens)
        assert len(found.tokens) >= 4
    for found in answer(model, 12, no_repeat=2, **way):
        pairs = list(zip(found.tokens, found.tokens[1:], strict=False))
        assert len(set(pairs)) == len(pairs)
    for found in answer(model, 12, prefix=(7, 8), **way):
        assert found.tokens[:2] == [7, 8]
    for found in answer(model, 12, is_wrong=lambda tokens: tokens[-2:] == (5, 6), **way):
        assert (5, 6) not in zip(found.tokens, found.tokens[1:], strict=False)
    for found in answer(model, 12, is_enough=lambda tokens: 6 in tokens, **way):
        assert 6 not in found.tokens[:-1]
        assert found.is_finished == (len(found.tokens) < 12 or found.tokens[-1] == 6)


def test_a_forced_prefix_keeps_its_log_probability() -> None:
    model = random_model(9)
    (free,) = answer(model, 6, n_beams=1)
    (forced,) = answer(model, 6, n_beams=1, prefix=tuple(free.tokens[:2]))
    assert forced == free


def test_the_repetition_penalty_scales_log_probabilities() -> None:
    model = Scripted(lambda tokens: [-9, -9, -9, 2.0, 1.5, -9] if len(tokens) < 3 else END)
    (plain,) = answer(model, n_beams=1)
    assert plain.tokens == [3, 3, 3]
    (varied,) = answer(model, n_beams=1, repetition_penalty=3.0)
    assert varied.tokens[:2] == [3, 4]


def test_a_limit_that_is_reached_is_told() -> None:
    endless = Scripted(lambda tokens: [0, 0, -99, 1, 0])
    (found,) = answer(endless, 7, n_beams=1)
    assert (len(found.tokens), found.is_finished) == (7, False)
    assert len(found.log_probs) == 7


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"n_best": 6}, "n_best=6 answers need as many beams"),
        ({"n_groups": 2}, "cannot be divided into n_groups=2"),
        ({"top_p": 0.0}, "top_p=0.0 must be above 0"),
        ({"min_p": 1.0}, "min_p=1.0 must be at least 0 and below 1"),
        ({"temperature": -1.0}, "temperature=-1.0 must be at least 0"),
        ({"repetition_penalty": 0.0}, "repetition_penalty=0.0 must be above 0"),
        ({"min_length": -1}, "min_length=-1 must be at least 0"),
    ],
)
def test_nonsense_is_refused(bad: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        DecodingConfig.from_dict(bad)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"source": []}, "the source holds no token"),
        ({"prefix": (3,) * 9}, "must begin with 9 tokens and may have max_length=5"),
        ({"required": ((3, 4, 5), (6, 7, 8))}, "required terms have 6 tokens"),
        ({"required": ((),)}, "a required term holds no token"),
    ],
)
def test_impossible_requests_are_refused(bad: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Request(**{"source": [5], "max_length": 5, **bad})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="required terms need beam search"):
        Request([5], 5, DecodingConfig(temperature=1.0), required=((3,),))


def test_the_end_is_no_token_of_the_answer() -> None:
    (found,) = answer(Scripted(lambda tokens: [0, 0, 9.0 * len(tokens), 5, 0]), n_beams=1)
    assert EOS not in found.tokens
    assert len(found.log_probs) == len(found.tokens) + 1
