"""From pictures to a model that knows them: a toy that is learned, resumed, scored and run."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from safetensors.torch import load_file

import clearhead
from clearhead.cli import main
from clearhead.data.pictures import Pictures
from clearhead.errors import ConfigError, InputError
from clearhead.media import write_picture
from clearhead.observe import zero
from clearhead.tasks.folder import load_folder, open_folder, task_of
from clearhead.tasks.images.classifier import ImageClassifier
from clearhead.tasks.images.plan import PictureFacts, make_plan
from clearhead.tasks.images.train import train_classifier
from clearhead.training import Interrupted
from tests.tasks.images.shapes import NAMES, SETTINGS, draw, write

Trained = tuple[ImageClassifier, Path, list[str]]
WEIGHTS = "encoder.blocks.1.self_attention.weights"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    folder = tmp_path_factory.mktemp("pictures")
    told: list[str] = []
    classifier = train_classifier(
        Pictures([write(folder / "shapes.npz", 900)]),
        folder / "model",
        settings=SETTINGS,
        tell=lambda kind, _: told.append(kind),
    )
    for number, picture in enumerate(draw(6, seed=7)[0]):
        write_picture(picture[:, :, None], folder / f"{number}.png")
    return classifier, folder / "model", told


def test_a_toy_is_learned(trained: Trained) -> None:
    classifier, _, told = trained
    images, labels = draw(90, seed=5)
    said = [seen.label for seen in classifier(list(images))]
    right = np.mean([name == NAMES[label] for name, label in zip(said, labels, strict=True)])
    assert right > 0.95
    scores = {score["name"]: score["value"] for score in classifier.card["scores"]}
    assert scores["accuracy"] > 95 > scores["accuracy of logistic regression"]
    assert scores["macro-F1"] > 95
    assert scores["accuracy of the most frequent label"] < 50
    assert scores["accuracy of the nearest mean"] < 95
    kinds = list(dict.fromkeys(told))
    assert kinds == ["report", "probe", "plan", "step", "validation", "end", "scores"]


def test_the_folder_is_whole_and_has_no_tokenizer(trained: Trained) -> None:
    classifier, folder, _ = trained
    names = {path.name for path in folder.iterdir() if path.is_file()}
    assert names == {"config.json", "model.safetensors", "card.json", "report.html"}
    assert task_of(folder) == "images"
    assert load_folder(folder).words is None
    loaded = clearhead.load(folder)
    assert isinstance(loaded, ImageClassifier)
    assert loaded.labels == NAMES
    image = draw(1, seed=3)[0][0]
    assert loaded(image) == classifier(image)
    assert sum(loaded(image).probabilities.values()) == pytest.approx(1)
    with pytest.raises(InputError, match="'int8' is not there for pictures"):
        clearhead.load(folder, "int8")
    page = (folder / "report.html").read_text()
    assert "<h1><span>Picture classifier</span>" in page
    assert "Confusions" in page
    assert "nats per picture" in page


def test_a_folder_in_which_something_is_missing(trained: Trained, tmp_path: Path) -> None:
    _, folder, _ = trained
    for name in ("config.json", "model.safetensors", "card.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    open_folder(tmp_path)
    card = json.loads((tmp_path / "card.json").read_text())
    for wrong in ({}, {"reading": {**card["reading"], "labels": ["a"]}}, {"reading": {"odd": 1}}):
        (tmp_path / "card.json").write_text(json.dumps(wrong))
        with pytest.raises(InputError, match="`reading`"):
            ImageClassifier.load(tmp_path)
    (tmp_path / "card.json").unlink()
    with pytest.raises(InputError, match=r"card\.json is missing"):
        ImageClassifier.load(tmp_path)


def test_it_can_be_watched_and_edited(trained: Trained) -> None:
    classifier, _, _ = trained
    image = draw(1, seed=3)[0][0]
    plain = classifier(image)
    with classifier.watch(WEIGHTS) as seen:
        assert classifier(image).probability == pytest.approx(plain.probability, abs=1e-6)
    value = seen.steps(WEIGHTS)[0]
    assert value.labels("key")[:3] == ["class", "0,0", "0,1"]
    assert value.labels("query")[-1] == "3,3"
    by_name = value.at(head=0, query="2,1", key="0,3")
    assert by_name == pytest.approx(float(value.tensor[0, 1 + 2 * 4 + 1, 1 + 3]))
    places = [zero(key=n) for n in range(1, 17)]
    with classifier.edit({"encoder.blocks.0.self_attention.v": places}):
        edited = classifier(image)
    assert edited.probability != plain.probability
    assert classifier(image) == plain


def test_the_same_command_goes_on(trained: Trained, tmp_path: Path) -> None:
    _, folder, _ = trained
    again: list[str] = []
    pictures = Pictures([folder.parent / "shapes.npz"])
    train_classifier(pictures, folder, settings=SETTINGS, tell=lambda kind, _: again.append(kind))
    assert "resume" in again
    assert "step" not in again
    with pytest.raises(InputError, match="asked for otherwise"):
        train_classifier(pictures, folder, settings={**SETTINGS, "smoothing": 0.2})
    other = Pictures([write(tmp_path / "other.npz", 300, seed=2)])
    with pytest.raises(InputError, match="a run on other data"):
        train_classifier(other, folder, settings=SETTINGS)


def test_a_stopped_run_ends_with_the_same_bits(tmp_path: Path) -> None:
    """With pictures that are moved, mirrored and wiped at random."""
    settings = {
        **SETTINGS, "training.n_steps": 14, "training.validate_every": 7, "model.n_layers": 1,
        "changes.mirrors": True, "changes.erase": 0.5, "model.dropout": 0.1,
        "training.precision": "float32",  # each run would choose its own by a trial
    }  # fmt: skip
    pictures = Pictures([write(tmp_path / "a.npz", 150)])
    train_classifier(pictures, tmp_path / "whole", settings=settings)

    def stop(kind: str, facts: dict[str, Any]) -> None:
        if kind == "step" and facts["step"] == 9:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Interrupted):
        train_classifier(pictures, tmp_path / "stopped", settings=settings, tell=stop)
    torch.rand(100)
    train_classifier(pictures, tmp_path / "stopped", settings=settings)
    one, other = (load_file(tmp_path / n / "model.safetensors") for n in ("whole", "stopped"))
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_from_the_command_line(trained: Trained, tmp_path: Path) -> None:
    classifier, folder, _ = trained
    run = CliRunner()
    files = [str(folder.parent / f"{number}.png") for number in range(6)]
    out = run.invoke(main, ["run", str(folder), *files])
    rows = [line.split("\t") for line in out.output.splitlines()]
    assert [row[0] for row in rows] == [seen.label for seen in classifier([*files])]
    assert all(0.3 < float(row[1]) <= 1 for row in rows)
    piped = run.invoke(main, ["run", str(folder)], input="\n".join([files[0], "", files[1]]))
    assert piped.output.splitlines() == [*out.output.splitlines()[:1], "", "\t".join(rows[1])]
    as_json = json.loads(run.invoke(main, ["run", str(folder), files[0], "--json"]).output)
    assert set(as_json["probabilities"]) == set(NAMES)
    assert as_json["label"] == rows[0][0]
    broken = tmp_path / "broken.png"
    broken.write_text("nothing")
    for file, told in ((tmp_path / "none.png", "does not exist"), (broken, "is no picture")):
        refused = run.invoke(main, ["run", str(folder), str(file)])
        assert refused.exit_code == 1
        assert told in refused.output
        assert "Traceback" not in refused.output
    wrong = run.invoke(main, ["run", str(folder), files[0], "--beams", "3"])
    assert "--beams is for models that write, and this one looks at pictures" in wrong.output
    shown = run.invoke(main, ["show", str(folder)]).output
    for told in ("pictures of 12 × 12 pixels", "900 pictures read", "run", "accuracy"):
        assert told in shown
    assert "decodes" not in shown


def test_scores_from_the_command_line(trained: Trained, tmp_path: Path) -> None:
    _, folder, _ = trained
    run = CliRunner()
    path = str(write(tmp_path / "new.npz", 60, seed=11))
    scored = run.invoke(main, ["evaluate", str(folder), path]).output
    for told in ("accuracy", "macro-F1", "right ↓ said →", "spot", "60 pictures"):
        assert told in scored
    facts = json.loads(run.invoke(main, ["evaluate", str(folder), path, "--json"]).output)
    assert facts["n_pictures"] == 60
    assert facts["labels"] == list(NAMES)
    assert np.sum(facts["confusion"]) == 60
    assert 100 * np.trace(facts["confusion"]) / 60 == pytest.approx(facts["scores"][0]["value"])
    checked = run.invoke(main, ["check", path]).output
    assert "task: images, because these are pictures with labels" in checked
    assert "fit for training: 60 grey pictures of 12 × 12 pixels" in checked
    refused = run.invoke(main, ["evaluate", str(folder), str(tmp_path / "none.npz")])
    assert refused.exit_code == 1


def test_nothing_is_left_of_a_run_that_is_refused(tmp_path: Path) -> None:
    images, _ = draw(40)
    np.savez(tmp_path / "one.npz", images=images, labels=np.zeros(40))
    with pytest.raises(InputError, match="all pictures have the label '0'"):
        train_classifier(Pictures([tmp_path / "one.npz"]), tmp_path / "model")
    assert not (tmp_path / "model").exists()
    with pytest.raises(ConfigError, match="no size 'huge'"):
        train_classifier(Pictures([write(tmp_path / "a.npz", 60)]), tmp_path / "model", size="huge")
    with pytest.raises(ConfigError, match=r"no setting 'changes\.shifts'"):
        train_classifier(
            Pictures([tmp_path / "a.npz"]), tmp_path / "model", settings={"changes.shifts": 1}
        )
    with pytest.raises(ConfigError, match="must be a multiple of patch_size=5"):
        train_classifier(
            Pictures([tmp_path / "a.npz"]), tmp_path / "model", settings={"model.patch_size": 5}
        )
    assert not (tmp_path / "model").exists()


def test_plans() -> None:
    fashion = PictureFacts(57_000, 28, 1, 10, (0.68, 0.57))
    plan, reasons = make_plan(fashion)
    assert (plan.model.patch_size, plan.model.n_patches) == (4, 49)
    assert plan.changes.mirrors
    assert any("mirrored" in reason for reason in reasons)
    digits, _ = make_plan(PictureFacts(1500, 8, 1, 10, (0.9, 0.36)))
    assert not digits.changes.mirrors
    wished, told = make_plan(fashion, settings={"changes.mirrors": "false", "training.n_steps": 9})
    assert not wished.changes.mirrors
    assert not any("mirrored" in reason for reason in told)
    for wrong in ({"model.patch_size": 5}, {"n_batch_pictures": 0}, {"smoothing": 1.0},
                  {"model.head": "none"}):  # fmt: skip
        with pytest.raises(ConfigError):
            make_plan(fashion, settings=wrong)


def test_pictures_are_read_at_the_size_that_is_asked_for(tmp_path: Path) -> None:
    settings = {**SETTINGS, "model.image_size": "16", "model.patch_size": "4",
                "training.n_steps": 2, "training.validate_every": 1}  # fmt: skip
    classifier = train_classifier(
        Pictures([write(tmp_path / "a.npz", 100)]), tmp_path / "model", settings=settings
    )
    assert classifier.reading.size == classifier.model.config.image_size == 16
    assert classifier(draw(1)[0][0]).label in NAMES
