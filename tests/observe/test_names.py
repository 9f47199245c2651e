"""Names for people: no broken letters, nothing that acts, nothing lost."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from clearhead.observe.names import inert, name_piece, name_pieces, spell
from clearhead.text import Tokenizer

TOKENIZER = Tokenizer.train(["The old dog reads.", "एक छोटा कुत्ता"] * 3, "bpe", 320)


def test_letters_in_bytes_are_named_by_their_letter() -> None:
    pieces = [f"<0x{byte:02X}>" for byte in "தé".encode()]
    assert name_pieces(["▁a", *pieces, "b"]) == [
        "a",
        "த 1/3",
        "த 2/3",
        "த 3/3",
        "é 1/2",
        "é 2/2",
        "b",
    ]
    assert name_pieces(pieces[:2]) == pieces[:2]  # a letter that is cut stays as it is
    assert name_piece("<0x41>") == "A"
    assert spell(["▁x", *pieces[:3]]) == "xத"
    assert spell(["▁x", pieces[0]]) == "x<0xE0>"


def test_marks_have_something_to_stand_on() -> None:
    assert name_pieces(["▁क", "ी", "◌", "\u200dष"]) == ["क", "◌ी", "◌", "◌\u200dष"]


def test_spaces_are_seen() -> None:
    assert name_pieces(["▁", "▁▁", "▁ice▁cream", "<eos>"]) == ["␣", "␣", "ice cream", "<eos>"]


@given(st.text())
def test_names_are_inert_and_as_many_as_pieces(text: str) -> None:
    pieces = TOKENIZER.tokens(TOKENIZER.encode(text))
    names = name_pieces(pieces)
    assert len(names) == len(pieces)
    for name in names:
        assert name
        assert "\N{REPLACEMENT CHARACTER}" not in name or "\N{REPLACEMENT CHARACTER}" in text
        kinds = {unicodedata.category(c) for c in name if c not in "\u200c\u200d"}
        assert not kinds & {"Cc", "Cf", "Cs", "Zl", "Zp"}
        assert not unicodedata.category(name[0]).startswith("M")
    assert inert(inert(text)) == inert(text)
