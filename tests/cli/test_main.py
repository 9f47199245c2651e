"""The command line as a user meets it: each test starts a process of its own.

`help.txt` is what `clearhead --help` prints. After a wanted change, write it again:

    COLUMNS=100 .venv/bin/clearhead --help > tests/cli/help.txt
"""

import os
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
    assert "--steps" in result.stdout
    assert "never seen" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["dmo"], "no verb 'dmo': did you mean demo?"),
        (["xyz"], "no verb 'xyz': known: bench, check, convert, demo, evaluate, look, run,"),
        (["demo", "--steps", "x"], "'x' is not a valid integer"),
        (["demo", "--step", "1"], "--steps"),
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


def test_a_number_out_of_range_is_told_in_one_sentence() -> None:
    result = run(PROGRAM, "demo", "--steps", "99999999999999999999")
    assert result.returncode == 2
    assert "99999999999999999999" in result.stderr
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
