"""Every format: the same pairs come back equal and in order, and each format's own cases."""

import contextlib
import gzip
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearhead.data import open_pairs
from clearhead.data.pairs import Pair, Tally
from clearhead.errors import InputError
from tests.data.writing import PAIRS, WRITERS

Texts = st.text(
    st.characters(min_codepoint=32, exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1
).filter(lambda text: text.strip() and "\ufeff" not in text)


def sides(path: Path, columns: tuple[str, str] | None = None) -> list[tuple[str, str]]:
    """The texts of a file, without line numbers."""
    return [(pair.source, pair.target) for pair in open_pairs([path], columns)]


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_reads_back_equal(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(WRITERS[name](PAIRS))
    pairs = open_pairs([path])
    assert sides(path) == PAIRS
    assert list(pairs) == list(pairs)
    assert pairs.names[1] in ("hi", "target")
    assert len(pairs.assumed) >= 3


@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.tmx", "pairs.po", "pairs.csv"])
@given(pairs=st.lists(st.tuples(Texts, Texts), min_size=1, max_size=5))
def test_any_text_reads_back_equal(
    tmp_path_factory: pytest.TempPathFactory, name: str, pairs: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("any") / name
    path.write_bytes(WRITERS[name](pairs))
    assert sides(path) == pairs


@pytest.mark.parametrize("name", [name for name in WRITERS if not name.startswith("nested")])
@given(data=st.data())
def test_damaged_files_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    """Whatever the bytes are, the worst that happens is an error that the user can mend."""
    content = WRITERS[name](PAIRS)
    start = data.draw(st.integers(0, len(content)))
    end = start + data.draw(st.sampled_from([0, 1, 9, len(content)]))
    path = tmp_path_factory.mktemp("damaged") / data.draw(st.sampled_from([name, "a.txt"]))
    path.write_bytes(content[:start] + data.draw(st.binary(max_size=9)) + content[end:])
    with contextlib.suppress(InputError):
        assert all(isinstance(text, str) for pair in open_pairs([path]) for text in pair[1:])


def test_content_decides_when_the_extension_says_nothing(tmp_path: Path) -> None:
    for name in ("pairs.tsv", "nested.jsonl", "pairs.tmx", "pairs.po", "pairs.mo"):
        path = tmp_path / f"{name.replace('.', '_')}.data"
        path.write_bytes(WRITERS[name](PAIRS))
        assert sides(path) == PAIRS


def test_csv_cells_may_hold_lines_and_keep_their_first_line_number(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('en,de\n"one\ntwo","eins\nzwei"\nthree,drei\n', encoding="utf-8")
    assert list(open_pairs([path])) == [Pair(2, "one\ntwo", "eins\nzwei"), Pair(5, "three", "drei")]


def test_csv_with_broken_quotes_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('a,b\nc,d\n"e,f\ng,h\n', encoding="utf-8")
    with pytest.raises(InputError, match="line 3"):
        list(open_pairs([path]))


def test_tab_separated_quotes_are_plain_unless_they_are_doubled(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text('"Yes," he said.\t"Ja", sagte er.\n', encoding="utf-8")
    assert sides(path) == [('"Yes," he said.', '"Ja", sagte er.')]
    path.write_text('"He said ""yes""."\tb\nc\td\n', encoding="utf-8")
    assert sides(path)[0] == ('He said "yes".', "b")


def test_json_errors_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"en": "a", "de": "b"}\n\n{"en": "a" "de"}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"line 3 of .* is not JSON"):
        open_pairs([path])
    path.write_text('[{"en": "a", "de": "b"}]\n', encoding="utf-8")
    with pytest.raises(InputError, match="each pair on a line of its own"):
        open_pairs([path])
    path.write_text('{"en": "a", "de": "b"}\n{"en": 5, "de": "b"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="1 text field"):
        open_pairs([path])
    path.write_text('{"en": "a"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="its fields are en"):
        open_pairs([path])
    path.write_text("7\n", encoding="utf-8")
    with pytest.raises(InputError, match="holds 7, not an object"):
        open_pairs([path])


def test_json_null_is_blank_and_half_a_character_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"en": "a", "de": null}\n{"en": "\\ud83d", "de": "b"}\n', encoding="utf-8")
    assert sides(path) == [("a", ""), ("\ufffd", "b")]


def test_po_plurals_contexts_fuzzy_and_untranslated(tmp_path: Path) -> None:
    path = tmp_path / "de.po"
    path.write_text(
        'msgid ""\nmsgstr "Language: de_DE\\n"\n\n'
        'msgctxt "menu"\nmsgid "Open"\nmsgstr "Öffnen"\n\n'
        'msgid "%d file"\nmsgid_plural "%d files"\nmsgstr[0] "%d Datei"\nmsgstr[1] "%d Dateien"\n\n'
        '#, fuzzy, c-format\n#| msgid "Old"\nmsgid "New"\nmsgstr "Alt"\n\n'
        'msgid "Later"\nmsgstr ""\n\n'
        '#~ msgid "Gone"\n#~ msgstr "Fort"\n\n'
        'msgid ""\n"Two "\n"lines\\n"\nmsgstr ""\n"Zwei "\n"Zeilen\\n"\n',
        encoding="utf-8",
    )
    pairs, tally = open_pairs([path]), Tally()
    assert [pair[1:] for pair in pairs.read(tally)] == [
        ("Open", "Öffnen"),
        ("%d file", "%d Datei"),
        ("Two lines\n", "Zwei Zeilen\n"),
    ]
    assert pairs.names == ("msgid", "de")
    assert tally.counts == {"fuzzy": 1, "untranslated": 1}
    assert open_pairs([path], ("en", "de")).names == ("en", "de")
    assert sides(path, ("de", "en"))[0] == ("Öffnen", "Open")


def test_po_nonsense_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.po"
    path.write_text('msgid "a"\nmsgstr "b"\nmsgid c\n', encoding="utf-8")
    with pytest.raises(InputError, match="line 3"):
        list(open_pairs([path]))


def test_tmx_markup_languages_and_gaps(tmp_path: Path) -> None:
    path = tmp_path / "a.tmx"
    path.write_text(
        '<tmx version="1.4"><header/><body>'
        '<tu><tuv xml:lang="en-US"><seg>a <hi>b</hi><ph>{1}</ph> c</seg></tuv>'
        '<tuv xml:lang="de"><seg>d</seg></tuv><tuv xml:lang="fr"><seg>e</seg></tuv></tu>'
        '<tu><tuv lang="en-US"><seg>f</seg></tuv><tuv lang="fr"><seg>g</seg></tuv></tu>'
        "</body></tmx>",
        encoding="utf-8",
    )
    tally = Tally()
    pairs = open_pairs([path], ("en", "de"))
    assert list(pairs.read(tally)) == [Pair(1, "a b c", "d")]
    assert tally.counts == {"incomplete": 1}
    assert "chosen from" in " ".join(open_pairs([path]).assumed)
    assert sides(path, ("fr", "en")) == [("e", "a b c"), ("g", "f")]
    path.write_text("<tmx><body><tu>", encoding="utf-8")
    with pytest.raises(InputError, match="not valid XML"):
        open_pairs([path])


def test_a_cut_catalogue_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.mo"
    path.write_bytes(WRITERS["pairs.mo"](PAIRS)[:-20])
    with pytest.raises(InputError, match="cut off"):
        list(open_pairs([path]))


def test_cut_and_damaged_gzip_are_refused(tmp_path: Path) -> None:
    whole = WRITERS["pairs.tsv.gz"]([(f"a{i * i}", f"b{i}") for i in range(9999)])
    path = tmp_path / "a.tsv.gz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="cut off"):
        list(open_pairs([path]))
    path.write_bytes(whole[:-8] + bytes(8))
    with pytest.raises(InputError, match="damaged gzip"):
        list(open_pairs([path]))
    path.write_bytes(gzip.compress(b""))
    with pytest.raises(InputError, match="empty"):
        open_pairs([path])


def test_parquet_needs_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1" + bytes(20) + b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(InputError, match="pip install pyarrow"):
        open_pairs([path])


def test_parquet_rows_are_read_like_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Batch(list[dict[str, str]]):
        def to_pylist(self) -> list[dict[str, str]]:
            return list(self)

    class ParquetFile:
        def __init__(self, path: Path) -> None:
            assert path.name == "a.parquet"

        def iter_batches(self) -> list[Batch]:
            return [Batch([{"en": s, "hi": t}]) for s, t in PAIRS]

    fake = ModuleType("pyarrow.parquet")
    fake.ParquetFile = ParquetFile  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pyarrow", ModuleType("pyarrow"))
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", fake)
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1" + bytes(20) + b"PAR1")
    assert sides(path) == PAIRS
