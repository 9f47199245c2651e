"""The whole demo, as `make demo` runs it: some three minutes on two cores."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

PROGRAM = str(Path(sys.executable).with_name("clearhead"))
HINDI = ["मुझे", "आइसक्रीम", "खाना", "पसंद", "है", "<eos>"]
ENGLISH = ["I", "like", "eating", "ice-cream", "<eos>"]

pytestmark = pytest.mark.slow


class Demo(NamedTuple):
    """What the demo printed and wrote."""

    output: str
    folder: Path


def run(*command: str, cwd: Path) -> str:
    """Run a command and return what it prints."""
    result = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "120"},
        capture_output=True,
        encoding="utf-8",
        timeout=1500,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    folder = tmp_path_factory.mktemp("home")
    return Demo(run(PROGRAM, "demo", cwd=folder), folder)


def test_unseen_combinations_are_translated(demo: Demo) -> None:
    card = json.loads((demo.folder / "demo" / "model" / "card.json").read_text("utf-8"))
    scores = {score["name"]: score["value"] for score in card["scores"]}
    assert scores["BLEU"] >= 90
    assert scores["BLEU of copying the source"] < 5
    assert card["held_out"]["test"] > 1000


def test_the_sentences_of_the_notes_come_out_right(demo: Demo) -> None:
    for english, hindi in [
        ("How are you?", "आप कैसे हैं?"),
        ("I like eating ice-cream", "मुझे आइसक्रीम खाना पसंद है"),
        ("We are friends", "हम दोस्त हैं"),
    ]:
        assert re.search(f"{re.escape(english)} +│ {re.escape(hindi)} +│", demo.output), english


def test_the_picture_shows_real_weights(demo: Demo) -> None:
    root = ElementTree.parse(demo.folder / "demo" / "cross-attention.svg").getroot()
    texts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert set(HINDI + ENGLISH) <= set(texts)
    weights = [float(text) for text in texts if re.fullmatch(r"\d\.\d\d", text)]
    rows = [weights[begin : begin + 5] for begin in range(0, 30, 5)]
    assert len(weights) == 30
    for row in rows:
        assert sum(row) == pytest.approx(1, abs=0.026)  # five rounded numbers
    # It was trained: ice-cream is what आइसक्रीम reads most of all words.
    reading = rows[HINDI.index("आइसक्रीम")]
    assert ENGLISH[reading.index(max(reading))] in ("ice-cream", "<eos>")
    printed = re.findall(r"^│ (\S+) +│((?: +\d\.\d\d │){5})$", demo.output, flags=re.MULTILINE)
    assert [word for word, _ in printed] == HINDI


def test_the_commands_that_are_named_work(demo: Demo) -> None:
    tail = demo.output[demo.output.index("Try next:") :].splitlines()[1:]
    commands = [line.strip() for line in tail if line.strip()]
    assert len(commands) == 3
    model = str(Path("demo") / "model")
    answer = run(PROGRAM, "run", model, "My sister wants to drink tea.", cwd=demo.folder)
    assert f'clearhead run {model} "My sister wants to drink tea."' == commands[0]
    assert re.search(r"[\u0900-\u097F]", answer)
    assert commands[1] == f"clearhead show {model}"
    assert "BLEU" in run(PROGRAM, "show", model, cwd=demo.folder)


def test_a_second_time_nothing_is_trained_again(demo: Demo) -> None:
    weights = demo.folder / "demo" / "model" / "model.safetensors"
    before = weights.read_bytes()
    assert "1,000 steps are done" in run(PROGRAM, "demo", cwd=demo.folder)
    assert weights.read_bytes() == before
