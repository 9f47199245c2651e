"""`clearhead train` up to the training itself: how its options are read and handed on."""

import importlib
from pathlib import Path
from typing import Any

import pytest

from clearhead.cli.train import read_settings, read_time, show_training
from clearhead.data import PairFile
from clearhead.errors import ClearheadError, ConfigError, InputError
from clearhead.training import Interrupted
from tests.data.writing import many_pairs, write_tsv

OPTIONS: dict[str, Any] = {
    "validation": (),
    "test": (),
    "size": None,
    "time": None,
    "settings": (),
    "device": "cpu",
}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What training was asked for, instead of training."""
    calls: list[dict[str, Any]] = []

    def train(pairs: PairFile, to: Path, **options: Any) -> None:
        calls.append({"pairs": pairs, "to": to, **options})

    monkeypatch.setattr(importlib.import_module("clearhead.tasks.train"), "train", train)
    return calls


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_tsv(tmp_path / "en-hi.tsv", many_pairs(3))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("30m", 1800),
        ("2h", 7200),
        ("1h30m", 5400),
        ("1h 30m 15s", 5415),
        ("0.5h", 1800),
        (" 2H ", 7200),
        ("0h10m", 600),
    ],
)
def test_times(text: str, seconds: float) -> None:
    assert read_time(text) == seconds


@pytest.mark.parametrize(
    "text", ["30", "1.5", "", "m", "-5m", "soon", "30m1h", "1h1h", "1d", "infs", "nanh", "1e3s"]
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(InputError, match="such as 90s, 30m, 2h or 1h30m") as error:
        read_time(text)
    assert repr(text) in str(error.value)


@pytest.mark.parametrize("text", ["0s", "0h0m", "0.0m", "9" * 400 + "h"])
def test_no_time_at_all(text: str) -> None:
    with pytest.raises(InputError, match="leaves no time"):
        read_time(text)


def test_settings_are_split_at_the_first_equals_sign() -> None:
    assert read_settings(()) == {}
    assert read_settings(["a.b = 1", "c=x=y"]) == {"a.b": "1", "c": "x=y"}


@pytest.mark.parametrize("text", ["training.lr", "training.lr 0.1", "=0.1", "training.lr=", ""])
def test_what_is_no_setting(text: str) -> None:
    with pytest.raises(InputError, match="is not KEY=VALUE"):
        read_settings(["smoothing=0.1", text])


def test_a_setting_is_given_once() -> None:
    with pytest.raises(InputError, match="gives a twice, as 1 and as 2"):
        read_settings(["a=1", "b=1", "a=2"])


def test_options_are_handed_on(path: Path, tmp_path: Path, asked: list[dict[str, Any]]) -> None:
    held_out = write_tsv(tmp_path / "held-out.tsv", many_pairs(2))
    changes = {
        "validation": (held_out,),
        "size": "small",
        "time": "30m",
        "settings": ("training.lr=0.001",),
    }
    show_training((path,), ("1", "2"), to=tmp_path / "model", **(OPTIONS | changes))
    (call,) = asked
    assert len(list(call["pairs"])) == 3
    assert len(list(call["validation"])) == 2
    assert call["test"] is None
    assert call["to"] == tmp_path / "model"
    assert (call["size"], call["seconds"], call["device"]) == ("small", 1800, "cpu")
    assert call["settings"] == {"training.lr": "0.001"}


def test_an_unknown_size_names_the_nearest(path: Path, asked: list[dict[str, Any]]) -> None:
    with pytest.raises(ConfigError, match=r"no size 'smal' .* did you mean small"):
        show_training((path,), None, to=path.parent, **(OPTIONS | {"size": "smal"}))
    assert asked == []


@pytest.mark.parametrize("change", [{"time": "30"}, {"settings": ("lr",)}, {"test": (Path("?"),)}])
def test_wrong_options_are_refused_before_training(
    path: Path, asked: list[dict[str, Any]], change: dict[str, Any]
) -> None:
    with pytest.raises(ClearheadError):
        show_training((path,), None, to=path.parent, **(OPTIONS | change))
    assert asked == []


def test_a_stopped_run_is_no_error(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def train(*_: Any, **__: Any) -> None:
        raise Interrupted("stopped at step 12 [sic]; the same command goes on")

    monkeypatch.setattr(importlib.import_module("clearhead.tasks.train"), "train", train)
    with pytest.raises(SystemExit) as stopped:
        show_training((path,), None, to=path.parent, **OPTIONS)
    assert stopped.value.code == 130
    assert "stopped at step 12 [sic]; the same command goes on\n" in capsys.readouterr().out


def test_other_errors_go_on(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def train(*_: Any, **__: Any) -> None:
        raise InputError("the disk is full")

    monkeypatch.setattr(importlib.import_module("clearhead.tasks.train"), "train", train)
    with pytest.raises(InputError, match="the disk is full"):
        show_training((path,), None, to=path.parent, **OPTIONS)
