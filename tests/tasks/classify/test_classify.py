"""From texts with labels to a classifier: toys are learned, resumed, scored, run and looked at."""

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import clearhead
from clearhead.cli import main
from clearhead.data.labelled import Example, LabelledTexts
from clearhead.errors import ConfigError, InputError
from clearhead.models import Bert, BertConfig
from clearhead.observe.attribution import integrated_gradients
from clearhead.observe.reading import Reading
from clearhead.tasks.classify.classifier import Classifier
from clearhead.tasks.classify.corpus import hold_out
from clearhead.tasks.classify.evaluate import baselines, confuse
from clearhead.tasks.classify.plan import LabelFacts, make_plan
from clearhead.tasks.classify.train import train_classifier
from clearhead.tasks.folder import ModelFolder, load_folder, save_folder, task_of
from clearhead.text import Tokenizer
from clearhead.training import Interrupted

SETTINGS: dict[str, Any] = {
    "model.n_layers": 1, "model.d_model": 32, "model.d_ff": 64, "model.n_heads": 2,
    "model.dropout": 0.1, "n_batch_tokens": 512, "training.n_steps": 300,
    "training.validate_every": 100, "training.lr": 0.01,
}  # fmt: skip
GOOD, BAD = ("fine", "charming", "lovely", "warm"), ("dull", "slow", "awful", "cold")
THINGS = ("film", "play", "book", "song", "tale", "show")


def toy(path: Path, n: int = 1500) -> Path:
    """Whether a thing is good: the word that says it stands anywhere, and `not` turns it."""
    drawn = random.Random(0)
    lines = ["text\tlabel"]
    for number in range(n):
        is_good, is_turned = drawn.random() < 0.5, drawn.random() < 0.3
        word = drawn.choice(GOOD if is_good != is_turned else BAD)
        parts = [f"the {drawn.choice(THINGS)} of {drawn.choice(THINGS)} number {number}"]
        parts.insert(drawn.randrange(2), f"it is {'not ' * is_turned}{word}")
        lines.append(f"{' and '.join(parts)}\t{'good' if is_good else 'bad'}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Classifier, Path, list[str]]:
    folder = tmp_path_factory.mktemp("labels")
    told: list[str] = []
    classifier = train_classifier(
        LabelledTexts([toy(folder / "reviews.tsv")]),
        folder / "model",
        settings=dict(SETTINGS),
        tell=lambda kind, facts: told.append(kind),
    )
    return classifier, folder / "model", told


def test_a_toy_is_learned(trained: tuple[Classifier, Path, list[str]]) -> None:
    classifier, _, told = trained
    scores = {score["name"]: score["value"] for score in classifier.card["scores"]}
    assert scores["accuracy"] > 95
    assert scores["macro-F1"] > 95
    assert scores["accuracy of the most frequent label"] < 65
    assert "accuracy of counting words" in scores
    answer = classifier("the book of film number 7 and it is not awful")
    assert answer.label == "good"
    assert answer.probability == max(answer.probabilities.values())
    assert math.isclose(sum(answer.probabilities.values()), 1, abs_tol=1e-5)
    assert list(dict.fromkeys(told)) == [
        "report", "tokenizer", "probe", "plan", "step", "validation", "end", "scores",
    ]  # fmt: skip


def test_parts_of_words_are_for_learning_only(
    trained: tuple[Classifier, Path, list[str]],
) -> None:
    """The model that is written has a plain table of vectors."""
    classifier, folder, _ = trained
    assert classifier.card["plan"]["is_spelled"]
    names = dict(load_folder(folder).model.named_parameters())
    assert [name for name in names if name.startswith("embedding.")] == ["embedding.weight"]
    assert classifier.card["n_parameters"] == sum(p.numel() for p in names.values())


def test_many_texts_are_labelled_as_one_by_one(
    trained: tuple[Classifier, Path, list[str]],
) -> None:
    classifier, _, _ = trained
    texts = ["it is fine", "it is dull and the film of song number 3 and more and more", "dull"]
    together = classifier(texts)
    for text, answer in zip(texts, together, strict=True):
        alone = classifier(text)
        assert (alone.text, alone.label) == (answer.text, answer.label)
        assert math.isclose(alone.probability, answer.probability, abs_tol=1e-5)
    assert classifier([]) == []
    with pytest.raises(InputError, match="a blank text has no label"):
        classifier(" ")
    cut = classifier("COLD " * (classifier.reader.context - 2))  # capitals do not count here
    assert classifier("cold " * 900).probabilities == cut.probabilities


def test_the_folder_is_whole_and_loads(trained: tuple[Classifier, Path, list[str]]) -> None:
    classifier, folder, _ = trained
    assert task_of(folder) == "classify"
    loaded = clearhead.load(folder)
    assert isinstance(loaded, Classifier)
    assert loaded.labels == ["bad", "good"]
    assert loaded("it is warm") == classifier("it is warm")
    page = (folder / "report.html").read_text()
    assert "<h1><span>Classifier</span>" in page
    assert "Which label was taken for which" in page
    assert "nats per text" in page
    assert "texts per second" in page
    with pytest.raises(InputError, match="models of kind bert"):
        Classifier.load(folder, "int8")


def test_it_can_be_watched(trained: tuple[Classifier, Path, list[str]]) -> None:
    classifier, _, _ = trained
    plain = classifier("it is warm")
    with classifier.watch("encoder.blocks.0.self_attention.weights") as seen:
        watched = classifier("it is warm")
    assert watched.probabilities == pytest.approx(plain.probabilities, abs=1e-6)
    (value,) = seen.steps("encoder.blocks.0.self_attention.weights")
    assert value.shape[-2:] == (5, 5)


def test_a_run_that_was_stopped_ends_as_one_that_was_not(tmp_path: Path) -> None:
    data = toy(tmp_path / "a.tsv", 200)
    settings = {**SETTINGS, "training.n_steps": 12, "training.validate_every": 4}
    settings["training.precision"] = "float32"  # each run would choose its own by a trial

    def run(to: str, tell: Any = lambda *_: None) -> dict[str, torch.Tensor]:
        train_classifier(LabelledTexts([data]), tmp_path / to, settings=dict(settings), tell=tell)
        return dict(load_folder(tmp_path / to).model.named_parameters())

    whole = run("whole")

    def stop(kind: str, facts: dict[str, Any]) -> None:
        if kind == "step" and facts["step"] == 6:
            import os
            import signal

            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Interrupted):
        run("stopped", stop)
    told: list[str] = []
    again = run("stopped", lambda kind, _: told.append(kind))
    assert "resume" in told
    assert all(torch.equal(whole[name], again[name]) for name in whole)
    settings["word_dropout"] = 0.3
    with pytest.raises(InputError, match="asked for otherwise"):
        run("stopped")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of others, as `clearhead convert` writes it, with random weights."""
    folder = tmp_path_factory.mktemp("encoder")
    tokenizer = Tokenizer.train([" ".join((*GOOD, *BAD, *THINGS, "it is not and the of"))], "word")
    torch.manual_seed(0)
    model = Bert(
        BertConfig(n_tokens=tokenizer.n_tokens, n_layers=1, d_model=32, d_ff=64, n_heads=2,
                   n_positions=40, head="none")
    )  # fmt: skip
    save_folder(folder / "bert", ModelFolder(model, tokenizer, {"task": "encode"}))
    return folder / "bert"


@pytest.mark.parametrize("is_body_trained", [True, False])
def test_a_given_model_is_taken_over(encoder: Path, tmp_path: Path, is_body_trained: bool) -> None:
    settings = {
        "is_body_trained": str(is_body_trained), "training.n_steps": 10,
        "training.validate_every": 5, "training.average": 0.0,
    }  # fmt: skip
    found = train_classifier(
        LabelledTexts([toy(tmp_path / "a.tsv", 200)]),
        tmp_path / "model",
        start=encoder,
        settings=settings,
    )
    given = load_folder(encoder)
    assert found.tokenizer.tokens(range(9)) == given.tokenizer.tokens(range(9))
    assert found.model.config.pooling == "mean"
    assert found.reader.context == 32
    body = dict(given.model.named_parameters())
    own = {name: p for name, p in found.model.named_parameters() if name in body}
    assert len(own) > 10
    far = [float((p - body[name]).detach().abs().max()) for name, p in own.items()]
    assert (max(far) > 0) == is_body_trained
    assert torch.equal(own["embedding.weight"], body["embedding.weight"])
    assert max(far) < 0.01 if is_body_trained else max(far) == 0
    assert found.card["plan"]["training"]["lr"] == (5e-4 if is_body_trained else 3e-3)


def test_what_does_not_fit_a_given_model_is_refused(
    encoder: Path, trained: tuple[Classifier, Path, list[str]], tmp_path: Path
) -> None:
    data = LabelledTexts([toy(tmp_path / "a.tsv", 100)])
    for settings, told in (
        ({"n_vocabulary": 900}, "n_vocabulary is that of the model given with --from"),
        ({"model.n_layers": 3}, "model.n_layers is that of the model given"),
        ({"context": 99}, "context=99 must be from 3 to the 40 positions"),
    ):
        with pytest.raises(ConfigError, match=told):
            train_classifier(data, tmp_path / "model", start=encoder, settings=settings)
    with pytest.raises(ConfigError, match="has a size already"):
        train_classifier(data, tmp_path / "model", start=encoder, size="tiny")
    with pytest.raises(ConfigError, match="is_body_trained is for a model that is given"):
        train_classifier(data, tmp_path / "model", settings={"is_body_trained": False})
    with pytest.raises(InputError, match="is not a model folder"):
        train_classifier(data, tmp_path / "model", start=tmp_path / "nothing")
    assert not (tmp_path / "model").exists()
    _, folder, _ = trained  # a classifier is an encoder, too
    options = {"training.n_steps": 4}
    again = train_classifier(data, tmp_path / "more", start=folder, settings=options)
    assert again.card["began_with"] == str(folder)


@given(st.lists(st.tuples(st.sampled_from("aAbBcdefgh"), st.sampled_from("xyz")), min_size=20))
def test_what_is_held_out_is_of_every_label_and_leaks_nothing(some: list[tuple[str, str]]) -> None:
    examples = [Example(n, f"{text} {n % 50}", label) for n, (text, label) in enumerate(some)]
    sides = hold_out(examples, ["validation", "test"])
    assert sorted(each for side in sides.values() for each in side) == sorted(examples)
    keys = [{each.text.casefold() for each in side} for side in sides.values()]
    assert not keys[0] & keys[1] | keys[0] & keys[2] | keys[1] & keys[2]
    assert hold_out(examples[::-1], ["validation", "test"])["test"] == sides["test"] or len(
        {each.text.casefold() for each in examples}
    ) < len(examples)


def test_parts_of_a_text_stay_with_it() -> None:
    # The label of a part must not be known from the whole, nor the other way round.
    drawn = random.Random(1)
    words = [f"w{n}" for n in range(3000)]
    examples: list[Example] = []
    for _ in range(300):
        text = drawn.sample(words, 12)
        for start, end in ((0, 12), (0, 6), (6, 12), (2, 5), (3, 12)):
            label = drawn.choice(("good", "bad"))
            examples.append(Example(len(examples), " ".join(text[start:end]), label))
    sides = hold_out(examples, ["validation", "test"])
    for side in ("validation", "test"):
        assert len(sides[side]) in range(80, 130)
        assert len({each.line // 5 for each in sides[side]}) * 5 == len(sides[side])


def test_each_label_gives_the_same_share() -> None:
    examples = [Example(n, f"text {n}", "rare" if n % 10 else "usual") for n in range(4000)]
    sides = hold_out(examples, ["validation", "test"])
    for side in ("validation", "test"):
        assert sum(each.label == "usual" for each in sides[side]) == 20
        assert sum(each.label == "rare" for each in sides[side]) == 180


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1, max_size=60)
)
def test_the_scores_are_those_of_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    from sklearn.metrics import accuracy_score, f1_score

    truth, said = (list(column) for column in zip(*pairs, strict=True))
    found = confuse(truth, said)
    expected = f1_score(truth, said, average="macro", zero_division=0)
    assert math.isclose(found.macro_f1, 100 * expected, abs_tol=1e-9)
    assert math.isclose(found.accuracy, 100 * accuracy_score(truth, said), abs_tol=1e-9)
    each = f1_score(truth, said, average=None, labels=list(found.labels), zero_division=0)
    assert [found.f1(n) for n in range(len(found.labels))] == pytest.approx(100 * each)
    more = confuse(truth, said, [*"abcd", "never"])
    assert math.isclose(more.macro_f1, found.macro_f1, abs_tol=1e-9)


def test_counting_words_is_what_it_says() -> None:
    train = [Example(n, f"{word} one", label) for n, (word, label) in enumerate(
        [*[(w, "good") for w in GOOD], *[(w, "bad") for w in BAD]] * 5)]  # fmt: skip
    test = [Example(0, "lovely", "good"), Example(1, "awful", "bad"), Example(2, "cold", "bad")]
    scores = {score.name: score.value for score in baselines(train, test, test)}
    assert scores["accuracy of counting words"] == 100
    assert scores["accuracy of the most frequent label"] == pytest.approx(100 / 3)


def test_many_labels_are_told_by_those_that_are_confused() -> None:
    truth = [f"label {n:02}" for n in range(30)]
    said = [*truth[:29], "label 00"]
    lines = confuse(truth, said).lines()
    assert lines[-1] == "and 10 labels that are confused less"
    assert any(line.startswith("label 29") for line in lines)


def test_gradients_add_up_to_what_the_tokens_bring(
    trained: tuple[Classifier, Path, list[str]],
) -> None:
    classifier, _, _ = trained
    (tokens,) = classifier.reader.read(["it is not awful"])
    reading = Reading(classifier.model, tokens, classifier.tokenizer.tokens(tokens), label=1)
    effects = integrated_gradients(reading, n_steps=100)
    whole = float(reading.log_probs().detach())
    weight = classifier.model.embedding.weight
    kept = weight.detach().clone()
    with torch.no_grad():
        weight.zero_()
        without = float(reading.log_probs())
        weight.copy_(kept)
    assert float(effects.sum()) == pytest.approx(whole - without, abs=0.02)
    assert reading.attention()[0].sum(-1).allclose(torch.ones(2, 6), atol=1e-5)


def test_from_the_command_line(trained: tuple[Classifier, Path, list[str]], tmp_path: Path) -> None:
    _, folder, _ = trained
    run = CliRunner()
    out = run.invoke(main, ["run", str(folder), "it is fine"])
    label, probability = out.output.strip().split("\t")
    assert label == "good"
    assert 0.5 < float(probability) <= 1
    piped = run.invoke(main, ["run", str(folder)], input="it is fine\n\nit is dull\n")
    assert [line.split("\t")[0] for line in piped.output.splitlines()] == ["good", "", "bad"]
    as_json = json.loads(run.invoke(main, ["run", str(folder), "it is dull", "--json"]).output)
    assert as_json["label"] == "bad"
    assert set(as_json["probabilities"]) == {"good", "bad"}
    for wrong in (["--beams", "3"], ["--stream"], ["--n-best", "2"], ["--forbid", "x"]):
        refused = run.invoke(main, ["run", str(folder), "it", *wrong])
        assert refused.exit_code == 2
        assert f"{wrong[0]} is for models that write" in refused.output
    assert "labels" in run.invoke(main, ["check", str(folder.parent / "reviews.tsv")]).output
    assert run.invoke(main, ["show", str(folder)]).exit_code == 0
    unknown = tmp_path / "other.tsv"
    unknown.write_text("text\tlabel\nit is fine\tgood\nit is dull\tbad\nit is\tneither\n")
    scored = run.invoke(main, ["evaluate", str(folder), str(unknown)])
    assert "1 texts have labels that the model does not know" in scored.output
    assert "accuracy of the most frequent label" in scored.output
    data = json.loads(run.invoke(main, ["evaluate", str(folder), str(unknown), "--json"]).output)
    assert data["n_texts"] == 3
    assert data["confusion"]["labels"] == ["bad", "good", "neither"]
    unknown.write_text("text\tlabel\nit is fine\tother\nit is dull\tneither\n")
    none = run.invoke(main, ["evaluate", str(folder), str(unknown)])
    assert none.exit_code == 1
    assert "has none of the model's labels, bad, good" in none.output


def test_views_from_the_command_line(
    trained: tuple[Classifier, Path, list[str]], tmp_path: Path
) -> None:
    _, folder, _ = trained
    run = CliRunner()
    out = run.invoke(main, ["look", str(folder), "it is not awful"]).output
    assert out.startswith("Label: good, with a probability of")
    assert "awful" in out
    asked = run.invoke(main, ["look", str(folder), "it is not awful", "--target", "bad"]).output
    assert asked.startswith("Label: bad, with a probability of 0.")
    for options in (["--view", "heads"], ["--view", "heads", "--head", "1"], ["--view", "cost"]):
        for form in ("svg", "json"):
            picture = tmp_path / f"a.{form}"
            done = run.invoke(main, ["look", str(folder), "fine", *options, "--out", str(picture)])
            assert done.exit_code == 0, done.output
            assert picture.stat().st_size > 200
    for options, told, code in (
        (["--target", "goood"], "no label 'goood'", 1),
        (["--view", "tree"], "has no view 'tree'", 1),
        (["--word", "fine"], "--word is for models that write", 2),
        (["--view", "heads", "--head", "9"], "there is no head 9 in block 0", 1),
    ):
        wrong = run.invoke(main, ["look", str(folder), "it is fine", *options])
        assert wrong.exit_code == code
        assert told in wrong.output


def test_the_plan_follows_the_data() -> None:
    plan, reasons = make_plan(LabelFacts(5000, 6, 270_000, 120))
    assert plan.model.n_labels == 6
    assert plan.context == plan.model.n_positions == 64
    assert any("at most 64 tokens" in reason for reason in reasons)
    much, _ = make_plan(LabelFacts(60_000, 2, 3_000_000, 120, n_batches=700))
    assert (much.word_dropout, much.model.dropout, much.training.n_steps) == (0.2, 0.5, 2100)
    longer, _ = make_plan(LabelFacts(1500, 2, 2_000_000, 5000), settings={"context": "200"})
    assert longer.model.n_positions == longer.context == 200
    for width, rate in ((384, 0.06 / 384), (768, 0.06 / 768), (32, 5e-4)):
        given = BertConfig(n_tokens=99, d_model=width, n_heads=4)
        assert make_plan(LabelFacts(900, 2, 9000, 120, given=given))[0].training.lr == rate
    assert plan.is_spelled
    pieces, _ = make_plan(LabelFacts(5000, 6, 270_000, 120), settings={"tokenizer": "bpe"})
    assert not pieces.is_spelled
    assert not make_plan(LabelFacts(900, 2, 9000, 120, given=given))[0].is_spelled
    with pytest.raises(ConfigError, match="is_spelled is for whole words, and tokenizer=bpe"):
        pieces.override({"is_spelled": True})
    with pytest.raises(ConfigError, match="no size 'huge'"):
        make_plan(LabelFacts(5000, 6, 270_000, 120), size="huge")
    with pytest.raises(ConfigError, match="word_dropout=1"):
        make_plan(LabelFacts(5000, 6, 270_000, 120), settings={"word_dropout": 1.0})


def test_bad_input_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("text\tlabel\n" + "".join(f"text {n}\tsame\n" for n in range(50)))
    out = CliRunner().invoke(main, ["train", str(path), "--to", str(tmp_path / "model")])
    assert out.exit_code == 1
    assert "all texts have the same label, same" in out.output
    assert not (tmp_path / "model").exists()
    other = tmp_path / "other.tsv"
    other.write_text("text\tlabel\nwhat\tnever\nelse\tnever\n")
    with pytest.raises(InputError, match="no text of the test part has one of the labels"):
        train_classifier(
            LabelledTexts([toy(tmp_path / "b.tsv", 100)]),
            tmp_path / "model",
            test=LabelledTexts([other]),
        )
    assert not (tmp_path / "model").exists()
