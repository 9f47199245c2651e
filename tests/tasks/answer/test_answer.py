"""From questions on texts to a model that answers them: learned, resumed, run, looked at."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner

import clearhead
from clearhead.cli import main
from clearhead.config import BertConfig, LlamaConfig
from clearhead.data.questions import Questions
from clearhead.errors import ConfigError, InputError
from clearhead.models import Bert, Llama
from clearhead.tasks.answer.answerer import Answerer
from clearhead.tasks.answer.corpus import survey_questions
from clearhead.tasks.answer.plan import QuestionFacts, make_plan
from clearhead.tasks.answer.train import train_answerer
from clearhead.tasks.encoder import open_encoder, put_body
from clearhead.tasks.folder import ModelFolder, save_folder, task_of
from clearhead.text import Tokenizer
from clearhead.training import Interrupted
from tests.tasks.answer.jobs import SETTINGS, toy_questions, write_squad

CONTEXT = "Bob is a judge. Anna is a baker. Dev is a poet."
QUESTION = "What is the work of Anna?"
Trained = tuple[Answerer, Path]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    folder = tmp_path_factory.mktemp("answer")
    path = write_squad(folder / "work.json", toy_questions(120, share_without=0.8))
    return train_answerer(Questions([path]), folder / "model", settings=SETTINGS), folder / "model"


def test_a_toy_is_learned(trained: Trained) -> None:
    answerer, _ = trained
    scores = {score["name"]: score["value"] for score in answerer.card["scores"]}
    assert scores["exact match where there is an answer"] > 95 > scores["F1 of word overlap"] + 30
    assert scores["right refusals"] > 90
    answer = answerer(QUESTION, CONTEXT, n_best=3)
    assert (answer.text, CONTEXT[answer.start : answer.end]) == ("baker", "baker")
    assert answer.is_found
    assert len(answer.others) == 2
    assert answer.probability > 0.5 > answer.others[0].probability >= answer.others[1].probability
    none = answerer("What is the work of Hugo?", CONTEXT)
    assert (none.text, none.is_found) == ("", False)


def test_long_contexts_are_read_in_windows(trained: Trained) -> None:
    """The answer is found wherever it stands, and many questions get what each gets alone."""
    answerer, _ = trained
    others = "Jon is a clerk. Karl is a miner. " * 12
    pairs = [(QUESTION, others + CONTEXT), (QUESTION, CONTEXT + " " + others), (QUESTION, CONTEXT)]
    together = answerer(pairs)
    assert [answer.text for answer in together] == ["baker"] * 3
    assert together[0].start == len(others) + CONTEXT.index("baker")
    for pair, answer in zip(pairs, together, strict=True):
        alone = answerer(*pair)
        assert (alone.text, alone.start) == (answer.text, answer.start)
        assert alone.probability == pytest.approx(answer.probability, abs=1e-4)


def test_the_folder_is_whole_and_loads(trained: Trained) -> None:
    answerer, folder = trained
    assert task_of(folder) == "answer"
    loaded = clearhead.load(folder)
    assert isinstance(loaded, Answerer)
    assert loaded(QUESTION, CONTEXT) == answerer(QUESTION, CONTEXT)
    page = (folder / "report.html").read_text()
    assert "<h1><span>Answering questions</span>" in page
    assert "Some answers" in page
    with loaded.watch("encoder.blocks.0.self_attention.weights", "output.logits") as seen:
        watched = loaded(QUESTION, CONTEXT)
    plain = answerer(QUESTION, CONTEXT)
    assert (watched.text, watched.start) == (plain.text, plain.start)
    assert watched.probability == pytest.approx(plain.probability, abs=1e-6)
    assert seen.steps("output.logits")[0].shape[-1] == 2


def test_a_run_that_was_stopped_goes_on_bit_by_bit(tmp_path: Path) -> None:
    questions = Questions([write_squad(tmp_path / "work.json", toy_questions(60))])
    settings = {**SETTINGS, "training.n_steps": 8, "training.validate_every": 4}
    settings["training.precision"] = "float32"  # each run would choose its own by a trial
    whole = train_answerer(questions, tmp_path / "whole", settings=settings)

    def stop(kind: str, facts: dict[str, Any]) -> None:
        if kind == "step" and facts["step"] == 5:
            raise Interrupted("enough")

    with pytest.raises(Interrupted):
        train_answerer(questions, tmp_path / "parts", settings=settings, tell=stop)
    told: list[str] = []
    parts = train_answerer(
        questions, tmp_path / "parts", settings=settings, tell=lambda kind, _: told.append(kind)
    )
    assert "resume" in told
    for (name, one), two in zip(
        whole.model.named_parameters(), parts.model.parameters(), strict=True
    ):
        assert torch.equal(one, two), name
    with pytest.raises(InputError, match="asked for otherwise"):
        train_answerer(questions, tmp_path / "parts", settings={**settings, "training.seed": 3})
    other = Questions([write_squad(tmp_path / "other.json", toy_questions(60, seed=1))])
    with pytest.raises(InputError, match="a run on other data"):
        train_answerer(other, tmp_path / "parts", settings=settings)


def test_no_context_is_on_two_sides(tmp_path: Path) -> None:
    data = toy_questions(80)
    data["data"].append({"paragraphs": [
        {**part, "context": part["context"].replace(" ", "  ")} for part in
        json.loads(json.dumps(data["data"][0]["paragraphs"]))
    ]})  # fmt: skip
    corpus = survey_questions(
        Questions([write_squad(tmp_path / "a.json", data)]), None, None, lambda *_: None
    )
    sides = [
        {" ".join(each.context.split()) for each in side}
        for side in (corpus.train, corpus.validation, corpus.test)
    ]
    assert all(sides)
    assert not sides[0] & (sides[1] | sides[2])
    assert not sides[1] & sides[2]
    assert corpus.report.n_kept == sum(map(len, (corpus.train, corpus.validation, corpus.test)))
    one = toy_questions(1)
    one["data"][0]["paragraphs"][0]["qas"] *= 40
    for n, qa in enumerate(one["data"][0]["paragraphs"][0]["qas"]):
        one["data"][0]["paragraphs"][0]["qas"][n] = {**qa, "question": f"Number {n}?"}
    with pytest.raises(InputError, match="1 different contexts leave none for"):
        survey_questions(
            Questions([write_squad(tmp_path / "b.json", one)]), None, None, lambda *_: None
        )


def encoder_folder(path: Path, **changes: Any) -> Path:
    tokenizer = Tokenizer.train(
        ["What is the work of Anna? Anna is a baker, Bob is a judge."], "char"
    )
    sizes = {"n_layers": 1, "d_model": 16, "d_ff": 32, "n_heads": 2, "n_positions": 200}
    config = BertConfig(n_tokens=tokenizer.n_tokens, **{**sizes, "head": "none", **changes})
    save_folder(path, ModelFolder(Bert(config), tokenizer, {"task": "encode"}))
    return path


def test_a_trained_encoder_is_the_beginning(tmp_path: Path) -> None:
    start = encoder_folder(tmp_path / "encoder")
    questions = Questions([write_squad(tmp_path / "work.json", toy_questions(60))])
    settings = {"training.n_steps": 4, "is_body_trained": "false", "n_batch_tokens": 2048}
    answerer = train_answerer(questions, tmp_path / "model", settings=settings, start=start)
    body = dict(open_encoder(start).folder.model().named_parameters())
    changed = [
        name for name, parameter in answerer.model.named_parameters()
        if name not in body or not torch.equal(parameter, body[name])
    ]  # fmt: skip
    assert changed == ["output.w.weight", "output.w.bias"]
    assert answerer.card["plan"]["reading"]["n_window"] == 200
    assert answerer.card["began_with"] == str(start)
    trained = train_answerer(
        questions, tmp_path / "both", settings={"training.n_steps": 2}, start=start
    )
    weight = trained.model.embedding.weight
    assert not torch.equal(weight, body["embedding.weight"])
    # A head of the same kind is taken over.
    again = Bert(open_encoder(tmp_path / "both").config_for("span"))
    put_body(again, open_encoder(tmp_path / "both"))
    weights = [dict(m.named_parameters())["output.w.weight"] for m in (again, trained.model)]
    assert torch.equal(*weights)
    other = encoder_folder(tmp_path / "other")
    with pytest.raises(InputError, match="a run on other data"):
        train_answerer(questions, tmp_path / "model", settings=settings, start=other)


def test_what_is_no_beginning_is_refused(tmp_path: Path) -> None:
    questions = Questions([write_squad(tmp_path / "work.json", toy_questions(60))])
    start = encoder_folder(tmp_path / "encoder")
    tokenizer = Tokenizer.train(["abc"], "char")
    llama = Llama(LlamaConfig(
        n_tokens=tokenizer.n_tokens, n_layers=1, d_model=8, d_ff=16, n_heads=2
    ))  # fmt: skip
    save_folder(tmp_path / "llama", ModelFolder(llama, tokenizer, {"task": "generate"}))

    def begin(**options: Any) -> None:
        train_answerer(questions, tmp_path / "model", **options)

    with pytest.raises(InputError, match="this is a Llama, and an encoder is needed"):
        begin(start=tmp_path / "llama")
    with pytest.raises(ConfigError, match=r"--size tiny: the model in .* has its size"):
        begin(start=start, size="tiny")
    with pytest.raises(ConfigError, match=r"--set model\.d_model: the model"):
        begin(start=start, settings={"model.d_model": 32})
    with pytest.raises(ConfigError, match=r"model\.n_segments=2 is too small"):
        begin(start=start, settings={"reading.n_hints": 2})
    with pytest.raises(ConfigError, match=r"no setting 'reading\.n_windw'|no setting 'n_windw'"):
        begin(settings={"reading.n_windw": 32})
    with pytest.raises(InputError, match="holds no model that answers questions"):
        Answerer.load(start)
    assert not (tmp_path / "model").exists()


def test_plans_say_what_to_expect() -> None:
    plan, reasons = make_plan(QuestionFacts(7000, 2_000_000))
    assert (plan.model.head, plan.model.n_segments) == ("span", plan.reading.n_segments)
    assert any("little of a language" in reason for reason in reasons)
    large, reasons = make_plan(QuestionFacts(100_000, 20_000_000))
    assert large.model.d_model > plan.model.d_model
    assert any("can fill a model" in reason for reason in reasons)
    with pytest.raises(ConfigError, match="no size 'huge'"):
        make_plan(QuestionFacts(7000, 2_000_000), size="huge")
    with pytest.raises(ConfigError, match="must be span"):
        make_plan(QuestionFacts(7000, 2_000_000), settings={"model.head": "fill"})


def test_bad_questions_are_refused_in_one_sentence(trained: Trained) -> None:
    answerer, _ = trained
    for question, context in ((" ", CONTEXT), (QUESTION, "\n")):
        with pytest.raises(InputError, match="need at least one word"):
            answerer(question, context)
    with pytest.raises(InputError, match="a question needs a text"):
        answerer(QUESTION)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="n_best=0 must be"):
        answerer(QUESTION, CONTEXT, n_best=0)


def test_from_the_command_line(trained: Trained, tmp_path: Path) -> None:
    _, folder = trained
    run = CliRunner()
    answer, probability = run.invoke(main, ["run", str(folder), QUESTION, CONTEXT]).output.split()
    assert answer == "baker"
    assert 0.5 < float(probability) <= 1
    piped = run.invoke(main, ["run", str(folder)], input=f"{QUESTION}\t{CONTEXT}\n\n")
    assert piped.output == f"baker\t{probability}\n\n"
    best = run.invoke(main, ["run", str(folder), QUESTION, CONTEXT, "--n-best", "2"]).output
    assert best.splitlines()[0].startswith("1\tbaker\t")
    assert len(best.splitlines()) == 2
    out = run.invoke(main, ["run", str(folder), QUESTION, CONTEXT, "--json", "--n-best", "2"])
    data = json.loads(out.output)
    assert CONTEXT[data["start"] : data["end"]] == data["answer"] == "baker"
    assert len(data["others"]) == 1
    for arguments, told in (
        ([QUESTION], "give QUESTION CONTEXT, and not 1 texts"),
        ([QUESTION, CONTEXT, "--beams", "3"], "--beams is for models that write"),
        ([QUESTION, CONTEXT, "--precision", "int8"], "take float32"),
    ):
        refused = run.invoke(main, ["run", str(folder), *arguments])
        assert refused.exit_code != 0
        assert told in refused.output
    broken = run.invoke(main, ["run", str(folder)], input="no tab here\n")
    assert broken.exit_code == 1
    assert "line 1 has no question and text" in broken.output
    shown = run.invoke(main, ["show", str(folder)]).output
    assert "questions read" in shown
    path = write_squad(tmp_path / "more.json", toy_questions(10, seed=7))
    scored = run.invoke(main, ["evaluate", str(folder), str(path), "--json"])
    found = json.loads(scored.stdout)
    assert found["n_questions"] == sum(1 for _ in Questions([path]))
    assert {score["name"]: score["value"] for score in found["scores"]}["F1"] > 90
    checked = run.invoke(main, ["check", str(path)])
    assert checked.exit_code == 1
    assert "questions are too few to learn from: give at least 100" in checked.output
    columns = run.invoke(main, ["check", str(path), "--task", "answer", "--columns", "a,b"])
    assert "--columns is for pairs" in columns.output


def test_looking_inside(trained: Trained, tmp_path: Path) -> None:
    _, folder = trained
    run = CliRunner()
    span = run.invoke(main, ["look", str(folder), QUESTION, CONTEXT])
    assert "Answer: “baker”" in span.output
    assert "⟦baker⟧" in span.output
    out = tmp_path / "span.json"
    run.invoke(main, ["look", str(folder), QUESTION, CONTEXT, "--out", str(out)])
    data = json.loads(out.read_text())
    assert sum(data["starts"]) + data["refusal"] == pytest.approx(1)
    assert data["tokens"][data["span"][0]] == "baker"
    picture = tmp_path / "span.svg"
    assert run.invoke(
        main, ["look", str(folder), QUESTION, "<b>Anna</b> is a baker.", "--out", str(picture)]
    ).exit_code == 0  # fmt: skip
    assert "<b>" not in picture.read_text()
    refused = run.invoke(main, ["look", str(folder), "What is the work of Hugo?", CONTEXT])
    assert "Answer: no answer" in refused.output
    heads = run.invoke(main, ["look", str(folder), QUESTION, CONTEXT, "--view", "heads"])
    assert "entropy" in heads.output
    one = [QUESTION, CONTEXT, "--view", "heads", "--block", "1", "--head", "0"]
    assert "One head: encoder, block 1" in run.invoke(main, ["look", str(folder), *one]).output
    cost = run.invoke(main, ["look", str(folder), QUESTION, CONTEXT, "--view", "cost"])
    assert "encoder.blocks.1" in cost.output
    for arguments, told, code in (
        ([QUESTION], "give QUESTION CONTEXT, and not 1 text", 1),
        ([QUESTION, CONTEXT, "--target", "x"], "--target is for models that write", 2),
        ([QUESTION, CONTEXT, "--view", "align"], "has no view 'align'", 1),
    ):
        wrong = run.invoke(main, ["look", str(folder), *arguments])
        assert wrong.exit_code == code
        assert told in wrong.output
