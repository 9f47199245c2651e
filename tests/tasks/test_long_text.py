"""Texts of any length: nothing is lost, white space stays, and no sentence is too long."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearhead.data.shards import Shards, ShardWriter
from clearhead.errors import InputError
from clearhead.tasks.lengths import describe_lengths, longest_in, max_length_for, ratio_in
from clearhead.text import normalise
from tests.tasks.small_translator import Echo, random_translator

TEXT = "The old man reads.  A dog\tsees\n\n  - the house!\r\nएक घर है। नदी है।\n"
WORDS = ["The", "dog", "Dr.", "a@b.org", "नदी", "है।", "你好。", "3.14", "!", "- ", "x" * 30, "é"]
SPACES = [" ", "  ", "\n", "\n\n", "\t", ". ", "", "\u2028"]

echo = Echo(longest=12)


def bare(text: str) -> str:
    return "".join(normalise(text).split())


def test_a_short_line_stays_in_one_piece() -> None:
    translator = Echo()
    answer = translator("  The dog sees.  A man\treads. \n")
    assert answer.text == "The dog sees. A man reads."
    assert answer.sentences == []
    assert len(translator.asked) == 1


def test_lines_keep_their_white_space() -> None:
    answer = Echo()(TEXT)
    assert answer.text == TEXT.replace("\t", " ")  # within a sentence it is evened
    assert [part.source for part in answer.sentences] == [
        "The old man reads.", "A dog sees", "the house!", "एक घर है।", "नदी है।",
    ]  # fmt: skip


def test_what_is_no_sentence_stays() -> None:
    translator = Echo()
    assert translator("-----\n***\n").text == "-----\n***\n"
    assert translator.asked == []
    one = translator("-----\nA dog.\n")
    assert one.text == "-----\nA dog.\n"
    assert one.sentences == []
    assert one.tokens


def test_a_long_line_is_cut_into_sentences() -> None:
    line = "The old man reads the book.  A dog sees the house!   " * 4
    translator = Echo(longest=14)
    answer = translator(line)
    assert answer.text == line
    assert len(answer.sentences) == 8


@given(st.lists(st.sampled_from([*WORDS, *SPACES]), max_size=40).map("".join))
def test_nothing_is_lost_and_nothing_is_too_long(text: str) -> None:
    echo.asked.clear()
    answer = echo(text)
    assert bare(answer.text) == bare(text)
    assert all(len(request.source) <= 13 for request in echo.asked)  # with the end
    if text.strip() and answer.sentences:
        outside = text[: len(text) - len(text.lstrip())]
        assert answer.text.startswith(outside)


def test_the_parts_make_the_whole() -> None:
    translator = random_translator()
    text = "The old man reads.\nA small dog sees the house."
    whole = translator(text, n_beams=3, n_best=2, alignment=True)
    parts = translator(text.splitlines(), n_beams=3, n_best=2, alignment=True)
    assert whole.text == "\n".join(part.text for part in parts)
    assert whole.tokens == [token for part in parts for token in part.tokens]
    assert whole.log_probs == pytest.approx([p for part in parts for p in part.log_probs])
    assert whole.score == pytest.approx(sum(whole.log_probs) / len(whole.log_probs))
    assert [other.text for other in whole.others] == [
        "\n".join(part.others[0].text for part in parts)
    ]
    first, second = (part.alignment for part in parts)
    assert whole.alignment
    assert first
    assert second
    assert whole.alignment.source == first.source + second.source
    n = len(first.source)
    assert whole.alignment.places == first.places + [n + place for place in second.places]
    assert whole.alignment.weights == pytest.approx(first.weights + second.weights, abs=1e-5)


def test_one_unfinished_sentence_makes_the_whole_unfinished() -> None:
    translator = random_translator()
    whole = translator("The dog.\n\nThe house.", max_length=2, min_length=2)
    assert not whole.is_finished
    assert len([flag for flag in whole.flags if "was cut" in flag]) == 1


def test_a_prefix_begins_one_sentence() -> None:
    translator = Echo()
    with pytest.raises(InputError, match=r"a prefix begins one sentence, and .* becomes 2"):
        translator("A dog.\nA house.", prefix="Ein")
    assert translator("A dog.\n---", prefix="Ein").text


def test_lengths_of_training_say_how_long_texts_may_be(tmp_path: Path) -> None:
    with ShardWriter(tmp_path / "tokens", 100) as writer:
        for n in [*[5] * 30, 9, 40]:
            writer.add([7] * n, [8] * (2 * n + 10))
    lengths = describe_lengths(Shards(tmp_path / "tokens"), 32)
    assert lengths == {"p95": 6, "longest": 40, "ratio": 2.0}
    card = {"data": {"lengths": lengths}}
    assert longest_in(card) == 40
    assert max_length_for(40, ratio_in(card)) == 110  # the longest target has 90 tokens
    translator = random_translator(card | {"languages": ["en", "de"]})
    request = translator.tokenizer.encode("The dog.")
    answer = translator("The dog.", min_length=1000, n_beams=1)
    assert len(answer.tokens) == max_length_for(len(request) + 1, 2.0)


@pytest.mark.parametrize(
    "card", [{}, {"data": None}, {"data": {"lengths": []}}, {"data": {"lengths": {"longest": "?"}}}]
)
def test_an_old_card_has_the_usual_lengths(card: dict[str, object]) -> None:
    assert longest_in(card) == 60
    assert max_length_for(30, ratio_in(card)) == 80
