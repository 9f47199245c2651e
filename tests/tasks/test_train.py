"""From a file of pairs to a model folder, small but whole; and what is refused on the way."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from clearhead.data import PairFile, open_pairs
from clearhead.data.phrasebook import phrasebook
from clearhead.errors import InputError
from clearhead.tasks.train import train
from clearhead.tasks.translate import Translator
from clearhead.training import Interrupted

pytestmark = pytest.mark.usefixtures("unchecked")

FEW_STEPS: dict[str, Any] = {
    "n_batch_tokens": 512,
    "training.n_steps": 6,
    "training.validate_every": 3,
    "training.precision": "float32",  # each run would choose its own by a trial
}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> PairFile:
    path = tmp_path_factory.mktemp("data") / "pairs.tsv"
    rows = [("en", "hi"), *phrasebook()[:600], ("", "खाली")]
    path.write_text("".join(f"{english}\t{hindi}\n" for english, hindi in rows))
    return open_pairs([path])


@pytest.fixture(scope="module")
def folder(pairs: PairFile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("models") / "en-hi"
    told: list[str] = []
    train(pairs, to, settings=FEW_STEPS, tell=lambda kind, facts: told.append(kind))
    assert [kind for kind in told if kind != "step"] == [
        "report", "tokenizer", "probe", "plan", "validation", "validation", "end", "scores",
    ]  # fmt: skip
    return to


def test_the_folder_is_whole_and_says_what_happened(folder: Path) -> None:
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "config.json", "model.safetensors", "tokenizer.json", "card.json", "report.html",
        "training",
    }  # fmt: skip
    card = json.loads((folder / "card.json").read_text())
    assert card["languages"] == ["en", "hi"]
    assert card["data"]["n_dropped"] == 1
    assert card["data"]["n_kept"] == 600
    assert [score["name"] for score in card["scores"]] == [
        "BLEU", "chrF", "BLEU, lower-cased and tokenised", "BLEU of copying the source",
    ]  # fmt: skip
    assert all("version" in score["signature"] for score in card["scores"])
    block = card["plan"]["model"]["block"]
    assert (block["d_model"], block["dropout"]) == (128, 0.3)
    assert card["forecast"]["seconds"] > 0
    assert card["forecast"]["n_bytes"] > 4 * 5 * card["n_parameters"]


def test_one_answer_for_each_text_in_order(folder: Path) -> None:
    translator = Translator.load(folder)
    texts = ["We are friends", "", "How are you?", "   ", "Thank you", "We are friends"]
    answers = translator(texts)
    assert len(answers) == len(texts)
    assert answers[1].text == answers[3].text == ""
    assert answers[0] == answers[5]
    for text, answer in zip(texts, answers, strict=True):
        alone = translator(text)
        assert (alone.text, alone.tokens) == (answer.text, answer.tokens)
        assert "\n" not in answer.text


def test_a_stopped_run_ends_with_the_same_model(
    pairs: PairFile, folder: Path, tmp_path: Path
) -> None:
    def stop(kind: str, facts: dict[str, Any]) -> None:
        if kind == "validation":
            raise Interrupted("enough for today")

    with pytest.raises(Interrupted):
        train(pairs, tmp_path, settings=FEW_STEPS, tell=stop)
    assert not (tmp_path / "card.json").exists()
    train(pairs, tmp_path, settings=FEW_STEPS)
    one, other = (Translator.load(place).model.state_dict() for place in (folder, tmp_path))
    for name, value in one.items():
        assert torch.equal(value, other[name]), name


def test_a_folder_of_another_run_is_refused(pairs: PairFile, folder: Path) -> None:
    before = (folder / "model.safetensors").read_bytes()
    with pytest.raises(InputError, match=r"asked for otherwise .*--set training\.n_steps=6"):
        train(pairs, folder, settings={**FEW_STEPS, "smoothing": 0.2})
    assert (folder / "model.safetensors").read_bytes() == before


def test_data_that_is_not_fit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "few.tsv"
    path.write_text("en\thi\nHow are you?\tआप कैसे हैं?\n")
    with pytest.raises(InputError, match="only 1 distinct pairs remain"):
        train(open_pairs([path]), tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_damaged_folder_is_named(folder: Path, tmp_path: Path, name: str) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in folder.glob("*.*"):
        (copy / path.name).write_bytes(path.read_bytes())
    (copy / name).write_bytes(b"{not whole")
    with pytest.raises(InputError if name != "config.json" else ValueError, match=name):
        Translator.load(copy)
    (copy / name).unlink()
    with pytest.raises(InputError, match=f"not a whole model folder: {name} is missing"):
        Translator.load(copy)
