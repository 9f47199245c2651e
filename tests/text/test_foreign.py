"""Tokenizers that others made give the same ids, travel in one file, and are read whole."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import decoders, models, pre_tokenizers, trainers

from clearhead.errors import InputError
from clearhead.text import ForeignTokenizer, Tokenizer, load_tokenizer, read_tokenizer
from clearhead.text.normal import BYTES
from clearhead.text.sentencepiece import read_sentence_pieces
from clearhead.text.streaming import TextStream

LINES = ["the dog runs and the dog sleeps", "ein Hund läuft", "आप कैसे हैं?", "漢字 👍🏽 naïve"]


def byte_pairs() -> tokenizers.Tokenizer:
    """Learn pairs of bytes as GPT-2 has them."""
    rules = tokenizers.Tokenizer(models.BPE())
    rules.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    rules.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    rules.train_from_iterator(LINES, trainer)
    return rules


RULES = byte_pairs()
PAIRS = ForeignTokenizer(RULES, {"bos": 0, "eos": 0})


def number(value: int) -> bytes:
    """Write a whole number as a protocol buffer does."""
    value &= 2**64 - 1
    low, value = value & 127, value >> 7
    return bytes([low]) if not value else bytes([low | 128]) + number(value)


def field(place: int, value: int | float | bytes) -> bytes:
    if isinstance(value, bytes):
        return number(place << 3 | 2) + number(len(value)) + value
    if isinstance(value, float):
        return number(place << 3 | 5) + struct.pack("<f", value)
    return number(place << 3) + number(value)


def sentence_pieces(
    pieces: list[tuple[str, float, int]], model_type: int, **settings: int
) -> bytes:
    """Write a model file of SentencePiece."""
    data = b""
    for text, score, kind in pieces:
        more = b"" if kind == 1 else field(3, kind)
        data += field(1, field(1, text.encode()) + field(2, score) + more)
    trainer = field(3, model_type) + field(35, settings.get("byte_fallback", 0))
    trainer += field(43, -1) + field(10, 0.5)  # fields that are stepped over
    normal = field(1, b"identity") + field(3, settings.get("adds_space", 1))
    return data + field(2, trainer) + field(3, normal + field(4, settings.get("squeezes", 1)))


SPECIALS = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)]
WORDS = [("▁the", -1.0, 1), ("▁", -2.0, 1), ("do", -3.0, 1), ("g", -3.5, 1), ("dog", -5.0, 1)]
LETTERS = [(letter, -9.0 - n, 1) for n, letter in enumerate("▁thedogs")]


def test_unigram_takes_the_best_sum(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    letters = [piece for piece in LETTERS if piece[0] not in "▁g"]
    path.write_bytes(sentence_pieces([*SPECIALS, *WORDS, *letters], 1))
    tokenizer = read_tokenizer(tmp_path)
    assert isinstance(tokenizer, ForeignTokenizer)
    assert tokenizer.tokens(tokenizer.encode("  the   dog ")) == ["▁the", "▁", "dog"]
    assert tokenizer.decode(tokenizer.encode("the dog dog")) == "the dog dog"
    assert tokenizer.encode("the漢字") == [3, 0]
    assert (tokenizer.unk, tokenizer.bos, tokenizer.eos) == (0, 1, 2)
    assert tokenizer.n_tokens == 3 + len(WORDS) + len(letters)
    assert tokenizer.encode("") == []


def test_pairs_are_joined_in_the_order_of_their_scores(tmp_path: Path) -> None:
    joined = [
        ("he", -1.0, 1),
        ("th", -2.0, 1),
        ("the", -3.0, 1),
        ("▁the", -4.0, 1),
        ("do", -5.0, 1),
    ]
    bytes_ = [(name, 0.0, 6) for name in BYTES]
    data = sentence_pieces([*SPECIALS, *bytes_, *joined, *LETTERS], 2, byte_fallback=1, squeezes=0)
    (tmp_path / "tokenizer.model").write_bytes(data)
    (tmp_path / "config.json").write_text('{"model_type": "llama", "eos_token_id": [2, 1]}')
    tokenizer = read_tokenizer(tmp_path)
    assert isinstance(tokenizer, ForeignTokenizer)
    # First h and e; then t cannot be joined with h any more, but with both.
    assert tokenizer.tokens(tokenizer.encode("the dog")) == ["▁the", "▁", "do", "g"]
    assert tokenizer.tokens(tokenizer.encode("é")) == ["▁", "<0xC3>", "<0xA9>"]
    assert tokenizer.decode(tokenizer.encode("the é  dog")) == "the é  dog"
    assert tokenizer.encode("do", with_specials=True)[0] == tokenizer.bos == 1
    assert tokenizer.eos == 2


def test_marian_has_its_ids_in_another_file(tmp_path: Path) -> None:
    (tmp_path / "source.spm").write_bytes(sentence_pieces([*SPECIALS, *WORDS], 1))
    names = ["</s>", "<unk>", "dog", "▁the", ">>hi<<", "▁", "g", "do", "▁कुत्ता", "<pad>"]
    (tmp_path / "vocab.json").write_text(json.dumps({name: n for n, name in enumerate(names)}))
    (tmp_path / "config.json").write_text('{"model_type": "marian"}')
    tokenizer = read_tokenizer(tmp_path)
    assert isinstance(tokenizer, ForeignTokenizer)
    assert tokenizer.encode("the dog", with_specials=True) == [3, 5, 2, 0]
    assert tokenizer.encode(">>hi<< the")[0] == 4
    assert tokenizer.decode([8, 0, 9]) == "कुत्ता"
    assert (tokenizer.eos, tokenizer.unk, tokenizer.pad) == (0, 1, 9)
    (tmp_path / "vocab.json").write_text('{"a": 0, "b": 2}')
    with pytest.raises(InputError, match="does not give each id"):
        read_tokenizer(tmp_path)


@pytest.mark.parametrize(
    "data", [b"", b"\x0a\xff", b"hello world", b"\x0a\x03\x0a\x01a" + b"\x80" * 99]
)
def test_what_is_no_such_file_is_told(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "tokenizer.model").write_bytes(data)
    with pytest.raises(InputError, match="damaged or no model of SentencePiece"):
        read_sentence_pieces(tmp_path / "tokenizer.model")


@given(cut=st.integers(0, 60))
def test_a_file_that_is_cut_off_never_crashes(tmp_path_factory: Any, cut: int) -> None:
    path = tmp_path_factory.getbasetemp() / "cut.model"
    path.write_bytes(sentence_pieces([*SPECIALS, *WORDS], 1)[:cut])
    try:
        read_sentence_pieces(path)
    except InputError:
        return


@pytest.mark.parametrize("names", [("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe")])
def test_byte_pairs_from_their_two_files(tmp_path: Path, names: tuple[str, str]) -> None:
    for saved, name in zip(RULES.model.save(str(tmp_path)), names, strict=True):
        Path(saved).rename(tmp_path / name)
    tokenizer = read_tokenizer(tmp_path)
    assert isinstance(tokenizer, ForeignTokenizer)
    for line in [*LINES, "other words\n\ttoo", "", "<|endoftext|>a"]:
        assert tokenizer.encode(line) == RULES.encode(line).ids
        assert tokenizer.decode(tokenizer.encode(line)) == line.removeprefix("<|endoftext|>")
    assert tokenizer.specials == {"bos": 0, "eos": 0, "unk": 0}
    (tmp_path / names[1]).write_text("broken")
    with pytest.raises(InputError, match="cannot be read"):
        read_tokenizer(tmp_path)


@pytest.mark.parametrize(("lowers", "first"), [(True, 5), (False, 8)])
def test_word_pieces_from_a_list(tmp_path: Path, lowers: bool, first: int) -> None:
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "dog", "##gy", "run", "Dog"]
    (tmp_path / "vocab.txt").write_text("\n".join(pieces) + "\n")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": lowers}))
    tokenizer = read_tokenizer(tmp_path)
    assert isinstance(tokenizer, ForeignTokenizer)
    assert tokenizer.encode("Doggy run", with_specials=True) == [2, first, 6, 7, 3]
    assert tokenizer.tokens([2, 5, 6, 7]) == ["[CLS]", "▁dog", "gy", "▁run"]
    assert tokenizer.decode([2, 5, 6, 7, 3, 0]) == "doggy run"
    assert tokenizer.special("mask") == 4
    with pytest.raises(InputError, match="which of its tokens is 'bos'; known: pad, unk"):
        _ = tokenizer.bos
    (tmp_path / "vocab.txt").write_text("dog\n")
    with pytest.raises(InputError, match="has no '\\[UNK\\]'"):
        read_tokenizer(tmp_path)


def test_added_tokens_keep_their_ids(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("[UNK]\ndog\n")
    (tmp_path / "added_tokens.json").write_text('{"<b>": 3, "<a>": 2}')
    tokenizer = read_tokenizer(tmp_path)
    assert tokenizer is not None
    assert tokenizer.encode("dog<b> <a>") == [1, 3, 2]
    (tmp_path / "added_tokens.json").write_text('{"<a>": 7}')
    with pytest.raises(InputError, match="'<a>' cannot have the id 7"):
        read_tokenizer(tmp_path)


def test_one_file_holds_everything(tmp_path: Path) -> None:
    limited = byte_pairs()
    limited.enable_truncation(3)
    limited.enable_padding(length=9)
    limited.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "special_tokens_map.json").write_text(
        '{"eos_token": {"content": "<|endoftext|>"}, "bos_token": "none such"}'
    )
    found = read_tokenizer(tmp_path)
    assert isinstance(found, ForeignTokenizer)
    assert found.specials == {"eos": 0}
    path = tmp_path / "ours.json"
    found.save(path)
    again = load_tokenizer(path)
    assert isinstance(again, ForeignTokenizer)
    assert (again.specials, again.n_tokens) == (found.specials, found.n_tokens)
    assert again.encode_batch(LINES) == [RULES.encode(line).ids for line in LINES]
    assert not list(tmp_path.glob("*.part"))
    with pytest.raises(InputError, match="cannot be read"):
        load_tokenizer(tmp_path / "none.json")
    with pytest.raises(InputError, match="does not say which of its tokens are special"):
        ForeignTokenizer.load(tmp_path / "tokenizer.json")
    path.write_text('{"clearhead": {"specials": {"bos": 0}}, "model": {}}')
    with pytest.raises(InputError, match="damaged or no tokenizer"):
        load_tokenizer(path)


def test_our_own_tokenizer_stays_our_own(tmp_path: Path) -> None:
    own = Tokenizer.train(LINES, "char")
    own.save(tmp_path / "tokenizer.json")
    for found in (read_tokenizer(tmp_path), load_tokenizer(tmp_path / "tokenizer.json")):
        assert isinstance(found, Tokenizer)
        assert found.encode("the Hund") == own.encode("the Hund")


def test_a_folder_without_a_tokenizer(tmp_path: Path) -> None:
    assert read_tokenizer(tmp_path) is None
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(InputError, match="is not JSON"):
        read_tokenizer(tmp_path)


def test_odd_texts_and_tokens_are_told() -> None:
    with pytest.raises(InputError, match="half of a UTF-16 pair"):
        PAIRS.encode("a\ud800")
    with pytest.raises(InputError, match="token -1 is outside"):
        PAIRS.decode([-1])
    assert PAIRS.tokens([PAIRS.n_tokens + 5]) == [f"<{PAIRS.n_tokens + 5}>"]
    assert PAIRS.decode([PAIRS.n_tokens + 5]) == ""


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_a_stream_gives_the_same_text(text: str) -> None:
    tokens = PAIRS.encode(text)
    stream = TextStream(PAIRS)
    pieces = [stream.push(token) for token in tokens]
    assert "".join(pieces) + stream.finish() == PAIRS.decode(tokens) == text


@given(tokens=st.lists(st.integers(0, PAIRS.n_tokens - 1), max_size=12))
def test_a_stream_of_any_tokens_gives_the_same_text(tokens: list[int]) -> None:
    stream = TextStream(PAIRS)
    pieces = [stream.push(token) for token in tokens]
    assert "".join(pieces) + stream.finish() == PAIRS.decode(tokens)


def test_whole_letters_are_given_as_soon_as_they_are_final() -> None:
    stream = TextStream(PAIRS)
    pieces = [stream.push(token) for token in PAIRS.encode("हिन्दी हिन्दी है")]
    assert [piece for piece in pieces if piece] == ["हि", "न्दी ", "हि", "न्दी "]
