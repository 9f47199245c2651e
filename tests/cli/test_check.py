"""`clearhead check` as its reader sees it: what was assumed, the findings, and the verdict."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from clearhead.cli.check import show_check, split_columns
from clearhead.errors import InputError
from tests.data.writing import many_pairs, write_tsv


def test_a_good_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_check([write_tsv(tmp_path / "en-hi.tsv", many_pairs(150))])
    shown = capsys.readouterr().out
    assert "columns: 1 (en) → 2 (hi)" in shown
    assert "encoding: UTF-8" in shown
    assert "nothing is wrong with it" in shown
    assert "150 distinct pairs remain of 150" in shown


def test_findings_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    test = write_tsv(tmp_path / "test.tsv", many_pairs(10))
    path = write_tsv(tmp_path / "a.tsv", [*many_pairs(150), ("blank", ""), *many_pairs(11)])
    show_check([path], ("en", "hi"), [test])
    shown = capsys.readouterr().out
    assert "a side is blank" in shown
    assert "line 151" in shown
    assert "lines 1, 2, 3, 4, 5 …" in shown
    assert "140 distinct pairs remain of 162" in shown


def test_json_is_pure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_check([write_tsv(tmp_path / "a.tsv", many_pairs(150) * 2)], as_json=True)
    captured = capsys.readouterr()
    data = json.loads(captured.out)
    assert data["n_kept"] == data["n_dropped"] == 150
    assert not data["is_fatal"]
    assert captured.err == ""


@pytest.mark.parametrize("as_json", [False, True])
def test_unfit_data_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    path = write_tsv(tmp_path / "a.tsv", many_pairs(5))
    with pytest.raises(InputError, match="only 5 distinct pairs remain"):
        show_check([path], as_json=as_json)
    shown = capsys.readouterr().out
    assert json.loads(shown)["is_fatal"] if as_json else "fit for training:" not in shown


def test_brackets_in_names_are_no_markup(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show_check([write_tsv(tmp_path / "a[red].tsv", many_pairs(150))])
    assert "a[red].tsv" in capsys.readouterr().out.replace("\n", "")


def test_the_doctor_does_not_load_torch() -> None:
    code = "import sys, clearhead.cli.check; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("text", ["en", "en,", "en,hi,de", ""])
def test_columns_are_two(text: str) -> None:
    with pytest.raises(InputError, match="does not name two columns"):
        split_columns(text)
    assert split_columns(None) is None
