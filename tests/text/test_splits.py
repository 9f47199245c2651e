"""Drawn pieces spell the same text, differ from each other, and repeat with the seed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearhead.errors import ConfigError
from clearhead.text import Tokenizer
from clearhead.text.splits import Splitter

TEXTS = ["A small dog sees the big house.", "Ein kleiner Hund sieht das große Haus."] * 4
TOKENIZER = Tokenizer.train(TEXTS, "bpe", 400)


@given(st.text(max_size=30), st.integers(0, 9))
def test_the_text_comes_back(text: str, seed: int) -> None:
    splitter = Splitter(TOKENIZER, 0.3, seed)
    expected = TOKENIZER.decode(TOKENIZER.encode(text))
    assert TOKENIZER.decode(splitter.encode(text)) == expected


def test_without_dropout_they_are_the_usual_pieces() -> None:
    plain = Splitter(TOKENIZER, 0.0)
    for text in (*TEXTS[:2], "xyz — größer", ""):
        assert plain.encode(text) == TOKENIZER.encode(text)


def test_the_more_is_left_out_the_more_pieces_there_are() -> None:
    def mean(p: float) -> float:
        splitter = Splitter(TOKENIZER, p)
        return sum(len(splitter.encode(TEXTS[1])) for _ in range(200)) / 200

    assert mean(0.0) == len(TOKENIZER.encode(TEXTS[1]))
    assert mean(0.0) < mean(0.1) < mean(0.4) < len(TEXTS[1]) + 1


def test_a_seed_repeats_and_another_one_does_not() -> None:
    one, same, other = (Splitter(TOKENIZER, 0.3, seed) for seed in (1, 1, 2))
    first = one.encode_batch(TEXTS)
    assert same.encode_batch(TEXTS) == first
    assert other.encode_batch(TEXTS) != first
    assert len({tuple(tokens) for tokens in first}) > 2  # the same text, drawn again


def test_what_has_no_merges_is_refused() -> None:
    with pytest.raises(ConfigError, match="subword dropout is for bpe, and the tokenizer is char"):
        Splitter(Tokenizer.train(TEXTS, "char"), 0.1)
    with pytest.raises(ConfigError, match=r"subword_dropout=1.0 must be at least 0 and below 1"):
        Splitter(TOKENIZER, 1.0)
