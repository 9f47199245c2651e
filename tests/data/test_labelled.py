"""Texts with labels: which column is which, what the doctor drops, and what is no such data."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearhead.data.cells import open_cells
from clearhead.data.labelled import Example, LabelledTexts, looks_like_labels, sort_labels
from clearhead.data.pairs import Tally
from clearhead.data.which import which_task
from clearhead.errors import InputError

TEXTS = [f"number {n} is a text of its own" for n in range(40)]


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def labelled(path: Path, *, head: str = "review\tsentiment\n", texts: list[str] = TEXTS) -> Path:
    rows = (f"{text}\t{'good' if n % 2 else 'bad'}\n" for n, text in enumerate(texts))
    return write(path, head + "".join(rows))


def test_every_format_gives_the_same_examples(tmp_path: Path) -> None:
    tsv = labelled(tmp_path / "a.tsv")
    bare = labelled(tmp_path / "bare.tsv", head="")
    turned = write(
        tmp_path / "turned.tsv",
        "".join(f"{'good' if n % 2 else 'bad'}\t{text}\n" for n, text in enumerate(TEXTS)),
    )
    csv = write(
        tmp_path / "a.csv",
        "id,text,label\n"
        + "".join(f'{n},"{t}",{"good" if n % 2 else "bad"}\n' for n, t in enumerate(TEXTS)),
    )
    records = [{"text": t, "label": "good" if n % 2 else "bad"} for n, t in enumerate(TEXTS)]
    jsonl = write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, records)))
    packed = tmp_path / "a.tsv.gz"
    packed.write_bytes(gzip.compress(tsv.read_bytes()))
    expected = [(t, "good" if n % 2 else "bad") for n, t in enumerate(TEXTS)]
    for path in (tsv, bare, turned, csv, jsonl, packed):
        found = [(each.text, each.label) for each in LabelledTexts([path]).read(Tally())]
        assert found == expected, path
        assert which_task([path]) == "classify", path
    both = LabelledTexts([tsv, jsonl])
    assert [each.line for each in both.read(Tally())] == [*range(2, 42), *range(42, 82)]


def test_labels_of_records_may_be_numbers_and_truths(tmp_path: Path) -> None:
    values = [0, 1, 2.0, True, False]
    rows = [json.dumps({"text": f"text {n}", "label": values[n % 5]}) for n in range(30)]
    path = write(tmp_path / "a.jsonl", "\n".join(rows))
    found = {each.label for each in LabelledTexts([path]).read(Tally())}
    assert found == {"0", "1", "2", "true", "false"}


def test_parquet_is_read(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"label": [0, 1] * 20, "text": TEXTS}), path)
    assert which_task([path]) == "classify"
    assert LabelledTexts([path]).whole()[1] == Example(2, TEXTS[1], "1")


def test_pairs_stay_pairs(tmp_path: Path) -> None:
    pairs = "".join(f"{text}\tein {text}\n" for text in TEXTS)
    third = "".join(f"{text}\tein {text}\tpackage{n % 2}\n" for n, text in enumerate(TEXTS))
    for name, text in {
        "pairs.tsv": pairs,
        "package.tsv": third,
        "named.tsv": "en\tde\tlabel\n" + third,
        "known.tsv": "question\tanswer\tcategory\n" + third,
        "twins.tsv": "sentence1\tsentence2\tlabel\n" + third,
        "same.tsv": "Hello there\tHallo du\n" * 50,
        "few.tsv": "one\tuno\ntwo\tdue\n",
    }.items():
        assert not looks_like_labels([write(tmp_path / name, text)]), name
        assert which_task([tmp_path / name]) == "translate", name
    assert which_task([write(tmp_path / "play.txt", "To be, or not to be.\n" * 99)]) == "generate"
    assert not looks_like_labels([tmp_path / "nothing.tsv"])


def test_columns_can_be_stated(tmp_path: Path) -> None:
    rows = "".join(f"{n}\t{t}\tlong\tgood{n % 3}\n" for n, t in enumerate(TEXTS))
    path = write(tmp_path / "a.tsv", "n\tbody\tlength\tverdict\n" + rows)
    for columns in (("body", "verdict"), ("2", "4"), ("BODY", "4")):
        # A header that nobody can know for one is a text whose label no other text has.
        report, kept = LabelledTexts([path], columns).examine()
        assert [each.text for each in kept] == TEXTS
        assert list(report.labels) == ["good0", "good1", "good2"]
        assert which_task([path], columns) == "classify"
    with pytest.raises(InputError, match=r"no column 'body'.*by number, from 1 to 4"):
        LabelledTexts([path], ("body", "verdikt"))
    with pytest.raises(InputError, match="no column '7'"):
        LabelledTexts([path], ("2", "7"))
    with pytest.raises(InputError, match="one column twice"):
        LabelledTexts([path], ("2", "2"))
    named = labelled(tmp_path / "named.tsv")
    with pytest.raises(InputError, match=r"no column 'sentimant'.*sentiment"):
        LabelledTexts([named], ("review", "sentimant"))


def test_the_doctor_tells_of_all_that_is_wrong(tmp_path: Path) -> None:
    path = labelled(tmp_path / "a.tsv")
    with path.open("a", encoding="utf-8") as file:
        file.write(f"\tgood\nno label here\t\n{TEXTS[3]}\tgood\n{TEXTS[4]}\tgood\n")  # 42 to 45
        file.write(f"only one is odd\todd\nnull\0\tbad\n{'long ' * 500}\tbad\n")  # 46 to 48
        file.write("seen before, in the test\tgood\nmore\tgood\tcells\n")  # 49, 50
    report, kept = LabelledTexts([path]).examine(["Seen  before, in the test"])
    found = {finding.kind: (finding.effect, finding.places) for finding in report.findings}
    assert found == {
        "blank text": ("dropped", (42,)),
        "blank label": ("dropped", (43,)),
        "duplicate": ("dropped", (44,)),
        "contradiction": ("dropped", (6, 45)),
        "rare": ("dropped", (46,)),
        "unreadable": ("dropped", (47,)),
        "long": ("noted", (48,)),
        "leaked": ("dropped", (49,)),
        "ragged": ("noted", (50,)),
    }
    assert report.n_read == 49
    assert report.n_kept == len(kept) == 41
    assert report.labels == {"bad": 20, "good": 21}
    data = report.to_dict()
    assert data["n_dropped"] == 8
    assert data["unit"] == "texts"
    json.dumps(data)
    assert not report.is_fatal
    assert report.lines()[-1] == report.verdict
    assert "labels: good (21), bad (20)" in report.lines()


def test_uneven_labels_are_told(tmp_path: Path) -> None:
    rows = "".join(f"{t}\t{'odd' if n < 2 else 'plain'}\n" for n, t in enumerate(TEXTS))
    report, _ = LabelledTexts([write(tmp_path / "a.tsv", "text\tlabel\n" + rows)]).examine()
    assert "uneven labels: plain has 19 times as many texts as odd" in "\n".join(report.lines())


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([f"{t}\tgood" for t in TEXTS], "all texts have the same label, good"),
        ([f"{t}\t{n % 2}" for n, t in enumerate(TEXTS[:10])], "only 10 texts remain"),
        ([f"{t}\tlabel {n}" for n, t in enumerate(TEXTS)], "most values of label stand once"),
        (["\tgood"] * 30 + [f"{t}\t{n % 2}" for n, t in enumerate(TEXTS[:22])], "30 texts are unu"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(tmp_path: Path, rows: list[str], told: str) -> None:
    path = write(tmp_path / "a.tsv", "\n".join(["text\tlabel", *rows]))
    report, _ = LabelledTexts([path]).examine()
    assert report.is_fatal
    assert told in report.verdict


def test_broken_files_are_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        LabelledTexts([tmp_path / "nothing.tsv"])
    with pytest.raises(InputError, match="one column"):
        LabelledTexts([write(tmp_path / "a.txt", "just a text\n" * 30)])
    with pytest.raises(InputError, match="a header and no rows"):
        LabelledTexts([write(tmp_path / "b.tsv", "text\tlabel\n")])
    with pytest.raises(InputError, match=r"line 2 of .* is not JSON"):
        LabelledTexts([write(tmp_path / "c.jsonl", '{"text": "a", "label": 1}\n{broken\n')])
    with pytest.raises(InputError, match="has one column"):
        LabelledTexts([write(tmp_path / "d.jsonl", '{"text": "a", "more": [1]}\n')])


@given(st.lists(st.integers(-99, 99), min_size=1))
def test_labels_have_an_order(numbers: list[int]) -> None:
    assert sort_labels(map(str, numbers)) == [str(n) for n in sorted(set(numbers))]
    words = [f"label{n}" for n in numbers]
    assert sort_labels(words) == sorted(set(words))


def test_cells_are_read_again_and_again(tmp_path: Path) -> None:
    file = open_cells(labelled(tmp_path / "a.tsv"), lambda cells: cells[0] == "review")
    assert file.header == ("review", "sentiment")
    assert list(file.read()) == list(file.read())
    assert file.column(1)[:2] == ["bad", "good"]
