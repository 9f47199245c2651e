"""From texts with summaries to a model that writes them: toys that are learned, resumed and run."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner

import clearhead
from clearhead.cli import main
from clearhead.config import T5Config
from clearhead.data import Pair
from clearhead.data.summaries import open_summaries
from clearhead.errors import ConfigError, InputError
from clearhead.models import T5, Transformer, TransformerConfig
from clearhead.tasks.folder import ModelFolder, save_folder, task_of
from clearhead.tasks.plan import Facts, make_plan
from clearhead.tasks.summarise.evaluate import evaluate_summaries, lead_sentence
from clearhead.tasks.summarise.plan import make_summary_plan
from clearhead.tasks.summarise.summariser import Summariser
from clearhead.tasks.summarise.train import train_summariser
from clearhead.tasks.translation import find_flags
from clearhead.text import Tokenizer
from clearhead.training import Interrupted

pytestmark = pytest.mark.usefixtures("unchecked")

NAMES = ["anna", "omar", "lena", "ivan", "mira", "juan", "sofia", "pavel", "noor", "hugo"]
THINGS = ["lamp", "ring", "coat", "boat", "drum", "kite", "vase", "sled", "harp", "bell"]
FILLER = ["The day was long.", "Nobody spoke.", "Rain fell again.", "The street was empty."]
SETTINGS: dict[str, Any] = {
    "model.n_encoder_layers": 1, "model.n_decoder_layers": 1, "model.block.d_model": 64,
    "model.block.d_ff": 128, "model.block.n_heads": 2, "model.block.dropout": 0.0,
    "tokenizer": "word", "n_batch_tokens": 1024, "smoothing": 0.0, "training.n_steps": 250,
    "training.validate_every": 125, "training.lr": 0.01, "training.warm_up": 20,
    "training.average": 0.0,
}  # fmt: skip
FEW_STEPS = {
    **SETTINGS, "training.n_steps": 6, "training.validate_every": 3,
    "training.precision": "float32",  # each run would choose its own by a trial
}  # fmt: skip


def story(seed: int) -> tuple[str, str]:
    """The one sentence that says who bought what stands behind others."""
    chosen = random.Random(seed)
    name, thing = chosen.choice(NAMES), chosen.choice(THINGS)
    before = [chosen.choice(FILLER) for _ in range(chosen.randint(1, 3))]
    after = [chosen.choice(FILLER) for _ in range(2)]
    text = " ".join([*before, f"Then {name} bought a {thing} at the market .", *after])
    return text, f"{name} has a {thing}"


def write(path: Path, n_stories: int) -> Path:
    rows = [("text", "summary"), *(story(n) for n in range(n_stories))]
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("stories") / "stories.tsv", 800)


@pytest.fixture(scope="module")
def folder(data: Path) -> Path:
    told: list[str] = []
    train_summariser(
        open_summaries([data]),
        data.parent / "model",
        settings=SETTINGS,
        tell=lambda kind, facts: told.append(facts.get("told") or kind),
    )
    assert any(line.startswith("ROUGE-L ") for line in told)
    return data.parent / "model"


def test_a_toy_is_learned_better_than_the_lead(folder: Path) -> None:
    card = json.loads((folder / "card.json").read_text())
    scores = {score["name"]: score["value"] for score in card["scores"]}
    assert scores["ROUGE-L"] > 90
    assert scores["ROUGE-L"] > scores["ROUGE-L of the first 4 words"]
    assert scores["ROUGE-1 of the whole text"] > scores["ROUGE-1 of the lead sentence"]
    assert card["task"] == "summarise"
    assert "languages" not in card
    assert card["plan"]["max_source"] == 512
    page = (folder / "report.html").read_text()
    assert "<h1><span>Summariser</span>" in page
    assert "higher than the lead sentence" in page


def test_it_is_called_like_any_model(folder: Path) -> None:
    assert task_of(folder) == "summarise"
    model = clearhead.load(folder)
    assert isinstance(model, Summariser)
    texts = [story(5000)[0], "", story(5001)[0]]
    answers = model(texts)
    assert [answer.text for answer in answers] == [story(5000)[1], "", story(5001)[1]]
    assert model(texts[0]).text == answers[0].text
    assert "".join(model.stream(texts[0])) == answers[0].text
    with model.watch("decoder.blocks.0.cross_attention.weights") as seen:
        assert model(texts[0], n_beams=1).text == answers[0].text
    assert seen.steps("decoder.blocks.0.cross_attention.weights")


def test_the_same_command_goes_on(tmp_path: Path) -> None:
    def stop(kind: str, facts: dict[str, Any]) -> None:
        if kind == "validation":
            raise Interrupted("enough for today")

    pairs = open_summaries([write(tmp_path / "stories.tsv", 160)])
    whole = train_summariser(pairs, tmp_path / "whole", settings=FEW_STEPS)
    with pytest.raises(Interrupted):
        train_summariser(pairs, tmp_path / "parts", settings=FEW_STEPS, tell=stop)
    assert not (tmp_path / "parts" / "card.json").exists()
    parts = train_summariser(pairs, tmp_path / "parts", settings=FEW_STEPS)
    for name, value in whole.model.state_dict().items():
        assert torch.equal(value, parts.model.state_dict()[name]), name
    with pytest.raises(InputError, match="asked for otherwise"):
        train_summariser(pairs, tmp_path / "parts", settings={**FEW_STEPS, "max_source": 9})


def random_summariser(longest: int) -> Summariser:
    torch.manual_seed(0)
    tokenizer = Tokenizer.train([" ".join([*NAMES, *THINGS, *FILLER])], "word", 200)
    sizes = {"n_encoder_layers": 1, "n_decoder_layers": 1}
    model = Transformer(TransformerConfig.preset("tiny", tokenizer.n_tokens, **sizes))
    lengths = {"longest": longest, "target": 8}
    return Summariser(model, tokenizer, {"data": {"lengths": lengths}})


def test_a_long_text_is_cut_and_flagged() -> None:
    """What stands behind the longest length changes nothing, and is told of."""
    model = random_summariser(longest=4)
    short, long = model(["anna omar lena ivan", "anna omar lena ivan mira juan"])
    assert (long.text, long.log_probs) == (short.text, short.log_probs)
    assert (short.n_unread, long.n_unread) == (0, 2)
    cut = "The text was cut: its last 2 tokens are more than the model reads."
    assert cut in long.flags
    assert cut not in short.flags
    assert not long.sentences
    stream = model.stream("anna omar lena ivan mira juan")
    list(stream)
    assert cut in stream.flags


def test_lines_and_sentences_stay_together() -> None:
    model = random_summariser(longest=50)
    text = "Nobody spoke.\nRain fell again.\n\nThe day was long."
    assert model(text).text == model(" ".join(text.split())).text
    assert not model(text).sentences


def test_lengths_come_from_the_summaries_and_not_from_the_text() -> None:
    model = random_summariser(longest=50)
    longest = 8 + 8 // 4 + 1
    assert len(model("anna " * 40).tokens) <= longest
    assert len(model("anna " * 40, max_length=3).tokens) <= 3
    assert len(model("anna", min_length=20).tokens) >= 20
    with pytest.raises(ConfigError, match="no setting 'max_source'"):
        model("anna", max_source=3)


def test_a_summary_may_leave_out_but_not_add() -> None:
    text = "Then anna bought a lamp at the market . It cost 45000 of 99000 ."
    assert find_flags(text, "anna has a lamp", True, (), 0) == ()
    assert find_flags(text, text, True, (), 0) == ()
    added = ("The answer has the number 77000, which the source lacks.",)
    assert find_flags(text, "a lamp for 77000", True, (), 0) == added
    assert len(find_flags(text, "a lamp", True)) == 2  # a translation must keep both


def test_baselines_by_hand() -> None:
    class Silent(Summariser):
        def __call__(self, text: Any, **settings: Any) -> Any:
            return [super(Silent, self).__call__("") for _ in text]

    silent = random_summariser(9)
    silent.__class__ = Silent
    pairs = [
        Pair(1, "Old men read books. They sleep at noon.", "old men read"),
        Pair(2, "Big dogs run. Small cats sit.", "sit cats small"),
    ]
    found = {score.name: score.value for score in evaluate_summaries(silent, pairs).scores}
    assert found["ROUGE-1"] == 0
    assert found["ROUGE-1 of the lead sentence"] == pytest.approx(100 * (6 / 7 + 0) / 2)
    assert found["ROUGE-1 of the first 3 words"] == pytest.approx(50)
    assert found["ROUGE-1 of the whole text"] == pytest.approx(100 * (6 / 11 + 6 / 9) / 2)
    assert found["ROUGE-L of the whole text"] == pytest.approx(100 * (6 / 11 + 2 / 9) / 2)
    assert lead_sentence("no end") == "no end"


def test_plans_and_wrong_settings() -> None:
    facts = Facts(2000, 2_200_000)
    plan, reasons = make_summary_plan(facts)
    assert (plan.max_source, plan.n_batch_tokens) == (512, 4096)
    assert plan.n_vocabulary > make_plan(facts)[0].n_vocabulary
    assert any("the first 512 tokens are read" in reason for reason in reasons)
    other, fewer = make_summary_plan(facts, settings={"max_source": "100"})
    assert other.max_source == 100
    assert not any("512" in reason for reason in fewer)
    for settings, message in (
        ({"max_source": 0}, "max_source=0 must be at least 1"),
        ({"model.positions": "learned", "max_source": 1024}, r"model\.max_length=1024: raise it"),
        ({"max_sorce": 3}, "did you mean max_source"),
    ):
        with pytest.raises(ConfigError, match=message):
            make_summary_plan(facts, settings=settings)
    with pytest.raises(ConfigError, match="no setting 'max_source'"):
        make_plan(facts, settings={"max_source": 3})


def test_from_the_command_line(folder: Path, data: Path, tmp_path: Path) -> None:
    run = CliRunner()
    text, summary = story(6000)
    assert run.invoke(main, ["run", str(folder), text]).stdout == f"{summary}\n"
    piped = run.invoke(main, ["run", str(folder)], input=f"{text}\n\n{text}\n")
    assert piped.stdout == f"{summary}\n\n{summary}\n"
    as_json = json.loads(run.invoke(main, ["run", str(folder), text, "--json"]).stdout)
    assert as_json["text"] == summary
    refused = run.invoke(main, ["run", str(folder), text, "--glossary", "terms.tsv"])
    assert refused.exit_code == 2
    assert "--glossary is for translations, and this model summarises texts" in refused.output
    cut = run.invoke(main, ["run", str(folder), " ".join([text] * 9), "--flags"])
    assert "The text was cut" in cut.stderr
    scored = run.invoke(main, ["evaluate", str(folder), str(data), "--beams", "1"])
    assert "ROUGE-2 of the lead sentence" in scored.stdout
    assert "The model scores higher than the lead sentence" in scored.stdout
    checked = run.invoke(main, ["check", str(data)])
    assert checked.exit_code == 0
    assert "summarise" in run.invoke(main, ["show", str(folder)]).stdout
    few = tmp_path / "few.tsv"
    few.write_text("text\tsummary\nOne. Two.\tOne.\n")
    bad = run.invoke(main, ["train", str(few), "--to", str(tmp_path / "none")])
    assert bad.exit_code == 1
    assert "only 1 distinct pairs remain" in bad.output
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("view", ["align", "heads", "tree", "steps", "layers", "cost"])
def test_every_view_of_a_long_text(folder: Path, tmp_path: Path, view: str) -> None:
    out = tmp_path / "view.json"
    text = " ".join(story(n)[0] for n in range(4))
    shown = CliRunner().invoke(
        main, ["look", str(folder), text, "--view", view, "--beams", "2", "--out", str(out)]
    )
    assert shown.exit_code == 0, shown.output
    longest = Summariser.load(folder).max_source
    if view == "align":
        assert 10 < len(json.loads(out.read_text())["columns"]) <= longest + 1


def test_a_t5_summarises_too(tmp_path: Path) -> None:
    """Its card says nothing of lengths; views that need a Transformer say so."""
    tokenizer = Tokenizer.train([" ".join(FILLER)], "char")
    torch.manual_seed(0)
    config = T5Config.preset("tiny", tokenizer.n_tokens, n_encoder_layers=1, n_decoder_layers=1)
    save_folder(tmp_path, ModelFolder(T5(config), tokenizer, {"task": "summarise"}))
    model = clearhead.load(tmp_path)
    assert isinstance(model, Summariser)
    assert model.max_source == 512
    assert model("Nobody spoke. " * 50, max_length=3).n_unread == 50 * 14 - 1 - 512
    run = CliRunner()
    look = ["look", str(tmp_path), "Rain fell.", "--target", "Rain", "--view"]
    assert run.invoke(main, [*look, "align"]).exit_code == 0
    refused = run.invoke(main, [*look, "cost"])
    assert refused.exit_code == 1
    assert "the view cost knows the Transformer" in refused.output
