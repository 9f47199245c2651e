"""Many searches in one table find what each search finds by itself, at the same cost."""

import pytest

from clearhead.decoding import DecodingConfig, Hypothesis, Request, generate
from clearhead.decoding.table import is_simple
from tests.decoding.scripted import BOS, EOS, PAD, Scripted, random_model


def decode(model: Scripted, requests: list[Request]) -> tuple[list[list[Hypothesis]], list[int]]:
    model.n_rows = []
    return generate(model, requests, bos=BOS, eos=EOS, pad=PAD), model.n_rows


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "options",
    [
        {"n_beams": 1},
        {"n_beams": 2, "length_power": 0.0},
        {"n_beams": 4, "n_best": 3, "length_norm": "paper", "length_power": 0.6},
        {"n_beams": 5, "n_best": 5},
        {"n_beams": 1, "min_length": 4},
        {"n_beams": 3, "n_best": 2, "min_length": 5},
        {"n_beams": 30, "n_best": 30},  # more than there are tokens
    ],
)
def test_a_table_finds_what_single_searches_find(options: dict[str, object], seed: int) -> None:
    model = random_model(7, seed)
    config = DecodingConfig(**options)  # type: ignore[arg-type]
    lengths = (1, 3, 9, 5)
    simple = [Request([5], n, config) for n in lengths]
    # A condition that nothing meets: the search is the same, and no longer simple.
    single = [Request([5], n, config, is_enough=lambda tokens: False) for n in lengths]
    assert [is_simple(request) for request in simple + single] == [True] * 4 + [False] * 4
    (expected, n_single), (found, n_rows) = decode(model, single), decode(model, simple)
    assert found == expected
    assert n_rows == n_single


def test_rows_that_cannot_win_are_given_up() -> None:
    """At most six more tokens come: of −0.65, −0.75, −5.65, −9.65 the last two are too far back."""
    model = Scripted(lambda tokens: [-99, -99, *([-99, 1, 0, 0] if tokens else [3, 2.9, -2, -6])])
    _, n_rows = decode(model, [Request([5], 6, DecodingConfig(n_beams=3))])
    assert n_rows[:3] == [1, 1, 3]


def test_requests_of_every_kind_can_be_decoded_together() -> None:
    model = random_model(9, 4)
    requests = [
        Request([5], 6, DecodingConfig(n_beams=3)),
        Request([5], 6, DecodingConfig(temperature=0.7, n_best=2, seed=3)),
        Request([5], 6, DecodingConfig(n_beams=1)),
        Request([5], 6, DecodingConfig(n_beams=3), forbidden=frozenset({4})),
    ]
    together, _ = decode(model, requests)
    assert together == [decode(model, [request])[0][0] for request in requests]
