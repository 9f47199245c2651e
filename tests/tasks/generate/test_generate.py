"""From a text to a model that continues it: toys that are learned, resumed, scored and run."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner

import clearhead
from clearhead.cli import main
from clearhead.cli.main import TASKS as CHOICES
from clearhead.data.texts import Texts
from clearhead.data.which import TASKS
from clearhead.engine.memory import Wanted
from clearhead.errors import ConfigError, InputError
from clearhead.models import Llama, LlamaConfig
from clearhead.tasks.folder import task_of
from clearhead.tasks.generate.evaluate import guess
from clearhead.tasks.generate.generator import Generator
from clearhead.tasks.generate.ngrams import bits_of_ngrams, bits_of_packing
from clearhead.tasks.generate.plan import TextFacts, make_plan
from clearhead.tasks.generate.train import train_generator
from clearhead.tasks.text_corpus import encode_texts, survey_texts
from clearhead.text import Tokenizer

LINE = "one two three four five six seven.\n"
SETTINGS: dict[str, Any] = {
    "model.n_layers": 1, "model.d_model": 32, "model.d_ff": 64, "model.n_heads": 2,
    "model.dropout": 0.0, "context": 48, "n_batch_tokens": 512, "training.n_steps": 120,
    "training.validate_every": 60, "training.lr": 0.01,
}  # fmt: skip


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Generator, Path, list[str]]:
    folder = tmp_path_factory.mktemp("texts")
    (folder / "counting.txt").write_text(LINE * 500)
    told: list[str] = []
    generator = train_generator(
        Texts([folder / "counting.txt"]),
        folder / "model",
        settings=SETTINGS,
        tell=lambda kind, facts: told.append(kind),
    )
    return generator, folder / "model", told


def test_a_toy_is_learned(trained: tuple[Generator, Path, list[str]]) -> None:
    generator, _, told = trained
    answer = generator("one two three", temperature=0.0, max_length=22)
    assert answer.text == " four five six seven.\n"
    assert not answer.is_finished
    assert answer.prompt == "one two three"
    assert all(log_prob > -1 for log_prob in answer.log_probs)
    scores = {score["name"]: score["value"] for score in generator.card["scores"]}
    assert scores["bits per byte"] < 0.5 < scores["bits per byte of a trigram"] + 0.5
    assert scores["bits per byte of a unigram"] > 3
    kinds = list(dict.fromkeys(told))
    assert kinds == [
        "report", "tokenizer", "probe", "plan", "step", "validation", "end", "scores",
    ]  # fmt: skip


def test_the_folder_is_whole_and_loads(trained: tuple[Generator, Path, list[str]]) -> None:
    _, folder, _ = trained
    assert task_of(folder) == "generate"
    assert json.loads((folder / "config.json").read_text())["kind"] == "llama"
    precisions: tuple[Wanted, ...] = ("float32", "int8")
    for precision in precisions:
        loaded = Generator.load(folder, precision)
        assert loaded("five", temperature=0.0, max_length=10).text == " six seven"
    found = clearhead.load(folder)
    assert isinstance(found, Generator)
    assert (folder / "report.html").stat().st_size > 1000


def test_drawing_is_repeated_by_its_seed(trained: tuple[Generator, Path, list[str]]) -> None:
    generator, _, _ = trained
    first = generator("two", temperature=2.0, seed=3, max_length=30, n_best=2)
    assert generator("two", temperature=2.0, seed=3, max_length=30, n_best=2) == first
    assert len(first.others) == 1
    other = generator("two", temperature=2.0, seed=4, max_length=30)
    assert other.text != first.text


def test_texts_stop_where_they_are_asked_to(trained: tuple[Generator, Path, list[str]]) -> None:
    generator, _, _ = trained
    answer = generator("one", temperature=0.0, stop=["five"], max_length=60)
    assert answer.text == " two three four "
    assert "".join(generator.stream("one", temperature=0.0, stop=["five"])) == " two three four "
    streamed = "".join(generator.stream("three", temperature=0.0, max_length=12))
    assert streamed == generator("three", temperature=0.0, max_length=12).text
    without = generator("one two three", temperature=0.0, forbidden=["four"], max_length=20)
    assert "four" not in without.text
    assert isinstance(generator("", max_length=5).text, str)


def test_it_can_be_watched(trained: tuple[Generator, Path, list[str]]) -> None:
    _, folder, _ = trained
    loaded = Generator.load(folder)
    plain = loaded("two", temperature=0.0, max_length=4)
    with loaded.watch("decoder.blocks.0.self_attention.weights") as seen:
        watched = loaded("two", temperature=0.0, max_length=4)
    assert watched.text == plain.text
    steps = seen.steps("decoder.blocks.0.self_attention.weights")
    assert steps[-1].labels("key")[:3] == ["t", "w", "o"]


def test_the_same_command_goes_on(
    trained: tuple[Generator, Path, list[str]], tmp_path: Path
) -> None:
    _, folder, _ = trained
    again: list[str] = []
    texts = Texts([folder.parent / "counting.txt"])
    train_generator(texts, folder, settings=SETTINGS, tell=lambda kind, _: again.append(kind))
    assert "resume" in again
    assert "step" not in again
    with pytest.raises(InputError, match="asked for otherwise"):
        train_generator(texts, folder, settings={**SETTINGS, "context": 32})
    (tmp_path / "other.txt").write_text("something else\n" * 900)
    with pytest.raises(InputError, match="a run on other data"):
        train_generator(Texts([tmp_path / "other.txt"]), folder, settings=SETTINGS)


def test_from_the_command_line(trained: tuple[Generator, Path, list[str]]) -> None:
    _, folder, _ = trained
    run = CliRunner()
    greedy = ["--temperature", "0", "--max-length", "6"]
    out = run.invoke(main, ["run", str(folder), "one two", *greedy])
    assert out.output == "one two three\n"
    piped = run.invoke(main, ["run", str(folder), *greedy], input="one two\n")
    assert piped.output == "one two three\n"
    hot = [run.invoke(main, ["run", str(folder), "one", "--temperature", t]).output for t in "09"]
    assert hot[0] == run.invoke(main, ["run", str(folder), "one", "--temperature", "0"]).output
    assert hot[0] != hot[1]
    as_json = run.invoke(main, ["run", str(folder), "one", "--json", "--max-length", "4"])
    assert json.loads(as_json.output)["prompt"] == "one"
    wrong = run.invoke(main, ["run", str(folder), "one", "--prefix", "x"])
    assert "--prefix is for translations, and this model continues texts" in wrong.output
    assert run.invoke(main, ["show", str(folder)]).exit_code == 0
    refused = run.invoke(main, ["bench", str(folder)])
    assert refused.exit_code == 1
    assert "holds no translator" in refused.output
    assert "<h1><span>Continuing texts</span>" in (folder / "report.html").read_text()


def test_experts_learn_the_same_toy(tmp_path: Path) -> None:
    (tmp_path / "counting.txt").write_text(LINE * 500)
    settings = {**SETTINGS, "n_experts": 4, "training.n_steps": 100}
    generator = train_generator(
        Texts([tmp_path / "counting.txt"]), tmp_path / "model", settings=settings
    )
    model: Any = generator.model
    config = model.config
    assert (type(config).__name__, config.n_experts, config.d_ff) == ("MixtralConfig", 4, 32)
    assert generator("one two", temperature=0.0, max_length=11).text == " three four"
    again = Generator.load(tmp_path / "model")
    assert again("one two", temperature=0.0, max_length=11).text == " three four"
    with torch.no_grad():
        tokens = torch.tensor([generator.tokenizer.encode(LINE)])
        _, uneven = model.read_with_balance(tokens)
    assert float(uneven) < 1.5
    for wrong in ({"n_experts": 0}, {"n_experts": 2, "n_chosen": 3}, {"balance": -1}):
        with pytest.raises(ConfigError):
            make_plan(TextFacts(1_000_000), settings=wrong)


def test_a_text_goes_on_beyond_the_context(trained: tuple[Generator, Path, list[str]]) -> None:
    """The toy is periodic: the text stays right however long it is."""
    generator, folder, _ = trained
    assert generator.context == 48
    n = 4 * len(LINE)
    for each in (generator, Generator.load(folder, "float32")):
        answer = each("one two", temperature=0.0, max_length=n)
        assert answer.text == (LINE * 5)[len("one two") :][:n]
        assert len(answer.tokens) == len(answer.log_probs) == n
        assert answer.score == pytest.approx(sum(answer.log_probs) / n)
        assert "".join(each.stream("one two", temperature=0.0, max_length=n)) == answer.text
    long = generator("zero. " + LINE * 3 + "one two", temperature=0.0, max_length=10)
    assert long.text == " three fou"


def test_rules_hold_beyond_the_context(trained: tuple[Generator, Path, list[str]]) -> None:
    generator, _, _ = trained
    stop = LINE[-8:] + LINE * 2
    stopped = generator("one two", temperature=0.0, max_length=300, stop=[stop])
    assert stopped.text == LINE[len("one two") :].removesuffix(LINE[-8:])
    drawn = [
        generator("one", seed=seed, max_length=120, temperature=3.0).text for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0] == "".join(generator.stream("one", seed=1, max_length=120, temperature=3.0))
    shortest = generator("one", min_length=70, max_length=80, temperature=3.0, seed=5)
    assert len(shortest.tokens) >= 70


def test_the_loss_does_not_depend_on_windows() -> None:
    """Every token is guessed once, from at least half a context; with all of it, exactly."""
    torch.manual_seed(0)
    tokenizer = Tokenizer.train(["abcdefgh\n"], "char")
    model = Llama(
        LlamaConfig(n_tokens=tokenizer.n_tokens, n_layers=1, d_model=16, d_ff=32, n_heads=2)
    ).eval()
    text = "abcdefgh" * 20
    row = torch.from_numpy(encode_texts(tokenizer, [text]).astype("int64"))
    whole = guess(model, tokenizer, [text], context=500)
    assert whole.n_tokens == len(row) - 1
    logits = model(row[None, :-1])[0].log_softmax(-1).detach()
    expected = -float(logits.gather(1, row[1:, None]).sum())
    assert whole.nats == pytest.approx(expected, rel=1e-4)
    for context in (10, 16, 33):
        found = guess(model, tokenizer, [text], context)
        assert found.n_tokens == len(row) - 1
    assert whole.bits_per_byte == pytest.approx(expected / math.log(2) / (len(text) + 1), rel=1e-4)


def test_baselines_by_hand() -> None:
    assert bits_of_ngrams(["ab" * 5000], ["ab" * 50], 1) == pytest.approx(1.0, abs=0.01)
    assert bits_of_ngrams(["ab" * 5000], ["ab" * 50], 3) < 0.05
    packed = bits_of_packing(["ab" * 5000], ["ab" * 500])
    assert 0 <= packed["xz"] < 1
    assert 0 < packed["gzip"] < 1


def test_what_is_held_out_is_the_end_of_a_text(tmp_path: Path) -> None:
    lines = [f"line number {n}\n" for n in range(2000)]
    (tmp_path / "a.txt").write_text("".join(lines))
    corpus = survey_texts(Texts([tmp_path / "a.txt"]), None, None, lambda *_: None)
    joined = "".join([*corpus.train, *corpus.validation, *corpus.test])
    assert joined == "".join(lines)
    assert all(text.endswith("\n") for text in (*corpus.train, *corpus.validation))
    assert 0.04 < len(corpus.test[0]) / len(joined) < 0.06
    for n in range(80):
        (tmp_path / f"{n}.md").write_text(f"document {n}\n" * 40)
    many = survey_texts(Texts([tmp_path]), None, None, lambda *_: None)
    assert len(many.train) + len(many.validation) + len(many.test) == 81
    assert many.validation
    assert many.test


def test_the_command_line_offers_every_task() -> None:
    assert CHOICES == TASKS


def test_plans_and_wrong_settings() -> None:
    small, reasons = make_plan(TextFacts(1_000_000))
    assert (small.tokenizer, small.context) == ("char", 128)
    assert any("character is a token" in reason for reason in reasons)
    assert make_plan(TextFacts(50_000_000))[0].tokenizer == "bpe"
    with pytest.raises(ConfigError, match="no size 'huge'"):
        make_plan(TextFacts(1_000_000), size="huge")
    with pytest.raises(ConfigError, match=r"no setting 'contxt': did you mean context"):
        make_plan(TextFacts(1_000_000), settings={"contxt": 3})


def test_other_texts_are_scored_and_checked(
    trained: tuple[Generator, Path, list[str]], tmp_path: Path
) -> None:
    _, folder, _ = trained
    file = tmp_path / "more.txt"
    file.write_text(LINE * 600)
    run = CliRunner()
    scored = json.loads(run.invoke(main, ["evaluate", str(folder), str(file), "--json"]).stdout)
    values = {score["name"]: score["value"] for score in scored["scores"]}
    assert values["bits per byte"] < 0.5
    assert "bits per byte of a trigram" not in values  # the training texts are not here
    assert "bits per byte" in run.invoke(main, ["evaluate", str(folder), str(file)]).output
    checked = run.invoke(main, ["check", str(file)])
    assert "task: generate, because these are plain texts and no pairs" in checked.output
    assert "fit for training: 21,000 characters" in checked.output
    small = tmp_path / "small.txt"
    small.write_text("too little")
    refused = run.invoke(main, ["check", str(small)])
    assert refused.exit_code == 1
    assert "10 characters are too few to learn from" in refused.output
    shown = run.invoke(main, ["show", str(folder)]).output
    for told in ("1 layers, 32 wide", "characters for validation", "1 files read", "run"):
        assert told in shown
