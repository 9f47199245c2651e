"""`clearhead run`: exactly one line out for each line in, whatever the lines hold."""

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from clearhead.cli import main
from clearhead.cli.run_translate import read_chunks
from clearhead.engine.library import find_library
from clearhead.tasks import Translation, Translator
from tests.cli.tiny_folder import write_folder

PROGRAM = str(Path(sys.executable).with_name("clearhead"))
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


class Shouter:
    """Stands in for a translator: answers in capitals, and cannot end a text with a full stop."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def __call__(self, texts: list[str], **settings: Any) -> list[Translation]:
        self.batches.append(texts)
        even = [" ".join(text.split()).upper() for text in texts]
        return [Translation(text, 0.0, [], not text.endswith(".")) for text in even]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("models") / "en-hi")


@pytest.fixture
def shouter(monkeypatch: pytest.MonkeyPatch) -> Shouter:
    shouter = Shouter()
    monkeypatch.setattr(Translator, "load", lambda folder, precision: shouter)
    return shouter


def run(*arguments: str | Path, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(main, ["run", *map(str, arguments)], input=stdin)


@pytest.mark.usefixtures("shouter")
@pytest.mark.parametrize(
    ("stdin", "stdout"),
    [
        (b"", ""),
        (b"a\nb\n", "A\nB\n"),
        (b"a\nb", "A\nB\n"),
        (b"a\r\n\r\nb\r\n", "A\n\nB\n"),
        (b"\n\n", "\n\n"),
        (b"\na\n  \n\n", "\nA\n\n\n"),
        ("a\u2028b\x0bc\x85d\x0c\x1ce\n".encode(), "A B C D E\n"),
        (b"a\rb\n", "A B\n"),
        ("हाँ जी\nß\n".encode(), "हाँ जी\nSS\n"),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", "A\n\ufeffB\n"),
    ],
)
def test_a_line_out_for_a_line_in(stdin: bytes, stdout: str) -> None:
    result = run("model", stdin=stdin)
    assert result.exit_code == 0
    assert result.stdout == stdout
    assert result.stderr == ""


@pytest.mark.usefixtures("shouter")
def test_texts_as_arguments() -> None:
    result = run("model", "a\nb", "", "c", stdin=b"not read\n")
    assert result.stdout == "A B\n\nC\n"
    assert result.stderr == ""


@pytest.mark.usefixtures("shouter")
def test_bytes_that_are_no_text_are_replaced_and_told_once() -> None:
    result = run("model", stdin=b"a\nb\xff\nc\n\xfe\n")
    assert result.stdout == "A\nB\ufffd\nC\n\ufffd\n"
    assert result.stderr.count("Warning") == 1
    assert "line 2 is not UTF-8" in result.stderr
    result = run("model", "a", "b\udcff")
    assert result.stdout.startswith("A\nB\ufffd")
    assert "text 2 is not UTF-8" in result.stderr


@pytest.mark.usefixtures("shouter")
def test_cut_answers_are_told_at_the_end() -> None:
    result = run("model", stdin=b"a\nb.\n\nc.\n")
    assert result.stdout == "A\nB.\n\nC.\n"
    assert "2 answers are doubtful" in result.stderr
    assert "The first on line 2: The answer was cut" in result.stderr
    one = run("model", "a", "b", "c.").stderr
    assert "1 answer is doubtful" in one
    assert "The first on text 3: The answer was cut" in one


def test_many_lines_come_in_chunks(shouter: Shouter) -> None:
    lines = [f"line {i}" for i in range(2000)]
    result = run("model", stdin="\n".join(lines).encode())
    assert result.stdout == "".join(f"{line.upper()}\n" for line in lines)
    assert shouter.batches[0] == []  # the settings are tried first
    assert [line for batch in shouter.batches for line in batch] == lines
    assert max(map(len, shouter.batches)) == 512


class Dribble(io.BytesIO):
    """A stream that has only some bytes ready at a time."""

    def __init__(self, data: bytes, n_ready: Callable[[], int]) -> None:
        super().__init__(data)
        self.n_ready = n_ready

    def read1(self, size: int | None = -1, /) -> bytes:
        return super().read1(self.n_ready())


@given(st.lists(st.sampled_from([b"\n", b"\r", b"a", b"\xe0\xa4", b"\x85"])), st.data())
def test_lines_do_not_depend_on_how_the_bytes_arrive(
    parts: list[bytes], data: st.DataObject
) -> None:
    text = b"".join(parts)
    stream = Dribble(text, lambda: data.draw(st.integers(1, 5)))
    lines = [line for chunk in read_chunks(stream, 3) for line in chunk]
    ends = text.split(b"\n")
    assert lines == [line.removesuffix(b"\r") for line in (ends if ends[-1] else ends[:-1])]


def test_a_real_model_answers_in_order(folder: Path) -> None:
    texts = ["Thank you", "", "We are friends", "How are you?", "Thank you"]
    result = run(folder, "--beams", "2", stdin="\n".join(texts).encode())
    assert result.exit_code == 0
    answers = Translator.load(folder)(texts, n_beams=2)
    assert result.stdout.split("\n") == [*(answer.text for answer in answers), ""]
    assert run(folder, "--beams", "2", *texts).stdout == result.stdout


@pytest.mark.skipif(find_library() is None, reason="there is no compiled engine")
def test_an_answer_does_not_wait_for_torch(folder: Path) -> None:
    """Importing it takes longer than all the rest; nor are training, plots or tables needed."""
    program = (
        "import sys\nfrom clearhead.cli import main\n"
        f"main(['run', {str(folder)!r}, 'a b'], standalone_mode=False)\n"
        "wanted = {'torch', 'rich', 'sacrebleu', 'clearhead.training', 'clearhead.layers'}\n"
        "print(sorted(wanted & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.skipif(find_library() is None, reason="there is no compiled engine")
def test_the_numbers_can_be_chosen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[Translator] = []
    load = Translator.load

    def spy(*given: Any) -> Translator:
        loaded.append(load(*given))
        return loaded[-1]

    monkeypatch.setattr(Translator, "load", spy)
    assert run(folder, "Thank you", "--precision", "bfloat16").exit_code == 0
    engine = loaded[0].engine
    assert engine is not None
    assert engine.choice.precision == "bfloat16"
    wrong = run(folder, "Thank you", "--precision", "int4")
    assert wrong.exit_code == 2
    assert "'int4' is not one of 'auto', 'float32', 'bfloat16', 'int8'" in wrong.output


def test_what_is_no_model_folder_is_told_in_one_sentence(tmp_path: Path) -> None:
    result = run(tmp_path / "none", stdin=b"a\n")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert "there is no such folder" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_line_is_answered_before_the_next_one_comes(folder: Path) -> None:
    """In a process of its own: what is written is read back while the input is still open."""
    with subprocess.Popen(
        [PROGRAM, "run", str(folder), "--beams", "1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT | {"PYTHONIOENCODING": "ascii"},
    ) as process:
        assert process.stdin
        assert process.stdout
        answers = []
        for text in ("Thank you", "", "धन्यवाद"):
            process.stdin.write(f"{text}\n".encode())
            process.stdin.flush()
            answers.append(process.stdout.readline().decode("utf-8"))
        rest, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert rest == b""
    expected = Translator.load(folder)(["Thank you", "", "धन्यवाद"], n_beams=1)
    assert answers == [f"{answer.text}\n" for answer in expected]


def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    """As in `clearhead run … | head -1`, with more lines than a pipe holds."""
    with subprocess.Popen(
        [PROGRAM, "run", str(folder), "--beams", "1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"Thank you\n")
        process.stdin.flush()
        assert process.stdout.readline().endswith(b"\n")
        process.stdout.close()
        process.stdin.write(b"We are friends\n")
        process.stdin.close()
        assert process.stderr
        stderr = process.stderr.read()
        process.wait(timeout=60)
    assert stderr == b""
