"""What docs/look.md shows is executed, with a small model in the place of the demo's."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from clearhead.cli import main
from clearhead.cli.main import LOOKS
from tests.cli.tiny_folder import SENTENCES, write_folder
from tests.house.test_docs import blocks
from tests.house.tree import ROOT

PAGE = (ROOT / "docs/look.md").read_text(encoding="utf-8")
COMMANDS_SHOWN, *PROGRAMS = (body for kind, body in blocks(PAGE) if kind == "text")
PROGRAM = ".venv/bin/clearhead "


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reader")
    (folder / "demo").mkdir()
    write_folder(folder / "demo/model")
    lines = "".join(f"{english}\t{hindi}\n" for english, hindi in [("en", "hi"), *SENTENCES])
    (folder / "demo/phrasebook.tsv").write_text(lines, encoding="utf-8")
    return folder


@pytest.mark.parametrize("command", COMMANDS_SHOWN.splitlines())
def test_command_runs(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    arguments = shlex.split(command.removeprefix(PROGRAM))
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    if "--out" in arguments:
        assert (folder / arguments[arguments.index("--out") + 1]).stat().st_size > 100
    else:
        assert len(result.stdout.splitlines()) > 3


def test_every_view_is_explained() -> None:
    assert [view for view in LOOKS if f"| `{view}` |" not in PAGE] == []


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_python_runs(number: int, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAMS[number]],
        cwd=folder, capture_output=True, encoding="utf-8", timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert ["head 2, query", "alignment", "top-k"][number] in done.stdout
