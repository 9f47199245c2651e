"""The options of `clearhead run`: what they pass on, how answers are shown, what is refused."""

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from clearhead.cli import main
from clearhead.cli.run_options import refuse_writing
from clearhead.tasks import Translation, Translator
from clearhead.tasks.translation import Alignment
from tests.cli.tiny_folder import write_folder


class Recorder:
    """Stands in for a translator, and remembers the settings."""

    def __init__(self) -> None:
        self.settings: dict[str, Any] = {}

    def __call__(self, texts: list[str], **settings: Any) -> list[Translation]:
        self.settings = settings
        return [self.answer(text) for text in texts]

    def answer(self, text: str) -> Translation:
        other = Translation(f"{text}?", float("-inf"), [], False)
        alignment = Alignment(["▁a"], [0], [0.5])
        return Translation(
            f"{text}!", -0.25, ["▁a"], True, [-0.2, -0.3], text, others=[other], alignment=alignment
        )


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    recorder = Recorder()
    monkeypatch.setattr(Translator, "load", lambda folder, precision: recorder)
    return recorder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("models") / "en-hi")


def run(*arguments: str | Path, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(main, ["run", *map(str, arguments)], input=stdin)


def test_only_what_is_given_is_passed_on(recorder: Recorder, tmp_path: Path) -> None:
    assert run("model", "a").exit_code == 0
    assert recorder.settings == {}
    terms = tmp_path / "terms.tsv"
    terms.write_text("dog\tHund\n")
    arguments = "--beams 4 --n-best 2 --repetition-penalty 1.5 --no-repeat 3 --max-length 7"
    more: list[str | Path] = [
        "--glossary",
        terms,
        "--forbid",
        "x y",
        "--forbid",
        "z",
        "--stop",
        ".",
        "--prefix",
        "Q",
    ]
    assert run("model", "a", *arguments.split(), *more).exit_code == 0
    assert recorder.settings == {
        "n_beams": 4,
        "n_best": 2,
        "repetition_penalty": 1.5,
        "no_repeat": 3,
        "max_length": 7,
        "glossary": {"dog": "Hund"},
        "forbidden": ("x y", "z"),
        "stop": (".",),
        "prefix": "Q",
    }
    draw = "--temperature 0.7 --top-k 9 --top-p 0.9 --min-p 0.1 --seed 5"
    assert run("model", "a", *draw.split()).exit_code == 0
    assert recorder.settings == {
        "temperature": 0.7, "top_k": 9, "top_p": 0.9, "min_p": 0.1, "seed": 5,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--top-k 5", "--top-k is for drawing at random: give --temperature"),
        ("--seed 0", "--seed is for drawing at random: give --temperature"),
        ("--min-p 0.1 --temperature 0", "--min-p is for drawing at random"),
        ("--beams 4 --temperature 1", "--beams searches and --temperature draws"),
        ("--glossary x --temperature 1", "--glossary needs a search with beams"),
        ("--alignment", "--alignment is shown in JSON: give --json"),
        ("--stream --json", "--stream writes one answer as it comes: leave out --json"),
        ("--stream --n-best 2", "leave out --n-best"),
        ("--stream --glossary x", "leave out --glossary"),
        ("--stream --beams 2", "--stream follows one beginning: leave out --beams"),
        ("--beams 0", "0 is not in the range"),
        ("--top-p 1.5 --temperature 1", "1.5 is not in the range"),
    ],
)
def test_contradictions_are_refused_before_anything_is_loaded(options: str, message: str) -> None:
    result = run("no-such-model", "a", *options.split())
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--n-best 9", "n_best=9 answers need as many beams, and n_beams=5"),
        ("--glossary none.tsv", "none.tsv does not exist"),
        ("--forbid |", "must be in the answer, and '|' may not"),
    ],
)
def test_what_cannot_be_is_refused_before_a_line_is_read(
    folder: Path, options: str, message: str
) -> None:
    result = run(folder, *options.split(), "--prefix", "a|b")  # no line at all
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.usefixtures("recorder")
def test_the_next_best_answers_have_lines_of_their_own() -> None:
    result = run("model", "--n-best", "2", stdin=b"a\nb\n")
    assert result.stdout == "1\t-0.2500\ta!\n2\t-inf\ta?\n1\t-0.2500\tb!\n2\t-inf\tb?\n"
    assert run("model", "--n-best", "1", "a").stdout.startswith("1\t-0.2500\ta!\n")


@pytest.mark.usefixtures("recorder")
def test_json_is_one_object_for_each_line() -> None:
    result = run("model", "--json", stdin="a\n\nहाँ 112\n".encode())
    first, blank, last = (json.loads(line) for line in result.stdout.splitlines())
    assert list(first) == [
        "text", "score", "is_finished", "flags", "tokens", "log_probs", "others", "alignment",
    ]  # fmt: skip
    assert first["score"] == -0.25
    assert first["others"][0]["score"] is None
    assert first["alignment"] == {"source": ["▁a"], "places": [0], "weights": [0.5]}
    assert blank["text"] == "!"
    assert last["text"] == "हाँ 112!"
    assert "हाँ" in result.stdout


def test_flags_are_told_line_by_line_or_counted(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:

    def answer(text: str) -> Translation:
        return Translation("Nein", 0.0, [], True, source=text)

    monkeypatch.setattr(recorder, "answer", answer)
    stdin = b"no\ncall 112 at 8.30\nno\n5,000 of them\n"
    told = run("model", "--flags", stdin=stdin)
    assert told.stdout == "Nein\n" * 4
    assert told.stderr.splitlines() == [
        "line 2: The number 112 of the source is missing in the answer.",
        "line 2: The number 8.30 of the source is missing in the answer.",
        "line 4: The number 5,000 of the source is missing in the answer.",
    ]
    counted = run("model", stdin=stdin)
    assert counted.stdout == told.stdout
    assert counted.stderr == (
        "Warning: 2 answers are doubtful (--flags tells why). "
        "The first on line 2: The number 112 of the source is missing in the answer.\n"
    )


def test_a_stream_writes_the_same_lines(folder: Path) -> None:
    stdin = b"Thank you\n\nWe are friends\n"
    streamed = run(folder, "--stream", stdin=stdin)
    greedy = run(folder, "--beams", "1", stdin=stdin)
    assert streamed.exit_code == greedy.exit_code == 0
    assert streamed.stdout == greedy.stdout
    assert streamed.stderr == greedy.stderr
    drawn = [
        run(folder, *options, "--temperature", "1", "--seed", "3", stdin=stdin).stdout
        for options in ([], ["--stream"])
    ]
    assert drawn[0] == drawn[1] != greedy.stdout


def test_a_real_model_in_json(folder: Path) -> None:
    result = run(folder, "--json", "--alignment", "--n-best", "2", "Thank you")
    answer = json.loads(result.stdout)
    assert len(answer["others"]) == 1
    assert len(answer["alignment"]["places"]) == len(answer["tokens"])
    assert answer["alignment"]["source"] == [*"Thank", "▁", *"you"]


def test_the_help_tells_the_options() -> None:
    result = CliRunner().invoke(main, ["run", "--help"])
    for name in ("--beams", "--top-p", "--glossary FILE", "--forbid TEXT", "--json", "--stream"):
        assert name in result.stdout


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [("seed", 0, "--seed"), ("n_beams", 3, "--beams"), ("forbidden", ("x",), "--forbid")],
)
def test_models_that_do_not_write_refuse_settings_of_writing(
    name: str, value: Any, told: str
) -> None:
    refuse_writing({"seed": None, "forbidden": (), "stream": False}, "says labels")
    with pytest.raises(click.UsageError, match=f"{told} is for models that write.*says labels"):
        refuse_writing({name: value}, "says labels")
