"""Any text survives the way to tokens and back, and one file holds all that this needs."""

import json
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import get_args

import pytest
import tokenizers
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import models

from clearhead.errors import ConfigError, InputError
from clearhead.text import BOS, EOS, PAD, SPECIALS, UNK, Kind, Tokenizer, choose_size, normalise
from clearhead.text.learning import pipeline

KINDS: tuple[Kind, ...] = get_args(Kind)
LOSSLESS: tuple[Kind, ...] = ("bpe", "unigram", "char")

LINES = [
    "Two young men are outside near many bushes.",
    "A dog runs through the green grass, and a dog sleeps.",
    "Ein Hund läuft durch das grüne Gras, und ein Hund schläft.",
    "Zwei junge Männer sind im Freien in der Nähe vieler Büsche.",
    "मुझे आइसक्रीम खाना पसंद है।",
    "हम दोस्त हैं और हम हिन्दी बोलते हैं।",
    "In 2016 there were 31 days; <pad> and <0x41> are only text here.",
] * 3

HARD = [
    "",
    " ",
    "  two  spaces   before, between and after  ",
    "tab\tnewline\nreturn\r\nnul\x00bell\x07escape\x1bdelete\x7fnext line\x85",
    "non-breaking\u00a0space, ideographic\u3000space, line\u2028separator",
    "👩‍👩‍👧‍👦 ❤️ 🇮🇳 👍🏽",
    "e\u0301 and é; क्\u200dष and क्\u200cष; ஸ்ரீ",
    "\u0301 begins with a mark, \u200d with a joiner",
    "漢字かな交じり文、한국어 العربية עברית ไทย",
    "<pad> <bos><eos> <unk> <2hi>",
    "<0x41><0xE2> ▁underline Ġ",
    "\ufeffbyte order mark, private \ue000, astral 𝔘𝔫𝔦, unassigned \U0003fffe",
    "x" * 500,
]


@pytest.fixture(scope="module")
def made() -> dict[Kind, Tokenizer]:
    sizes: dict[Kind, int | None] = {"bpe": 600, "unigram": 600, "word": None, "char": None}
    return {kind: Tokenizer.train(LINES, kind, sizes[kind], ["de", "hi"]) for kind in KINDS}


@pytest.mark.parametrize("kind", LOSSLESS)
@pytest.mark.parametrize("text", HARD)
def test_hard_text_survives(made: dict[Kind, Tokenizer], kind: Kind, text: str) -> None:
    tokens = made[kind].encode(text)
    assert made[kind].decode(tokens) == unicodedata.normalize("NFC", text)
    assert all(token > made[kind].tag("hi") for token in tokens)
    assert made[kind].encode_batch([text, "x", text]) == [tokens, made[kind].encode("x"), tokens]


@pytest.mark.parametrize("kind", LOSSLESS)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
@example(text=" <unk>")
def test_any_text_survives(made: dict[Kind, Tokenizer], kind: Kind, text: str) -> None:
    tokens = made[kind].encode(text)
    assert made[kind].decode(tokens) == unicodedata.normalize("NFC", text)
    assert min(tokens, default=9) > made[kind].tag("hi")


@given(text=st.text(st.sampled_from("ab ्कि👍\u200d\ufe0f<>0x41pad\n"), max_size=30))
def test_text_of_awkward_parts_survives(made: dict[Kind, Tokenizer], text: str) -> None:
    for kind in LOSSLESS:
        assert made[kind].decode(made[kind].encode(text)) == unicodedata.normalize("NFC", text)


def test_every_character_survives_by_itself(made: dict[Kind, Tokenizer]) -> None:
    characters = [chr(n) for n in range(0, 0x110000, 97) if not 0xD800 <= n < 0xE000]
    for kind in LOSSLESS:
        for character, tokens in zip(characters, made[kind].encode_batch(characters), strict=True):
            assert made[kind].decode(tokens) == unicodedata.normalize("NFC", character)


def test_known_words_survive_and_others_are_unknown(made: dict[Kind, Tokenizer]) -> None:
    word = made["word"]
    for text in [*LINES, "Hund and dog", "", "31 Männer, हम"]:
        assert word.decode(word.encode(text)) == text
    assert word.encode("a zebra runs") == [*word.encode("a"), UNK, *word.encode("runs")]
    assert word.decode(word.encode("a zebra runs")) == "a <unk> runs"
    assert set(word.encode("<pad>")).isdisjoint([PAD, BOS, EOS])


def test_specials_come_first_and_tags_follow(made: dict[Kind, Tokenizer]) -> None:
    for tokenizer in made.values():
        assert (tokenizer.pad, tokenizer.bos, tokenizer.eos, tokenizer.unk) == (0, 1, 2, 3)
        assert tokenizer.tokens(range(6)) == [*SPECIALS, "<2de>", "<2hi>"]
        assert (tokenizer.tag("de"), tokenizer.tag("hi")) == (4, 5)
        text = [BOS, 5, *tokenizer.encode("A dog"), EOS, PAD, PAD]
        assert tokenizer.decode(text) == "A dog"
        assert tokenizer.decode(text, skip_specials=False) == (
            "<bos><2hi>A dog<eos><pad><pad>"
            if tokenizer.kind == "char"
            else "<bos><2hi> A dog<eos><pad><pad>"
        )
    with pytest.raises(InputError, match="no tag for 'fr'"):
        made["bpe"].tag("fr")


def test_hindi_words_are_not_torn_before_they_are_learnt() -> None:
    text = "मुझे हिन्दी पसंद है। क्\u200dष"
    words = pipeline(models.BPE(), "bpe").pre_tokenizer
    assert words is not None
    cut = [word for word, _ in words.pre_tokenize_str(text)]
    assert cut == ["मुझे", " हिन्दी", " पसंद", " है", "।", " क्\u200dष"]


def test_pieces_can_be_read(made: dict[Kind, Tokenizer]) -> None:
    bpe = made["bpe"]
    assert bpe.tokens(bpe.encode("A dog runs.")) == ["▁A", "▁dog", "▁runs", "."]
    assert bpe.tokens(bpe.encode("漢"))[-3:] == ["<0xE6>", "<0xBC>", "<0xA2>"]
    char = made["char"]
    assert char.tokens(char.encode("dog")) == ["d", "o", "g"]
    assert char.tokens(char.encode("हिन्दी")) == list("हिन्दी")


def test_half_a_character_is_shown_as_such(made: dict[Kind, Tokenizer]) -> None:
    bpe = made["bpe"]
    assert bpe.decode(bpe.encode("a漢")[:-1]) == "a��"


@pytest.mark.parametrize("kind", KINDS)
def test_one_file_holds_everything(made: dict[Kind, Tokenizer], kind: Kind, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    made[kind].save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["tokenizer.json"]
    loaded = Tokenizer.load(path)
    assert (loaded.kind, loaded.languages) == (kind, ("de", "hi"))
    assert loaded.n_tokens == made[kind].n_tokens
    for text in [*LINES, *HARD]:
        assert loaded.encode(text) == made[kind].encode(text)
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    elsewhere = tokenizers.Tokenizer.from_file(str(path))
    assert elsewhere.encode("A dog runs.").ids == loaded.encode("A dog runs.")


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_texts_give_the_same_file(kind: Kind, tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from clearhead.text import Tokenizer; import json\n"
        "lines = json.loads(sys.argv[1])\n"
        f"Tokenizer.train(lines, {kind!r}, 700).save(pathlib.Path(sys.argv[2]))"
    )
    for name in ("a", "b"):
        command = [sys.executable, "-c", code, json.dumps(LINES), str(tmp_path / name)]
        subprocess.run(command, check=True)
    Tokenizer.train(iter(LINES), kind, 700).save(tmp_path / "c")
    assert len({(tmp_path / name).read_bytes() for name in "abc"}) == 1


def test_foreign_and_damaged_files_are_refused(made: dict[Kind, Tokenizer], tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    made["bpe"].save(path)
    good = path.read_text(encoding="utf-8")
    moved = json.loads(good)
    moved["model"]["vocab"] |= {"<pad>": 1, "<bos>": 0}
    foreign = tokenizers.Tokenizer(models.WordLevel({"a": 0}, unk_token="a")).to_str()
    for text, message in {
        good[:-30]: "damaged",
        "[]": "no tokenizer",
        "{}": "no tokenizer",
        '{"model": {"type": "BPE"}}': "no tokenizer",
        foreign: "did not make",
        json.dumps(moved): "did not make",
    }.items():
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            Tokenizer.load(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="damaged"):
        Tokenizer.load(path)
    with pytest.raises(InputError, match="cannot be read: No such file"):
        Tokenizer.load(tmp_path / "missing.json")


def test_what_cannot_be_is_refused(made: dict[Kind, Tokenizer]) -> None:
    with pytest.raises(ConfigError, match="did you mean unigram"):
        Tokenizer.train(LINES, "unigramm")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="n_tokens=200 is too small"):
        Tokenizer.train(LINES, "bpe", 200)
    with pytest.raises(ConfigError, match="no language code"):
        Tokenizer.train(LINES, "bpe", 600, ["hi>"])
    with pytest.raises(ConfigError, match="twice"):
        Tokenizer.train(LINES, "bpe", 600, ["hi", "hi"])
    with pytest.raises(InputError, match="no text"):
        Tokenizer.train(["", "  "])
    with pytest.raises(InputError, match="character 2 of the text is half of a UTF-16 pair"):
        made["bpe"].encode("a\ud800")
    with pytest.raises(InputError, match="outside the vocabulary"):
        made["bpe"].decode([-1])


def test_a_vocabulary_smaller_than_the_alphabet_falls_back_to_bytes() -> None:
    texts = ["".join(chr(0x4E00 + n) for n in range(start, start + 50)) for start in range(900)]
    for kind in LOSSLESS:
        tokenizer = Tokenizer.train(texts, kind, 512)
        assert tokenizer.n_tokens <= 512
        assert tokenizer.decode(tokenizer.encode(texts[7])) == texts[7]


def test_the_size_grows_with_the_data() -> None:
    sizes = [choose_size(n, 130 * n) for n in (1, 10**2, 10**4, 29_000, 10**5, 10**6, 10**8)]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (512, 32_000)
    assert 8_000 <= sizes[3] <= 10_000  # Multi30k


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_normal_text_stays_as_it_is(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@pytest.mark.parametrize("kind", KINDS)
def test_gaps_are_tokens_only_where_they_are_asked_for(kind: Kind, tmp_path: Path) -> None:
    """A text with a gap has the tokens of the whole text, but for the one that is missing."""
    n_tokens = None if kind in ("word", "char") else 600
    made = Tokenizer.train([*LINES, "a <mask> b"], kind, n_tokens, ["de"], has_mask=True)
    assert (made.tag("de"), made.mask, made.n_specials) == (4, 5, 6)
    assert made.mask not in made.encode("a <mask> b <mask>")
    made.save(tmp_path / "tokenizer.json")
    loaded = Tokenizer.load(tmp_path / "tokenizer.json")
    assert (loaded.has_mask, loaded.mask, loaded.languages) == (True, 5, ("de",))
    text = "A dog runs through the green grass, and a dog sleeps."
    whole = loaded.encode(text)
    starts = {"A", "dog", "runs", "grass", ",", "sleeps", "."}
    for word in starts & {"A", "dog", ","} if kind == "char" else starts:
        place = text.index(word)
        piece = word if kind != "char" else word[0]
        parts = [text[:place], text[place + len(piece) :]]
        tokens = loaded.encode_gaps(parts)
        (gap,) = (n for n, token in enumerate(tokens) if token == loaded.mask)
        filled = loaded.encode(piece) if text[place - 1 : place] in ("", " ") else None
        n_filled = 1 if filled is None else len(filled)
        assert tokens[:gap] == whole[:gap]
        assert tokens[gap + 1 :] == whole[gap + n_filled :]
    assert loaded.encode_gaps(["", " ", ""]).count(loaded.mask) == 2
    assert loaded.decode(loaded.encode_gaps(["A", "s"])) in ("As", "A<unk>", "A <unk>")


def test_a_tokenizer_without_gaps_says_so(made: dict[Kind, Tokenizer]) -> None:
    assert not made["bpe"].has_mask
    with pytest.raises(InputError, match="no token for a gap"):
        made["bpe"].encode_gaps(["a", "b"])
