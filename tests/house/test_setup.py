"""Set-up: installed once, from exact versions, by the two commands of the README."""

import os
import re
import shutil
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.house.tree import ROOT, refuse

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
INSTALL = "pip install"


def read_pins() -> dict[str, Version]:
    """Distribution → version, from lines that name exactly one version each."""
    pins: dict[str, Version] = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            match = re.fullmatch(r"([\w.-]+)==(\S+)", line)
            assert match, f"constraints.txt: {line!r} is not name==version"
            pins[canonicalize_name(match[1])] = Version(match[2])
    return pins


def required() -> list[Requirement]:
    """Every requirement in `pyproject.toml`: to run, to develop, to compare, to build."""
    project = PROJECT["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    lists.append(PROJECT["build-system"]["requires"])
    return [Requirement(text) for requirements in lists for text in requirements]


def installed_below(requirements: list[Requirement]) -> set[str]:
    """The installed distributions that these requirements need, directly or through others."""
    found: set[str] = set()
    waiting = [(r.name, extra) for r in requirements for extra in ("", *r.extras)]
    seen = set()
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        try:
            needs = [Requirement(text) for text in distribution(name).requires or []]
        except PackageNotFoundError:
            continue
        found.add(canonicalize_name(name))
        needs = [r for r in needs if r.marker is None or r.marker.evaluate({"extra": extra})]
        waiting += [(r.name, more) for r in needs for more in ("", *r.extras)]
    return found


def test_every_requirement_has_a_pin_in_its_range() -> None:
    pins = read_pins()
    for requirement in required():
        pin = pins.get(canonicalize_name(requirement.name))
        assert pin is not None, f"constraints.txt does not pin {requirement.name}"
        assert pin in requirement.specifier, f"{requirement.name}=={pin} is not in {requirement}"


def test_everything_that_gets_installed_has_a_pin() -> None:
    needed = installed_below(required())
    assert "pluggy" in needed, "what pytest needs was not found"
    refuse(sorted(needed - set(read_pins())))


def test_torch_is_pinned_without_a_build_tag() -> None:
    assert str(read_pins()["torch"]) == "2.13.0"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Stand in for a clone: the files that `make` looks at, set up a moment ago."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
        os.utime(tmp_path / name, (1_000, 1_000))
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / ".ready").touch()
    return tmp_path


def show(project: Path, goal: str) -> str:
    """What `make` would do, without doing it."""
    outer = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}
    return subprocess.run(
        ["make", "-n", goal],
        cwd=project,
        env={name: value for name, value in os.environ.items() if name not in outer},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.parametrize("goal", ["demo", "test"])
def test_set_up_happens_once(project: Path, goal: str) -> None:
    assert INSTALL not in show(project, goal)


@pytest.mark.parametrize("goal", ["demo", "test"])
def test_set_up_is_part_of_both_commands(project: Path, goal: str) -> None:
    (project / ".venv" / ".ready").unlink()
    steps = show(project, goal)
    assert INSTALL in steps
    assert "PIP_CONSTRAINT=constraints.txt" in steps
    assert "[dev,oracles]" in steps


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_set_up_happens_again_when_it_must(project: Path, name: str) -> None:
    os.utime(project / ".venv" / ".ready", (2_000, 2_000))
    assert INSTALL not in show(project, "demo")
    os.utime(project / name, (3_000, 3_000))
    assert INSTALL in show(project, "demo")


def test_ci_runs_the_tests() -> None:
    run = ROOT / ".ci" / "run"
    assert os.access(run, os.X_OK)
    assert "make test" in run.read_text(encoding="utf-8").splitlines()
