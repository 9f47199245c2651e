"""From a text to a model that fills its gaps: a toy that is learned, resumed, scored and run."""

import json
import random
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from click.testing import CliRunner

import clearhead
from clearhead.cli import main
from clearhead.config import BertConfig
from clearhead.data.texts import Texts
from clearhead.errors import ConfigError, InputError
from clearhead.models import Bert
from clearhead.tasks.fill.filler import Filler
from clearhead.tasks.fill.plan import FillFacts, make_plan, smaller_size
from clearhead.tasks.fill.train import train_filler
from clearhead.tasks.folder import load_folder, task_of
from clearhead.training import Interrupted

SOUNDS = {"cat": "purrs", "cow": "moos", "bird": "sings"}
BETWEEN = ["here", "again", "today", "now"]
SETTINGS: dict[str, Any] = {
    "tokenizer": "word", "n_vocabulary": 512, "context": 16, "n_batch_tokens": 512, "hidden": 0.3,
    "model.n_layers": 2, "model.d_model": 64, "model.d_ff": 128, "model.n_heads": 4,
    "model.dropout": 0.0, "model.attention_dropout": 0.0, "training.n_steps": 350,
    "training.validate_every": 175, "training.lr": 0.003,
}  # fmt: skip
Trained = tuple[Filler, Path, list[str]]


def sentence(draw: random.Random) -> str:
    """The sound depends on the animal, which stands some words before it."""
    animal = draw.choice(list(SOUNDS))
    between = " ".join(draw.sample(BETWEEN, draw.randint(1, 3)))
    return f"the {animal} {between} {SOUNDS[animal]} .\n"


def write_toy(path: Path, n: int = 1500, seed: int = 0) -> Path:
    draw = random.Random(seed)
    path.write_text("".join(sentence(draw) for _ in range(n)))
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    folder = tmp_path_factory.mktemp("gaps")
    told: list[str] = []
    filler = train_filler(
        Texts([write_toy(folder / "toy.txt")]),
        folder / "model",
        settings=SETTINGS,
        tell=lambda kind, facts: told.append(kind),
    )
    return filler, folder / "model", told


def test_a_toy_is_learned(trained: Trained) -> None:
    """What a far word decides is filled in on sentences that were never seen."""
    filler, _, told = trained
    draw = random.Random(99)
    lines = [sentence(draw).strip() for _ in range(200)]
    sounds = [line.split()[-2] for line in lines]
    texts = [
        line.replace(f" {sound} ", " <mask> ") for line, sound in zip(lines, sounds, strict=True)
    ]
    right = [found.text == line for found, line in zip(filler(texts), lines, strict=True)]
    assert sum(right) / len(right) >= 0.95
    assert max(map(sounds.count, set(sounds))) / len(sounds) < 0.5  # the most frequent one
    scores = {score["name"]: score["value"] for score in filler.card["scores"]}
    model, frequent, before, sides = (
        scores[f"perplexity of {name}"]
        for name in (
            "hidden tokens",
            "the most frequent token",
            "counts of two tokens before",
            "counts of the tokens on both sides",
        )
    )
    assert model < sides < before < frequent
    assert scores["accuracy of hidden tokens"] > scores["accuracy of the most frequent token"] + 30
    kinds = list(dict.fromkeys(told))
    assert kinds == [
        "report", "tokenizer", "probe", "plan", "step", "validation", "end", "scores",
    ]  # fmt: skip


def test_candidates_and_ways_to_fill(trained: Trained) -> None:
    filler, _, _ = trained
    found = filler("the <mask> now <mask> .", n_best=7)
    assert len(found.gaps) == 2
    assert [len(some) for some in found.gaps] == [7, 7]
    for some in found.gaps:
        p = [one.probability for one in some]
        assert p == sorted(p, reverse=True)
        assert sum(p) <= 1.00001
    assert found.probability == pytest.approx(
        found.gaps[0][0].probability * found.gaps[1][0].probability
    )
    ways = [found, *found.others]
    assert len({way.text for way in ways}) == 7
    assert [way.probability for way in ways] == sorted((w.probability for w in ways), reverse=True)
    assert all("<mask>" not in way.text for way in ways)
    assert filler(["<mask> cow now moos ."])[0].text == "the cow now moos ."


def test_many_texts_are_filled_as_one_by_one(trained: Trained) -> None:
    filler, _, _ = trained
    texts = ["the cat now <mask> .", "<mask>", "the <mask> <mask> today moos .\nthe"]
    for alone, together in zip([filler(text) for text in texts], filler(texts), strict=True):
        assert alone.text == together.text
        assert alone.probability == pytest.approx(together.probability, abs=1e-5)


def test_the_folder_is_whole_and_is_an_encoder(trained: Trained) -> None:
    filler, folder, _ = trained
    assert task_of(folder) == "fill"
    config = json.loads((folder / "config.json").read_text())
    assert (config["kind"], config["head"], config["n_positions"]) == ("bert", "fill", 16)
    loaded = clearhead.load(folder)
    assert isinstance(loaded, Filler)
    text = "the bird here again <mask> ."
    assert loaded(text) == filler(text)
    with loaded.watch("encoder.blocks.0.self_attention.weights") as seen:
        watched = loaded(text)
    assert (watched.text, watched.source) == (filler(text).text, text)
    assert watched.probability == pytest.approx(filler(text).probability, abs=1e-5)
    value = seen.steps("encoder.blocks.0.self_attention.weights")[0]
    assert value.labels("key")[0] == "<bos>"
    page = (folder / "report.html").read_text()
    assert "<h1><span>Filling gaps</span>" in page
    assert "what the model holds likely" in page


def test_typed_marks_are_gaps_only_when_filling(trained: Trained) -> None:
    """The data may hold "<mask>" as text; it never becomes the token."""
    filler, _, _ = trained
    mask = filler.tokenizer.mask
    assert mask not in filler.tokenizer.encode("the <mask> dog")
    assert filler.tokens_of(filler.parts("the <mask> dog")).count(mask) == 1
    with pytest.raises(InputError, match="'the dog' has no gap: write <mask> where"):
        filler("the dog")
    with pytest.raises(InputError, match="has 43 tokens, and this model reads at most 16"):
        filler("the <mask>" + " now" * 39)
    with pytest.raises(ConfigError, match="n_best=0"):
        filler("the <mask>", n_best=0)


def test_a_run_that_was_stopped_ends_as_if_it_never_was(tmp_path: Path) -> None:
    texts = Texts([write_toy(tmp_path / "toy.txt", 400)])
    settings = {
        **SETTINGS, "training.n_steps": 24, "training.validate_every": 8, "model.dropout": 0.1,
        "training.precision": "float32",  # each run would choose its own by a trial
    }  # fmt: skip
    whole = train_filler(texts, tmp_path / "whole", settings=settings)

    def stop(kind: str, facts: dict[str, Any]) -> None:
        if kind == "validation" and facts["step"] == 16:
            raise Interrupted("enough")

    with pytest.raises(Interrupted):
        train_filler(texts, tmp_path / "parts", settings=settings, tell=stop)
    again: list[str] = []
    parts = train_filler(
        texts, tmp_path / "parts", settings=settings, tell=lambda kind, _: again.append(kind)
    )
    assert "resume" in again
    for name, weight in whole.model.state_dict().items():
        assert torch.equal(weight, parts.model.state_dict()[name]), name
    assert whole.card["scores"] == parts.card["scores"]
    with pytest.raises(InputError, match="asked for otherwise"):
        train_filler(texts, tmp_path / "parts", settings={**settings, "hidden": 0.25})


def test_going_on_from_another_folder(trained: Trained, tmp_path: Path) -> None:
    _, folder, _ = trained
    texts = Texts([write_toy(tmp_path / "more.txt", 400, seed=5)])
    settings = {"training.n_steps": 4, "training.validate_every": 4, "has_whole_words": True}
    before = load_folder(folder)
    filler = train_filler(texts, tmp_path / "on", start=folder, settings=settings)
    scores = {score["name"]: score["value"] for score in filler.card["scores"]}
    assert scores["accuracy of hidden tokens"] > scores["accuracy of the most frequent token"] + 30
    assert filler.model.config == before.model.config
    assert filler.tokenizer.encode("the cow moos") == before.tokenizer.encode("the cow moos")
    with pytest.raises(ConfigError, match="brings its size and vocabulary"):
        train_filler(texts, tmp_path / "off", start=folder, size="mini")
    with pytest.raises(InputError, match="is not a model folder"):
        train_filler(texts, tmp_path / "off", start=tmp_path / "nothing")
    assert not (tmp_path / "off").exists()


def test_from_the_command_line(trained: Trained, tmp_path: Path) -> None:
    _, folder, _ = trained
    run = CliRunner()
    text = "the cow here now <mask> ."
    filled = "the cow here now moos ."
    assert run.invoke(main, ["run", str(folder), text]).output == f"{filled}\n"
    piped = run.invoke(main, ["run", str(folder)], input=f"{text}\n\n{text}\n")
    assert piped.output == f"{filled}\n\n{filled}\n"
    best = run.invoke(main, ["run", str(folder), text, "--n-best", "3"]).output.splitlines()
    assert [line.split("\t")[0] for line in best] == ["1", "2", "3"]
    assert best[0].endswith(f"\t{filled}")
    data = json.loads(run.invoke(main, ["run", str(folder), text, "--json"]).output)
    assert (data["text"], data["source"]) == (filled, text)
    assert data["gaps"][0][0]["text"] == " moos"
    for arguments, told in {
        ("run", str(folder), text, "--beams", "3"): "--beams is for models that write, and this",
        ("run", str(folder), text, "--stream"): "--stream is for models that write",
        ("run", str(folder), "no gap"): "'no gap' has no gap: write <mask> where a word",
        ("look", str(folder), text, "--view", "tree"): "for the task fill has no view 'tree'",
        ("look", str(folder), text, "--word", "cow"): "--word is for models that write",
        ("look", str(folder), text, "--view", "heads", "--block", "0"): "give --head, too",
        ("look", str(folder), text, text): "this view shows one text, and 2 were given",
    }.items():
        wrong = run.invoke(main, list(arguments))
        assert wrong.exit_code != 0
        assert told in " ".join(wrong.output.split())
    second = run.invoke(main, ["run", str(folder)], input=f"{text}\nno gap\n")
    assert second.exit_code == 1
    assert "line 2: 'no gap' has no gap" in second.output
    views = {"gaps": "moos", "heads": "entropy", "layers": "block 0", "cost": "parameters"}
    for view, told in views.items():
        looked = run.invoke(main, ["look", str(folder), text, "--view", view])
        assert looked.exit_code == 0, looked.output
        assert told in looked.output
    one = ["look", str(folder), text, "--view", "heads", "--head", "1", "--block", "0"]
    run.invoke(main, [*one, "--out", str(tmp_path / "head.svg")])
    assert "block 0, head 1" in (tmp_path / "head.svg").read_text()
    assert "fill" in run.invoke(main, ["show", str(folder)]).output


def test_other_texts_are_scored_and_checked(trained: Trained, tmp_path: Path) -> None:
    _, folder, _ = trained
    file = write_toy(tmp_path / "more.txt", 400, seed=7)
    run = CliRunner()
    scored = json.loads(run.invoke(main, ["evaluate", str(folder), str(file), "--json"]).stdout)
    values = {score["name"]: score["value"] for score in scored["scores"]}
    assert values["accuracy of hidden tokens"] > values["accuracy of the most frequent token"] + 30
    assert "perplexity of counts of two tokens before" not in values
    assert scored["n_tokens"] > 2500
    checked = run.invoke(main, ["check", str(file), "--task", "fill"])
    assert "task: fill, as asked" in checked.output
    assert "task: generate" in run.invoke(main, ["check", str(file)]).output
    small = tmp_path / "small.txt"
    small.write_text("too little")
    refused = run.invoke(
        main, ["train", str(small), "--task", "fill", "--to", str(tmp_path / "no")]
    )
    assert refused.exit_code == 1
    assert "10 characters are too few to learn from" in refused.output
    assert not (tmp_path / "no").exists()


def test_plans_and_wrong_settings() -> None:
    plan, reasons = make_plan(FillFacts(1_000_000))
    assert (plan.tokenizer, plan.n_vocabulary, plan.context) == ("bpe", 7808, 128)
    assert plan.model.n_positions == 128
    assert (plan.hidden, plan.has_whole_words) == (0.15, False)
    assert any("of size mini" in reason for reason in reasons)
    assert make_plan(FillFacts(1_000_000), settings={"context": "64"})[0].model.n_positions == 64
    for settings, told in {
        ("context", 2): "context=2 must be above 2",
        ("hidden", 1.0): "hidden=1.0 must be above 0 and below 1",
        ("model.head", "span"): "fills no gaps",
        ("hiden", 1.0): "no setting 'hiden': did you mean hidden",
    }.items():
        with pytest.raises(ConfigError, match=told):
            make_plan(FillFacts(1_000_000), settings=dict([settings]))
    with pytest.raises(ConfigError, match="no size 'huge'"):
        make_plan(FillFacts(1_000_000), size="huge")
    short = make_plan(FillFacts(1_000_000), settings={"training.n_steps": 50})[0]
    assert smaller_size(short, "mini", FillFacts(1_000_000, n_batches=100)) == "tiny"
    assert smaller_size(short, "mini", FillFacts(1_000_000, n_batches=3)) is None


def test_only_a_model_that_fills_gaps_is_loaded(tmp_path: Path, trained: Trained) -> None:
    filler, _, _ = trained
    sizes = {"n_layers": 1, "d_model": 8, "d_ff": 8, "n_heads": 1}
    config = BertConfig(n_tokens=filler.tokenizer.n_tokens, head="classify", **cast(Any, sizes))
    from clearhead.tasks.folder import ModelFolder, save_folder

    save_folder(tmp_path / "m", ModelFolder(Bert(config), filler.tokenizer, {"task": "fill"}))
    with pytest.raises(InputError, match="holds no model that fills gaps"):
        Filler.load(tmp_path / "m")
