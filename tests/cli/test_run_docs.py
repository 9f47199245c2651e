"""What docs/translating.md shows is executed, with a small model in the place of the reader's."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from clearhead.cli import main
from tests.cli.tiny_folder import write_folder
from tests.house.test_docs import blocks
from tests.house.tree import ROOT

PAGE = (ROOT / "docs/translating.md").read_text(encoding="utf-8")
SHOWN = [body for kind, body in blocks(PAGE) if kind == "text"]
PROGRAM = ".venv/bin/clearhead "
COMMANDS = [line for body in SHOWN for line in body.splitlines() if line.startswith(PROGRAM)]
LINES = b"A dog runs.\n\nIt is an old fire hydrant.\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reader")
    write_folder(folder / "en-de")
    (terms,) = (body for body in SHOWN if body.startswith("dog\t"))
    (folder / "terms.tsv").write_text(terms, encoding="utf-8")
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_command_runs(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    command, _, read = command.removeprefix(PROGRAM).partition(" < ")
    assert read in ("", "input.txt")
    result = CliRunner().invoke(main, shlex.split(command), input=LINES)
    assert result.exit_code == 0, result.output
    n_lines = 3 if read or "--n-best" in command else 1
    assert len(result.stdout.splitlines()) == n_lines


def test_the_page_shows_every_option() -> None:
    options = [name for param in main.commands["run"].params for name in param.opts]
    missing = [name for name in options if name.startswith("--") and name not in PAGE]
    assert not missing


def test_python_runs(folder: Path) -> None:
    (code,) = (body for body in SHOWN if body.startswith("import clearhead"))
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()) > 4
