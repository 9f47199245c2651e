"""Places of tokens: every part of every text is given back exactly as it was written."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearhead.errors import InputError
from clearhead.text import ForeignTokenizer, Kind, Tokenizer
from clearhead.text.places import encode_places

TEXTS = [
    "Caffè freddo, 3,50 € — due  spazi\n\tdopo.",
    "cafe\u0301 e\u0301 qua\u0323\u0302 fine",  # accents that are characters of their own
    "नमस्ते दुनिया, क्\u200dष और ज़ाकिर ज़रूर",  # nukta, virama, joiner
    "\u0915\u093c\u0915\u093f",  # composed by none of Unicode's forms
    "👍🏽 ok 👨\u200d👩\u200d👧 🇮🇳.",
    "\u1112\u1161\u11ab\u1100\u1173\u11af 한글",  # Hangul in parts
    "ﬁ ½ Å \u212b \u0344x",
]
MIXED = st.text(
    st.sampled_from("abé e\u0301\u0323नमस्ते\u200d😀👍🏽 \n\t.한\u1112\u1161"), max_size=25
)


def tokenizer(kind: Kind) -> Tokenizer:
    lines = ["Caffè freddo fine qua due spazi dopo", "नमस्ते दुनिया और ज़रूर"] * 3
    return Tokenizer.train(lines, kind, 512 if kind in ("bpe", "unigram") else None)


ALL = {kind: tokenizer(kind) for kind in ("bpe", "unigram", "word", "char")}


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("text", TEXTS)
def test_nothing_but_spaces_lies_between_tokens(kind: str, text: str) -> None:
    check(ALL[kind], text)


@pytest.mark.parametrize("kind", ALL)
@given(text=MIXED)
def test_places_of_any_text(kind: str, text: str) -> None:
    check(ALL[kind], text)


def check(tokenizer: Tokenizer, text: str) -> None:
    """Tokens as ever; together they cover all that is no white space; each is what it says."""
    (found,) = encode_places(tokenizer, [text])
    assert found.tokens == tokenizer.encode(text)
    assert found.starts == sorted(found.starts)
    assert found.ends == sorted(found.ends)
    covered = set()
    for start, end in zip(found.starts, found.ends, strict=True):
        assert 0 <= start <= end <= len(text)
        assert text[start:end] == text[start:end].strip()
        covered |= set(range(start, end))
    assert {n for n, c in enumerate(text) if not c.isspace()} <= covered
    pieces = [tokenizer.decode([token]) for token in found.tokens]
    for piece, start, end in zip(pieces, found.starts, found.ends, strict=True):
        if piece.strip() and piece.isalpha() and tokenizer.kind in ("bpe", "char"):
            assert unicodedata.normalize("NFC", text[start:end]) == piece.strip()


def test_an_accent_stays_with_its_letter() -> None:
    (found,) = encode_places(ALL["char"], ["cafe\u0301 x"])
    parts = ["cafe\u0301 x"[a:b] for a, b in zip(found.starts, found.ends, strict=True)]
    assert parts == ["c", "a", "f", "e\u0301", "e\u0301", "", "x"]  # é is two bytes here


def test_a_tokenizer_of_others_that_drops_accents() -> None:
    from tokenizers import Tokenizer as Rules
    from tokenizers import models, normalizers, pre_tokenizers

    words = {"[UNK]": 0, "cafe": 1, "ne": 2, "##st": 3, "x": 4}
    rules = Rules(models.WordPiece(words, unk_token="[UNK]"))
    rules.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True)
    rules.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    foreign = ForeignTokenizer(rules, {"unk": 0})
    text = "Cafe\u0301  NEST 😀x"
    (found,) = encode_places(foreign, [text])
    parts = [text[a:b] for a, b in zip(found.starts, found.ends, strict=True)]
    assert parts == ["Cafe\u0301", "NE", "ST", "😀x"]


def test_half_of_a_pair_is_refused() -> None:
    with pytest.raises(InputError, match="half of a UTF-16 pair"):
        encode_places(ALL["bpe"], ["a\ud83d"])
