"""What is detected in a file: encoding, delimiter, header and columns; and what is refused."""

import gzip
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearhead.data import find_divergence, open_pairs
from clearhead.data.pairs import Tally
from clearhead.errors import InputError
from tests.data.writing import PAIRS, WRITERS, write_tsv

LATIN = [("naïve café", "über Größe"), ("plain", "schlicht")]


def sides(*paths: Path, columns: tuple[str, str] | None = None) -> list[tuple[str, str]]:
    """The texts of a file, without line numbers."""
    return [(pair.source, pair.target) for pair in open_pairs(paths, columns)]


@pytest.mark.parametrize(
    ("codec", "told"),
    [
        ("utf-8", "UTF-8"),
        ("utf-8-sig", "UTF-8, with a byte-order mark"),
        ("utf-16", "UTF-16, with a byte-order mark"),
        ("utf-16-le", "UTF-16 LE"),
        ("utf-16-be", "UTF-16 BE"),
        ("latin-1", "Latin-1"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_encodings(tmp_path: Path, codec: str, told: str, end: str) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes("".join(f"{s}\t{t}{end}" for s, t in LATIN).encode(codec))
    assert sides(path) == LATIN
    assert told in " ".join(open_pairs([path]).assumed)
    if codec != "latin-1":
        assert sides(write_tsv(path, PAIRS, codec)) == PAIRS


def test_some_broken_bytes_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes("é ü ö\tक ख\n".encode() + b"a\xff\tb\n")
    assert sides(path) == [("é ü ö", "क ख"), ("a\ufffd", "b")]


def test_a_stray_nul_is_not_utf_16(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(b"a\0b and so on\tc and so on\nd\te\n")
    assert sides(path) == [("a\0b and so on", "c and so on"), ("d", "e")]


def test_a_table_may_begin_with_anything(tmp_path: Path) -> None:
    for start in ("{0} files", "msgid ", "<tmx"):
        pairs = [(start, "x"), ("a", "b")]
        assert sides(write_tsv(tmp_path / "a.tsv", pairs)) == pairs
    path = tmp_path / "a.tsv"
    path.write_text("\n" * 1500 + "a\tb\n", encoding="utf-8")
    assert sides(path)[-1] == ("a", "b")


def test_a_stray_tab_adds_no_column(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("a\tb\tc\nd\te\nf\tg\n", encoding="utf-8")
    assert open_pairs([path], ("en", "hi")).names == ("en", "hi")
    assert "chosen" not in " ".join(open_pairs([path]).assumed)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text("".join(f"a{i}{delimiter}b{i}\n" for i in range(9)), encoding="utf-8")
    assert sides(path) == [(f"a{i}", f"b{i}") for i in range(9)]


@pytest.mark.parametrize(
    ("first", "is_header"),
    [
        (("en", "hi"), True),
        (("English", "Hindi"), True),
        (("source_text", "target_text"), True),
        (("en-US", "pt_BR"), True),
        (("no", "nein"), False),
        (("How are you?", "आप कैसे हैं?"), False),
    ],
)
def test_headers(tmp_path: Path, first: tuple[str, str], is_header: bool) -> None:
    pairs = open_pairs([write_tsv(tmp_path / "a.tsv", [first, *PAIRS])])
    assert len(list(pairs)) == len(PAIRS) + (not is_header)
    assert pairs.names == (first if is_header else ("source", "target"))
    assert next(iter(pairs)).line == (2 if is_header else 1)


def test_a_stated_name_makes_the_first_row_a_header(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "a.tsv", [("foo", "bar"), ("a", "b")])
    assert sides(path, columns=("bar", "foo")) == [("b", "a")]


def test_two_of_many_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    rows = [(str(i), f"one {i}", "same", f"two {i}") for i in range(30)]
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    assert sides(path)[3] == ("one 3", "two 3")
    assert "chosen from 4" in " ".join(open_pairs([path]).assumed)
    assert sides(path, columns=("4", "1"))[3] == ("two 3", "3")
    with pytest.raises(InputError, match="columns 1 to 4"):
        open_pairs([path], ("1", "5"))
    with pytest.raises(InputError, match="by number"):
        open_pairs([path], ("en", "hi"))
    with pytest.raises(InputError, match="one column twice"):
        open_pairs([path], ("2", "2"))


def test_columns_by_name(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,english,hindi,german\n7,a,b,c\n", encoding="utf-8")
    assert sides(path, columns=("german", "English")) == [("c", "a")]
    assert sides(path, columns=("german", "3")) == [("c", "b")]
    with pytest.raises(InputError, match="did you mean german"):
        open_pairs([path], ("germn", "english"))


def test_a_file_name_names_the_columns(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "train.en-hi.tsv", PAIRS)
    assert open_pairs([path]).names == ("en", "hi")
    assert sides(path, columns=("hi", "en")) == [(t, s) for s, t in PAIRS]
    path = write_tsv(tmp_path / "a.tsv", PAIRS)
    assert open_pairs([path], ("en", "hi")).names == ("en", "hi")


def test_uneven_rows_are_tallied_and_missing_cells_are_blank(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("a\tb\nc\nd\te\tf\n\ng\th\n", encoding="utf-8")
    tally = Tally()
    pairs = [pair[1:] for pair in open_pairs([path]).read(tally)]
    assert pairs == [("a", "b"), ("c", ""), ("d", "e"), ("", ""), ("g", "h")]
    assert tally.lines == {"ragged": [2, 3]}


def test_two_files(tmp_path: Path) -> None:
    english, german = tmp_path / "train.en", tmp_path / "train.de.gz"
    english.write_text("one\n\nthree", encoding="utf-8")
    german.write_bytes(gzip.compress("eins\r\nzwei\r\ndrei\r\n".encode("utf-16")))
    pairs = open_pairs([english, german])
    assert [tuple(pair) for pair in pairs] == [
        (1, "one", "eins"),
        (2, "", "zwei"),
        (3, "three", "drei"),
    ]
    assert pairs.names == ("en", "de")
    assert sides(english, german, columns=("de", "en"))[0] == ("eins", "one")
    with pytest.raises(InputError, match="given twice"):
        open_pairs([english, english])


def test_unequal_files_are_refused_with_the_place(tmp_path: Path) -> None:
    chance = random.Random(0)
    lengths = [chance.randint(5, 90) for _ in range(500)]
    source = ["x" * n for n in lengths]
    target = ["y" * (n + chance.randint(0, 5)) for n in lengths]
    del target[299]
    one, two = tmp_path / "a.en", tmp_path / "a.de"
    one.write_text("\n".join(source) + "\n", encoding="utf-8")
    two.write_text("\n".join(target) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"have 500 and 499 lines.*near line (29\d|30\d)"):
        open_pairs([one, two])


@given(st.integers(0, 10_000), st.integers(0, 400), st.integers(1, 5), st.booleans())
def test_the_place_where_files_come_apart_is_found(
    seed: int, place: int, gap: int, is_first_longer: bool
) -> None:
    chance = random.Random(seed)
    long = [chance.randint(5, 90) for _ in range(400 + gap)]
    short = [round(1.2 * n) + chance.randint(0, 4) for n in long]
    del short[place : place + gap]
    found = find_divergence(long, short) if is_first_longer else find_divergence(short, long)
    assert found is not None
    assert abs(found - (place + 1)) <= 12


@given(st.integers(0, 10_000), st.integers(100, 250))
def test_the_first_of_several_places_is_found(seed: int, place: int) -> None:
    chance = random.Random(seed)
    long = [chance.randint(5, 90) for _ in range(500)]
    short = [round(0.8 * n) + chance.randint(0, 4) for n in long]
    del short[place], short[place + 100], short[-1]
    found = find_divergence(long, short)
    assert found is not None
    assert abs(found - (place + 1)) <= 30  # near enough to look


def test_unrelated_files_come_apart_nowhere() -> None:
    for seed in range(20):
        chance = random.Random(seed)
        one, other = ([chance.randint(5, 90) for _ in range(n)] for n in (400, 390))
        assert find_divergence(one, other) is None
    assert find_divergence([1, 2], [1]) is None


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"One sentence.\nAnother one, longer.\n", "one column"),
        (b"en\thi\n", "no rows"),
        (b"\x89PNG\r\n\x1a\n", "a picture"),
        (b"PK\x03\x04abc", "zip archive"),
        (bytes(range(256)) * 9, "not text"),
    ],
)
@pytest.mark.parametrize("name", ["a.tsv", "a.txt", "a.odd"])
def test_what_is_no_file_of_pairs_is_refused(
    tmp_path: Path, content: bytes, hint: str, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=hint):
        open_pairs([path])


def test_wrong_paths_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        open_pairs([tmp_path / "none.tsv"])
    with pytest.raises(InputError, match="is a folder"):
        open_pairs([tmp_path])
    with pytest.raises(InputError, match="0 files were given"):
        open_pairs([])
    texts = [tmp_path / f"train.{name}" for name in ("en", "de", "hi")]
    for path in texts:
        path.write_text("One.\nTwo, and so on.\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"3 text files were given.*two text files whose lines"):
        open_pairs(texts)
    table = write_tsv(tmp_path / "a.tsv", PAIRS)
    with pytest.raises(InputError, match=r"train\.en has one column"):
        open_pairs([table, texts[0]])


def test_files_of_many_formats_are_one_corpus(tmp_path: Path) -> None:
    paths = []
    for name, write in WRITERS.items():
        paths.append(tmp_path / name)
        paths[-1].write_bytes(write(PAIRS))
    pairs = open_pairs(paths)
    assert pairs.paths == tuple(paths)
    assert pairs.names == ("en", "hi")
    assert [(pair.source, pair.target) for pair in pairs] == PAIRS * len(paths)
    assert list(pairs) == list(pairs)
    lines = [pair.line for pair in pairs]
    assert lines == sorted(set(lines))
    assert "pairs.tsv: columns: 1 (source) → 2 (target)" in pairs.assumed
    assert "pairs.tmx.gz: languages: en → hi" in pairs.assumed
    assert "lines are counted on from file to file" in pairs.assumed[-1]


def test_lines_are_counted_as_if_the_files_were_one(tmp_path: Path) -> None:
    texts = ["a\tb\nk\tl\nc\n", "\nd\te\tf\ng\th\nm\tn\n", "i\tj\n"]
    paths = [tmp_path / f"{i}.tsv" for i in range(3)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    tally = Tally()
    pairs = list(open_pairs(paths).read(tally))
    assert [pair.line for pair in pairs] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert pairs[4] == (5, "d", "e")
    assert tally.lines == {"ragged": [3, 5]}


def test_a_catalogue_that_ends_with_no_pair_counts_its_lines(tmp_path: Path) -> None:
    for name in ("a.po", "b.po"):
        text = 'msgid "a"\nmsgstr "b"\n\n#, fuzzy\nmsgid "c"\nmsgstr "d"\n'
        (tmp_path / name).write_text(text, encoding="utf-8")
    tally = Tally()
    pairs = list(open_pairs([tmp_path / "a.po", tmp_path / "b.po"]).read(tally))
    assert [pair.line for pair in pairs] == [1, 6]
    assert tally.lines == {"fuzzy": [5, 10]}


def test_columns_are_stated_for_all_files(tmp_path: Path) -> None:
    one, two = tmp_path / "a.csv", tmp_path / "b.csv"
    one.write_text("en,hi,de\na,b,c\n", encoding="utf-8")
    two.write_text("de,en\nd,e\n", encoding="utf-8")
    assert sides(one, two, columns=("en", "de")) == [("a", "c"), ("e", "d")]
    assert open_pairs([one, two], ("en", "de")).names == ("en", "de")
    with pytest.raises(InputError, match=r"b\.csv has no column 'hi'"):
        open_pairs([one, two], ("en", "hi"))


def test_files_must_agree_on_their_languages(tmp_path: Path) -> None:
    one = write_tsv(tmp_path / "a.tsv", [("en", "hi"), *PAIRS])
    swapped = write_tsv(tmp_path / "b.tsv", [("hi", "en"), *[(t, s) for s, t in PAIRS]])
    with pytest.raises(
        InputError, match=r"a\.tsv holds en → hi and .*b\.tsv holds hi → en: .*same"
    ):
        open_pairs([one, swapped])
    assert sides(one, swapped, columns=("hi", "en")) == [(t, s) for s, t in PAIRS] * 2
    other = write_tsv(tmp_path / "c.tsv", [("en", "de"), *PAIRS])
    with pytest.raises(InputError, match="holds en → de"):
        open_pairs([one, other])
    silent = write_tsv(tmp_path / "d.tsv", PAIRS)
    british = write_tsv(tmp_path / "e.tsv", [("en-GB", "hi_IN"), *PAIRS])
    assert open_pairs([silent, one, british]).names == ("en", "hi")
    with pytest.raises(InputError, match="holds en → de"):
        open_pairs([silent, one, other])


def test_a_file_is_read_once(tmp_path: Path) -> None:
    one, two = (write_tsv(tmp_path / name, PAIRS) for name in ("a.tsv", "b.tsv"))
    with pytest.raises(InputError, match="given twice: give each file once"):
        open_pairs([one, two, tmp_path / "." / "a.tsv"])


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_tsv(tmp_path / name / "a.tsv", PAIRS)
    assumed = open_pairs([tmp_path / "one" / "a.tsv", tmp_path / "two" / "a.tsv"]).assumed
    assert f"{tmp_path / 'two' / 'a.tsv'}: header: none" in assumed
