"""`clearhead evaluate`: every pair is scored, and what is no pair is counted and told."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clearhead.cli import main
from clearhead.tasks import Translation, Translator
from tests.cli.tiny_folder import CARD, SENTENCES, write_folder
from tests.data.writing import write_tsv

NAMES = ["BLEU", "chrF", "BLEU, lower-cased and tokenised", "BLEU of copying the source"]


class Knower:
    """Stands in for a translator: knows the four sentences and a word by heart."""

    card = CARD

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: list[str], n_beams: int) -> list[Translation]:
        self.asked += texts
        answers = {**dict(SENTENCES), "road": "सड\u093cक"}
        return [Translation(answers.get(text, "?"), 0.0, [], True) for text in texts]


@pytest.fixture
def knower(monkeypatch: pytest.MonkeyPatch) -> Knower:
    knower = Knower()
    monkeypatch.setattr(Translator, "load", lambda folder, precision: knower)
    return knower


def evaluate(*arguments: str | Path) -> Result:
    runner = CliRunner(env={"COLUMNS": "100"})
    return runner.invoke(main, ["evaluate", *map(str, arguments)])


def test_all_scores_with_signatures(tmp_path: Path, knower: Knower) -> None:
    path = write_tsv(tmp_path / "a[b].tsv", [("en", "hi"), *SENTENCES])
    result = evaluate("model", path)
    assert result.exit_code == 0
    assert result.stderr == ""
    rows = [line.split("  ") for line in result.stdout.splitlines() if "nrefs:1|" in line]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert [cell[0] for cell in cells] == NAMES
    assert [cell[1] for cell in cells[:3]] == ["100.00", "100.0", "100.00"]
    assert "case:lc" in cells[2][2]
    assert "4 pairs in " in result.stdout
    assert "a second" in result.stdout
    assert "left out" not in result.stdout
    assert "a[b].tsv" in result.stdout
    assert knower.asked == [source for source, _ in SENTENCES]


@pytest.mark.usefixtures("knower")
def test_json_is_pure(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "a.tsv", [*SENTENCES, ("blank", " "), ("", "x"), ("wrong", "y")])
    result = evaluate("model", path, "--json")
    data = json.loads(result.stdout)
    assert list(data) == ["n_pairs", "n_left_out", "seconds", "scores"]
    assert (data["n_pairs"], data["n_left_out"]) == (5, 2)
    assert data["seconds"] >= 0
    assert [score["name"] for score in data["scores"]] == NAMES
    assert all("version:" in score["signature"] for score in data["scores"])
    assert 0 < data["scores"][0]["value"] < 100
    assert result.stderr == ""


@pytest.mark.usefixtures("knower")
def test_what_is_no_pair_is_told(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "a.tsv", [SENTENCES[0], ("blank", ""), SENTENCES[1], ("", "")])
    catalogue = tmp_path / "b.po"
    catalogue.write_text('msgid "Thank you"\nmsgstr ""\n', encoding="utf-8")
    result = evaluate("model", path, catalogue)
    assert "2 pairs in" in result.stdout
    assert "left out 2: a side is blank, lines 2, 4" in result.stdout
    assert "left out 1: messages without a translation, line 5" in result.stdout


def test_no_pair_is_left_out_for_another_reason(tmp_path: Path, knower: Knower) -> None:
    odd = [("same", "same"), ("same", "same"), ("x" * 3000, "y"), ("\x01", "a\0b")]
    result = evaluate("model", write_tsv(tmp_path / "a.tsv", odd), "--json")
    assert json.loads(result.stdout)["n_pairs"] == len(knower.asked) == 4


@pytest.mark.usefixtures("knower")
def test_one_way_to_write_a_letter_is_as_good_as_another(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "a.tsv", [*SENTENCES, ("road", " स\u095cक ")])  # ड़ as one character
    scores = json.loads(evaluate("model", path, "--json").stdout)["scores"]
    assert scores[1]["value"] == pytest.approx(100)


@pytest.mark.usefixtures("knower")
@pytest.mark.parametrize(
    ("header", "options", "is_told"),
    [
        (("hi", "en"), [], True),
        (("hi_IN", "en-GB"), [], True),
        (("en", "hi"), ["--columns", "hi,en"], True),
        (("hi", "en"), ["--columns", "en,hi"], False),
        (("en", "hi"), [], False),
        (("en", "de"), [], False),
        (SENTENCES[3], [], False),
    ],
)
def test_swapped_columns_are_told(
    tmp_path: Path, header: tuple[str, str], options: list[str], is_told: bool
) -> None:
    path = write_tsv(tmp_path / "a.tsv", [header, *SENTENCES])
    result = evaluate("model", path, *options)
    assert result.exit_code == 0
    assert ("hi → en and the model translates en → hi" in result.stderr) == is_told
    assert ("say --columns en,hi" in result.stderr) == is_told


def test_a_real_model_is_scored(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "en-hi")
    path = write_tsv(tmp_path / "a.tsv", SENTENCES)
    one = evaluate(folder, path, "--beams", "1", "--json")
    assert one.exit_code == 0
    again = evaluate(folder, path, "--beams", "1", "--json")
    scores = [json.loads(result.stdout)["scores"] for result in (one, again)]
    assert scores[0] == scores[1]


@pytest.mark.usefixtures("knower")
def test_what_cannot_be_scored_is_refused(tmp_path: Path) -> None:
    result = evaluate("model", write_tsv(tmp_path / "a.tsv", [("a", ""), ("", "b")]))
    assert result.exit_code == 1
    assert "holds no pair with both sides" in result.stderr
    assert evaluate("model", tmp_path / "none.tsv").exit_code == 1
    assert evaluate("model", tmp_path / "none.tsv", "--columns", "en").exit_code == 1
