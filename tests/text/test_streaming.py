"""Text that comes token by token is the text of all tokens, and each part of it is whole."""

import time
import unicodedata
from collections.abc import Sequence
from typing import get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clearhead.text import Kind, Tokenizer
from clearhead.text.streaming import GraphemeReader, TextStream, graphemes

KINDS: tuple[Kind, ...] = get_args(Kind)
FAMILY = "👩‍👩‍👧‍👦"
TEXTS = [
    "Two young men are outside, and a dog runs.",
    "मुझे आइसक्रीम खाना पसंद है। विद्यार्थी क्\u200dष और क्\u200cष।",
    "தமிழ் ஒரு மொழி, ஸ்ரீ நிகோபார்.",
    f"A family {FAMILY}, a heart ❤️, a thumb 👍🏽, flags 🇮🇳🇩🇪🇫🇷.",
    "漢字かな交じり文。が, 한국어 각 \u1100\u1161\u11a8",
    "e\u0301 x\u0302\u0323 \r\n\r\n  two  spaces  ",
    " begins with a space, and \u0301 with a mark",
    "",
]


@pytest.fixture(scope="module")
def made() -> dict[Kind, Tokenizer]:
    """The Latin and a part of the Devanagari is learnt; the rest must go as bytes."""
    lines = [TEXTS[0], TEXTS[1], "हम दोस्त हैं।", "a\u0301 े ि ्"] * 3
    sizes: dict[Kind, int | None] = {"bpe": 400, "unigram": 400, "word": None, "char": None}
    return {kind: Tokenizer.train(lines, kind, sizes[kind], ["hi"]) for kind in KINDS}


def stream(tokenizer: Tokenizer, tokens: Sequence[int]) -> list[str]:
    """Everything that a stream gives out, token by token, and the rest."""
    text = TextStream(tokenizer)
    return [*(text.push(token) for token in tokens), text.finish()]


def boundaries(parts: Sequence[str]) -> set[int]:
    """Where the parts meet, and the two ends."""
    places = {0}
    for part in parts:
        places.add(max(places) + len(part))
    return places


def check(tokenizer: Tokenizer, tokens: Sequence[int]) -> None:
    parts = stream(tokenizer, tokens)
    text = tokenizer.decode(tokens)
    assert "".join(parts) == text
    assert boundaries(parts) <= boundaries(graphemes(text))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", TEXTS)
def test_real_text_comes_whole(made: dict[Kind, Tokenizer], kind: Kind, text: str) -> None:
    check(made[kind], made[kind].encode(text))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60)
@given(data=st.data())
def test_any_tokens_come_whole(
    made: dict[Kind, Tokenizer], kind: Kind, data: st.DataObject
) -> None:
    """Special tokens, bytes that are no UTF-8, pieces of letters: whatever a model writes."""
    low = st.integers(0, min(270, made[kind].n_tokens - 1))
    some = st.integers(0, made[kind].n_tokens - 1)
    check(made[kind], data.draw(st.lists(low | some, max_size=25)))


@settings(max_examples=100)
@given(
    text=st.text(
        st.sampled_from("ab \nक्षििஸ்ரீ漢각\u1100\u1161👩👍🏽🇮🇳\u200d\u200c\ufe0f\u0301\r"),
        max_size=20,
    )
)
def test_awkward_text_comes_whole(made: dict[Kind, Tokenizer], text: str) -> None:
    for kind in ("bpe", "char"):
        check(made[kind], made[kind].encode(text))


@given(row=st.binary(max_size=12))
@example(row=b"A\xe2\x82\xac\xff")  # one wrong byte makes � of the whole row
@example(row=b"\n\n\xe6\xbc")
def test_bytes_that_are_no_text_come_whole(made: dict[Kind, Tokenizer], row: bytes) -> None:
    first = made["bpe"].encode("\x00")[-1]
    assert made["bpe"].tokens([first]) == ["<0x00>"]
    word = made["bpe"].encode("dog")
    tokens = [*word, *(first + byte for byte in row), *word]
    check(made["bpe"], tokens)
    check(made["bpe"], tokens[: -len(word)])


def test_what_is_given_out_never_waits_longer_than_needed(made: dict[Kind, Tokenizer]) -> None:
    text = "हम दोस्त हैं।"
    parts = stream(made["char"], made["char"].encode(text))
    assert [part for part in parts if part] == graphemes(text)
    parts = stream(made["bpe"], made["bpe"].encode("a dog runs"))
    assert len([part for part in parts if part]) >= 3


def test_a_character_of_four_bytes_comes_at_once(made: dict[Kind, Tokenizer]) -> None:
    tokens = made["bpe"].encode("dog👍dog")
    parts = [part for part in stream(made["bpe"], tokens) if "👍" in part]
    assert len(parts) == 1
    assert not any("\ufffd" in part for part in stream(made["bpe"], tokens))


def test_specials_part_nothing(made: dict[Kind, Tokenizer]) -> None:
    tokenizer = made["bpe"]
    thumb = tokenizer.encode("👍")[-4:]
    tokens = [tokenizer.bos, *thumb[:2], tokenizer.tag("hi"), *thumb[2:], tokenizer.eos]
    assert stream(tokenizer, tokens)[-1] == "👍"
    check(tokenizer, tokens)
    check(tokenizer, [*tokenizer.encode("dog"), *tokens])


def test_spaces_at_the_begin(made: dict[Kind, Tokenizer]) -> None:
    space = made["bpe"].encode("a  b")[1]
    for n in range(4):
        check(made["bpe"], [made["bpe"].bos, *[space] * n, *made["bpe"].encode("dog")])


@pytest.mark.parametrize("text", ["dog runs and ", "e" + "\u0301" * 30, "👍", "  "])
def test_a_token_costs_the_same_however_long_the_text(
    made: dict[Kind, Tokenizer], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[int] = []
    decode = made["bpe"].decode

    def counted(tokens: Sequence[int]) -> str:
        decoded.append(len(tokens))
        return decode(tokens)

    tokens = made["bpe"].encode(text * 200)
    monkeypatch.setattr(made["bpe"], "decode", counted)
    parts = stream(made["bpe"], tokens)
    assert sum(decoded) <= 8 * len(tokens) + 8
    monkeypatch.undo()
    assert "".join(parts) == decode(tokens)


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("", 0),
        ("abc", 3),
        ("e\u0301", 1),
        ("कि", 1),
        ("क्षत्रिय", 3),
        ("विद्यार्थी", 3),
        ("हैं।", 2),
        ("தமிழ்", 3),
        ("স্ত্রী", 1),
        ("กำ", 1),
        ("각", 1),
        ("\u1100\u1161\u11a8", 1),
        ("가나", 2),
        ("が", 1),
        ("漢字", 2),
        (FAMILY, 1),
        ("👍🏽👍", 2),
        ("❤️", 1),
        ("🇮🇳🇩🇪🇫", 3),
        ("1️⃣", 1),
        ("🏴\U000e0067\U000e0062\U000e007f", 1),
        ("\r\n\n", 2),
        ("\n\u0301", 2),
        ("क्\u200cष", 2),
        ("क्\u200dष", 1),
        ("\u0600\u0661", 1),
    ],
)
def test_graphemes_of_many_scripts(text: str, n: int) -> None:
    assert len(graphemes(text)) == n, graphemes(text)
    assert "".join(graphemes(text)) == text


def test_graphemes_of_plain_text_are_those_of_the_regex_library() -> None:
    regex = pytest.importorskip("regex")
    for text in (TEXTS[0], TEXTS[4], "தமிழ் ஒரு மொழி", "Ünïcödé naïve", "ภาษาไทย", "עִבְרִית العَرَبِيَّة"):
        assert graphemes(text) == regex.findall(r"\X", text)


@settings(max_examples=200)
@given(
    text=st.text(
        st.characters(exclude_categories=["Cs", "Cn"])
        | st.characters(categories=["Mn", "Mc", "Me", "Cf", "Cc"])
        | st.sampled_from("🇮🇳\u1100\u1161\u11a8각가\u200d👩🏽क्\u0600\u0e33"),
        max_size=10,
    )
)
def test_no_grapheme_of_the_regex_library_is_cut(text: str) -> None:
    regex = pytest.importorskip("regex")
    assert "".join(graphemes(text)) == text
    assert boundaries(graphemes(text)) <= boundaries(regex.findall(r"\X", text))


def test_every_mark_joins_its_letter() -> None:
    for code in range(0x300, 0xE01F0):
        mark = chr(code)
        if unicodedata.category(mark)[0] == "M":
            assert graphemes(f"a{mark}b") == [f"a{mark}", "b"], hex(code)


def test_a_long_row_of_marks_is_read_once() -> None:
    reader = GraphemeReader()
    begin = time.process_time()
    assert sum(map(reader.begins, "e" + "\u0301" * 100_000)) == 1
    assert len(graphemes("🇮🇳" * 50_000)) == 50_000
    assert time.process_time() - begin < 3
