"""What is written is executed: commands, Python blocks, links and versions of the documents.

Every line of an `sh` block is a command. It is run in the repository's root and must succeed and
print something. The exceptions are listed here, each with its reason.
"""

import os
import re
import shlex
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from clearhead import __version__
from tests.house.test_architecture import ROOMS
from tests.house.tree import PACKAGE, ROOT, refuse

DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LANGUAGES = {"sh", "python", "text"}

# `make -n` shows the commands of a goal without running them.
ONLY_SHOWN = {
    "make demo": "tests/cli/test_demo.py runs it",
    "make test": "it is what is running now",
    "make check": "it is part of `make test`, which is running now",
    "make format": "it rewrites the files",
}
NOT_RUN = {
    **{
        f".venv/bin/clearhead {rest}": "the reader's own file; tests/cli runs it on another"
        for rest in (
            "check pairs.tsv",
            "train pairs.tsv --to en-hi",
            'run en-hi "How are you?"',
            "evaluate en-hi test.tsv",
            "show en-hi",
            'look en-hi "How are you?"',
            "bench en-hi",
            "check plays.txt",
            "train plays.txt --to plays",
            'run plays "ROMEO:" --temperature 0.8 --seed 1',
            "evaluate plays other.txt",
            'look plays "ROMEO:" --view steps --temperature 0.8 --top-k 5',
            'look plays "ROMEO:" --view heads --out heads.svg',
            "check questions.tsv",
            "train questions.tsv --to questions",
            'run questions "How tall is the Sears Building ?"',
            'look questions "How tall is the Sears Building ?"',
            "evaluate questions test.tsv",
            "convert all-MiniLM-L6-v2 minilm",
            "train reviews.tsv --to sentiment --from minilm",
            "check articles.jsonl",
            "train articles.jsonl --to news",
            "run news < articles.txt",
            "evaluate news other.jsonl",
            'look news "A long text …" --view align --out reads.svg',
            "check squad.json",
            "train squad.json --to squad",
            "train squad.json --from minilm --to squad-minilm",
            'run squad "Who ran?" "In 1973 a dog ran."',
            "evaluate squad other.json",
            'look squad "Who ran?" "In 1973 a dog ran." --out span.svg',
            "train plays.txt --task fill --to gaps",
            'run gaps "It is the <mask> of the king."',
            'run gaps "It is the <mask> of the king." --n-best 3',
            'look gaps "It is the <mask> of the king."',
            'look gaps "It is the <mask> of the king." --view layers',
            "evaluate gaps other.txt",
            "train letters.txt --task fill --from gaps --to letters",
            "check flowers",
            "train flowers --to flower-model",
            "run flower-model rose.jpg",
            "evaluate flower-model more-flowers",
            "look flower-model rose.jpg --out rose.svg",
            "convert TinyLlama llama",
            "convert llama copy",
            "convert llama fast --to-format ctranslate2",
            "convert llama model.gguf --to-format gguf",
        )
    },
    ".venv/bin/python benchmarks/layers.py --quick": "takes a minute, and measures this machine",
}


def blocks(text: str) -> list[tuple[str, str]]:
    r"""(language, content) of the fenced blocks.

    >>> blocks("a\n```sh\nmake demo\n```\nb\n```\nc\n```\n")
    [('sh', 'make demo\n'), ('', 'c\n')]
    """
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def commands(text: str) -> list[str]:
    """Every line of the `sh` blocks, without comments."""
    lines = [line for kind, body in blocks(text) if kind == "sh" for line in body.splitlines()]
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


ALL_COMMANDS = sorted({line for path in DOCUMENTS for line in commands(_read(path))})
PYTHON_BLOCKS = [
    pytest.param(body, id=f"{_name(path)}-{number}")
    for path in DOCUMENTS
    for number, (kind, body) in enumerate(blocks(_read(path)))
    if kind == "python"
]


def run(command: str) -> str:
    """Run a command as a reader would, with this environment's programs; return its output.

    Set-up needs the network and has its own test, so `make` is told that it has been done.
    """
    venv, programs = shlex.quote(sys.prefix), Path(sys.executable).parent
    if command.startswith("make "):
        command = command.replace("make ", f"make VENV={venv} --old-file={venv}/.ready ", 1)
    command = command.replace(".venv/bin/", f"{shlex.quote(str(programs))}/")
    outer = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PYTEST_ADDOPTS"}
    env = {name: value for name, value in os.environ.items() if name not in outer}
    env["PATH"] = os.pathsep.join([str(programs), env.get("PATH", "")])
    result = subprocess.run(
        command,
        shell=True,
        cwd=ROOT,
        env=env,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


@pytest.mark.parametrize("command", [c for c in ALL_COMMANDS if c not in {**ONLY_SHOWN, **NOT_RUN}])
def test_command_runs(command: str) -> None:
    assert run(command).strip()


@pytest.mark.parametrize("command", [c for c in ALL_COMMANDS if c in ONLY_SHOWN])
def test_command_can_be_shown(command: str) -> None:
    assert run(command.replace("make ", "make -n ", 1)).strip()


def test_the_exceptions_are_still_written_somewhere() -> None:
    refuse(sorted({*ONLY_SHOWN, *NOT_RUN} - set(ALL_COMMANDS)))


def test_the_readme_shows_its_two_commands() -> None:
    assert {"make demo", "make test"} <= set(commands(_read(ROOT / "README.md")))


@pytest.mark.parametrize("block", PYTHON_BLOCKS)
def test_python_block_runs(block: str) -> None:
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", block],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()


@pytest.mark.parametrize("path", DOCUMENTS, ids=_name)
def test_fenced_blocks_have_a_language(path: Path) -> None:
    text = _read(path)
    assert len(re.findall(r"^```", text, flags=re.MULTILINE)) == 2 * len(blocks(text))
    refuse([body for language, body in blocks(text) if language not in LANGUAGES])


@pytest.mark.parametrize("path", [*DOCUMENTS, ROOT / "CHANGELOG.md"], ids=_name)
def test_links_lead_somewhere(path: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", _read(path), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    refuse([target for target in targets if not _leads_somewhere(path, target)])


def _leads_somewhere(path: Path, target: str) -> bool:
    if re.match(r"[a-z]+:", target):  # a page on the web
        return True
    place, _, section = target.partition("#")
    goal = path.parent / place if place else path
    return goal.exists() and (not section or section in _sections(_read(goal)))


def _sections(text: str) -> set[str]:
    r"""Names under which the headings of a document can be linked.

    >>> sorted(_sections("# The map\n## How to add a model"))
    ['how-to-add-a-model', 'the-map']
    """
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", DOCUMENTS, ids=_name)
def test_no_place_waits_for_its_text(path: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", _read(path), flags=re.MULTILINE | re.DOTALL)
    refuse(re.findall(r"^[A-Z]+(?:_[A-Z]+)*$", text, flags=re.MULTILINE))


@pytest.mark.parametrize("path", DOCUMENTS, ids=_name)
def test_named_paths_exist(path: Path) -> None:
    named = re.findall(r"`((?:src|tests|docs)/[\w./-]*)`", _read(path))
    refuse([name for name in named if not (ROOT / name).exists()])


def test_the_changelog_begins_with_this_version() -> None:
    headings = re.findall(r"^## (.+)$", _read(ROOT / "CHANGELOG.md"), flags=re.MULTILINE)
    released = [heading for heading in headings if heading != "[Unreleased]"]
    match = re.fullmatch(r"\[(\S+)\] - (\d{4}-\d{2}-\d{2})", released[0])
    assert match, f"{released[0]!r} should look like [1.2.3] - 2026-11-15"
    assert match[1] == __version__
    date.fromisoformat(match[2])


def test_the_map_tells_which_rooms_exist() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \|.*\| (\w+) \|$", _read(ROOT / "docs/map.md"), flags=re.MULTILINE
    )
    assert [room for room, _ in rows] == list(ROOMS)
    there = {path.name.removesuffix(".py") for path in PACKAGE.iterdir()}
    assert rows == [(room, "here" if room in there else "planned") for room in ROOMS]


def test_contributors_are_told_which_rooms_exist() -> None:
    text = (
        _read(ROOT / "CONTRIBUTING.md")
        .partition("\n## The map of rooms\n")[2]
        .partition("\n## ")[0]
    )
    first_cells = re.findall(r"^\|([^|]+)\|", text, flags=re.MULTILINE)
    rooms = [room for cell in first_cells for room in re.findall(r"`(\w+)`", cell)]
    there = {path.name.removesuffix(".py") for path in PACKAGE.iterdir()}
    assert rooms == [room for room in ROOMS if room in there]
