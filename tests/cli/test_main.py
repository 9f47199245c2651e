"""The command line as a user meets it: each test starts a process of its own.

`help.txt` is what `clearhead --help` prints. After a wanted change, write it again:

    COLUMNS=100 .venv/bin/clearhead --help > tests/cli/help.txt
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from clearhead import __version__

PROGRAM = str(Path(sys.executable).with_name("clearhead"))
HELP = Path(__file__).with_name("help.txt")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a terminal of 100 columns, and keep what it prints."""
    return subprocess.run(
        command,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def demo() -> str:
    """Run the demo once for all tests of this file."""
    result = run(PROGRAM, "demo")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


@pytest.mark.parametrize("command", [[PROGRAM], [sys.executable, "-m", "clearhead"]])
def test_version(command: list[str]) -> None:
    result = run(*command, "--version")
    assert (result.returncode, result.stdout) == (0, f"clearhead {__version__}\n")


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_is_as_written(option: str) -> None:
    result = run(PROGRAM, option)
    assert result.returncode == 0
    assert result.stdout == HELP.read_text(encoding="utf-8")


def test_module_shows_the_same_help() -> None:
    assert run(sys.executable, "-m", "clearhead", "--help").stdout == HELP.read_text("utf-8")


def test_no_verb_shows_help() -> None:
    result = run(PROGRAM)
    assert HELP.read_text(encoding="utf-8") in (result.stdout, result.stderr)


def test_help_of_a_verb() -> None:
    result = run(PROGRAM, "demo", "--help")
    assert result.returncode == 0
    assert "--seed" in result.stdout
    assert "random" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["dmo"], "no verb 'dmo': did you mean demo?"),
        (["xyz"], "no verb 'xyz': known: check, demo, evaluate, run, show, train"),
        (["demo", "--seed", "x"], "'x' is not a valid integer"),
        (["demo", "--sed", "1"], "--seed"),
        (["demo", "twice"], "twice"),
        (["--colour"], "--colour"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(arguments: list[str], hint: str) -> None:
    result = run(PROGRAM, *arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert hint in result.stderr
    assert "Traceback" not in result.stderr


def test_a_seed_out_of_range_is_told_in_one_sentence() -> None:
    seed = "99999999999999999999"
    result = run(PROGRAM, "demo", "--seed", seed)
    assert result.returncode in (1, 2)
    assert seed in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_torch_is_loaded_only_when_it_is_needed(option: str) -> None:
    code = (
        "import sys\n"
        "from clearhead.cli import main\n"
        f"main([{option!r}], standalone_mode=False)\n"
        "assert 'click' in sys.modules\n"
        "assert 'torch' not in sys.modules, 'torch was imported'\n"
    )
    result = run(sys.executable, "-c", code)
    assert result.returncode == 0, result.stderr


def test_the_demo_says_that_nothing_is_trained(demo: str) -> None:
    assert demo.splitlines()[0].endswith("untrained: random weights (seed 0)")
    assert demo.count("untrained") == 3  # at the top, and beside each set of numbers


def test_the_demo_counts_parameters(demo: str) -> None:
    counts = dict(re.findall(r"│ (embedding|encoder|decoder|in all)\b.*│ +([\d,]+) │", demo))
    numbers = {part: int(count.replace(",", "")) for part, count in counts.items()}
    assert len(numbers) == 4
    assert numbers["in all"] == sum(n for part, n in numbers.items() if part != "in all")
    assert numbers["in all"] > 1_000_000


def test_the_demo_shows_shapes_that_fit_their_axes(demo: str) -> None:
    rows = re.findall(r"│ (\S+) +│ ([A-Z](?: [A-Z])*) +│ ([\d× ]+?) +│", demo)
    assert len(rows) == 9
    for name, axes, shape in rows:
        assert len(axes.split()) == len(shape.split(" × ")), name
    shapes = {name: shape for name, _, shape in rows}
    assert shapes["decoder.blocks.0.cross_attention.weights"] == "5 × 4 × 6 × 5"


def test_the_demo_shows_attention_rows_that_sum_to_one(demo: str) -> None:
    rows = re.findall(r"^│ (\S+) +│((?: +\d\.\d\d │){5})$", demo, flags=re.MULTILINE)
    hindi = ["<bos>", "मुझे", "आइसक्रीम", "खाना", "पसंद", "है"]
    assert [word for word, _ in rows] == hindi
    for word, cells in rows:
        weights = [float(weight) for weight in re.findall(r"\d\.\d\d", cells)]
        assert sum(weights) == pytest.approx(1, abs=0.026), word  # five rounded numbers


def test_the_demo_shows_two_contexts_of_one_word(demo: str) -> None:
    mixtures = re.findall(r"bank′ = (.+)", demo)
    assert len(mixtures) == 2
    for mixture in mixtures:
        weights = [float(weight) for weight in re.findall(r"(\d\.\d\d)·", mixture)]
        assert sum(weights) == pytest.approx(1, abs=0.021)
    static, contextual = re.findall(r"vectors of bank: (-?\d\.\d{3})", demo)
    assert static == "1.000"
    assert float(contextual) < 1


def test_the_demo_repeats_with_its_seed(demo: str) -> None:
    assert run(PROGRAM, "demo", "--seed", "0").stdout == demo
    assert run(PROGRAM, "demo", "--seed", "1").stdout != demo
