"""What the log says of each choice is what was chosen from, rule by rule."""

import math

import numpy as np
import pytest

from clearhead.decoding import DecodingConfig, Hypothesis, Request, SearchLog, generate
from clearhead.decoding.log import Choice, Stage
from clearhead.decoding.sampling import shape_distribution, shaping_steps
from tests.decoding.scripted import BOS, EOS, PAD, random_model

ALL = ["model", "repetition penalty", "shortest length", "temperature", "top-k", "min-p", "top-p"]


def decode(
    n_tokens: int = 12, forbidden: frozenset[int] = frozenset(), **options: object
) -> tuple[list[Hypothesis], list[Choice]]:
    config = DecodingConfig(**options)  # type: ignore[arg-type]
    log = SearchLog()
    request = Request([5], 7, config, forbidden=forbidden, log=log)
    (found,) = generate(random_model(n_tokens, 3), [request], bos=BOS, eos=EOS, pad=PAD)
    plain = Request([5], 7, config, forbidden=forbidden)
    assert generate(random_model(n_tokens, 3), [plain], bos=BOS, eos=EOS, pad=PAD) == [found]
    return found, log.choices


def written(choices: list[Choice], row: int = 0) -> list[int]:
    return [choice.token for choice in choices if choice.row == row and choice.token != EOS]


def stage(choice: Choice, rule: str) -> Stage:
    return next(each for each in choice.stages if each.rule == rule)


def test_every_stage_of_drawing_is_told() -> None:
    options = {"temperature": 0.7, "top_k": 4, "min_p": 0.02, "top_p": 0.9}
    found, choices = decode(
        n_best=3,
        seed=5,
        repetition_penalty=1.2,
        min_length=2,
        **options,  # type: ignore[arg-type]
    )
    for row, answer in enumerate(found):
        assert written(choices, row) == answer.tokens
    for choice in choices:
        assert [each.rule for each in choice.stages] == ALL
        assert stage(choice, "top-k").n_left == 4
        assert all(0 <= p <= 1 for each in choice.stages for p in each.p.values())
        last = choice.stages[-1]
        assert last.p[choice.token] > 0
        assert sum(last.p.values()) == pytest.approx(1.0)
        if choice.step < 2:
            assert stage(choice, "shortest length").p.get(EOS, 0.0) == 0.0
        sharpened = {t: p ** (1 / 0.7) for t, p in stage(choice, "shortest length").p.items()}
        first, second = sorted(sharpened, key=lambda t: -sharpened[t])[:2]
        tempered = stage(choice, "temperature").p
        assert tempered[first] / tempered[second] == pytest.approx(
            sharpened[first] / sharpened[second]
        )


def test_greedy_tells_what_was_forbidden() -> None:
    (plain,), choices = decode(n_beams=1)
    assert [each.rule for each in choices[0].stages] == ["model"]
    assert written(choices) == plain.tokens
    assert [math.log(c.stages[0].p[c.token]) for c in choices] == pytest.approx(plain.log_probs)
    avoided = plain.tokens[0]
    (other,), choices = decode(n_beams=1, forbidden=frozenset({avoided}))
    assert written(choices) == other.tokens
    assert stage(choices[0], "forbidden").p[avoided] == 0
    assert choices[0].stages[0].p[avoided] > choices[0].stages[0].p[choices[0].token]


def test_beams_have_nodes_and_no_choices() -> None:
    _, choices = decode(n_beams=3)
    assert choices == []


def test_the_last_step_of_shaping_is_the_distribution() -> None:
    log_probs = np.log(np.array([0.05, 0.4, 0.25, 0.2, 0.1]))
    config = DecodingConfig(temperature=1.0, top_k=4, min_p=0.3, top_p=0.7)
    steps = dict(shaping_steps(log_probs, config))
    assert {rule: tokens.tolist() for rule, (tokens, _) in steps.items()} == {
        "temperature": [1, 2, 3, 4, 0],
        "top-k": [1, 2, 3, 4],
        "min-p": [1, 2, 3],
        "top-p": [1, 2],
    }
    assert steps["min-p"][1].tolist() == pytest.approx([0.4 / 0.85, 0.25 / 0.85, 0.2 / 0.85])
    tokens, p = shape_distribution(log_probs, config)
    assert tokens.tolist() == [1, 2]
    assert p.tolist() == pytest.approx([0.4 / 0.65, 0.25 / 0.65])
