"""`clearhead show`: all of the card in words, also when the card is an older one."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from clearhead.cli import main
from clearhead.cli.show import show_card
from clearhead.errors import InputError
from clearhead.tasks.folder import load_folder
from tests.cli.tiny_folder import CARD, write_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("models") / "en hi")


def show(*arguments: str | Path) -> Result:
    """Run the verb in a terminal of 100 columns."""
    return CliRunner(env={"COLUMNS": "100"}).invoke(main, ["show", *map(str, arguments)])


def test_everything_is_told(folder: Path) -> None:
    result = show(folder)
    assert result.exit_code == 0
    shown = " ".join(result.stdout.split())
    for told in (
        "en → hi, translate",
        "12,345 parameters",
        "1 + 1 layers, 16 wide, 2 heads, feed-forward 32, dropout 0.3",
        "pairs[red].tsv",
        "1,601 pairs read, 1,600 kept, 1 dropped",
        "dropped 1: a side is blank",
        "80 for validation 70 for test",
        "n_vocabulary=2000 smoothing=0.1",
        "training: lr=0.0015 seed=0",
        "such data fills a tiny model",
        "1,234 steps",
        "best at step 1,100, with a score of 41.26",
        "ended: the score stopped rising",
        "took 50 min; 1 h 07 min were expected",
        "head 1 of block 0 reads the word that belongs there for 82% of 1,443 words",
        "BLEU 41.26 nrefs:1|case:mixed",
        "chrF 62.3 nrefs:1|nc:6",
        "BLEU of copying the source 0.50",
        "en hi' < text.en > text.hi",
    ):
        assert told in shown, told
    assert "77 + " not in shown  # the shape is that of the model, told once
    size = sum(path.stat().st_size for path in folder.iterdir())
    assert f"{size / 1000:.1f} kB for the model" in shown


def test_what_training_left_is_told_apart(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    (folder / "training").mkdir()
    (folder / "training" / "step").write_bytes(bytes(2_500_000))
    assert "2.5 MB in training/, which only training needs" in show(folder).stdout


def test_json_is_the_card(folder: Path) -> None:
    result = show(folder, "--json")
    assert json.loads(result.stdout) == CARD
    assert result.stderr == ""


def test_an_older_card_says_less(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    (folder / "card.json").write_text("{}", encoding="utf-8")
    result = show(folder)
    assert result.exit_code == 0
    assert "1 + 1 layers" in result.stdout
    assert "no scores" in result.stdout
    assert "< text.in > text.out" in result.stdout
    assert "None" not in result.stdout


@given(data=st.data())
def test_no_card_is_too_odd_to_be_shown(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Each part of the card may be missing, or be something else than expected."""
    odd = st.sampled_from(
        [None, 3, -1.5, float("inf"), "[/red]", [], [1, {}], {}, {"seconds": "x"}]
    )

    def change(part: Any) -> Any:
        if data.draw(st.integers(0, 9)) == 0:
            return data.draw(odd)
        if isinstance(part, dict):
            return {name: change(each) for name, each in part.items()}
        return [change(each) for each in part] if isinstance(part, list) else part

    copy = tmp_path_factory.mktemp("odd")
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    card = {name: change(part) for name, part in CARD.items()}
    (copy / "card.json").write_text(json.dumps(card), encoding="utf-8")
    show_card(copy)


@pytest.mark.parametrize("missing", [["card.json"], ["config.json", "tokenizer.json"], None])
def test_what_is_no_model_folder_is_refused_as_by_loading(
    tmp_path: Path, missing: list[str] | None
) -> None:
    folder = tmp_path / "model"
    for name in missing or ():
        (write_folder(folder) / name).unlink()
    with pytest.raises(InputError) as shown:
        show_card(folder)
    with pytest.raises(InputError) as loaded:
        load_folder(folder)
    assert str(shown.value) == str(loaded.value)
    result = show(folder)
    assert result.exit_code == 1
    assert result.stderr == f"Error: {shown.value}\n"


@pytest.mark.parametrize(("content", "told"), [("{", "is not JSON"), ("[1]", "holds list")])
@pytest.mark.parametrize("name", ["card.json", "config.json"])
def test_a_damaged_file_is_named(tmp_path: Path, name: str, content: str, told: str) -> None:
    folder = write_folder(tmp_path)
    (folder / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=rf"{name} {told}"):
        show_card(folder)


def test_showing_does_not_load_torch() -> None:
    code = "import sys, clearhead.cli.show; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
