"""The loop: nothing is lost, whatever happens, and a resumed run equals an uninterrupted one."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from torch import Tensor

from clearhead.errors import InputError
from clearhead.training import Interrupted
from clearhead.training.checkpoint import Checkpoints, read_checkpoint, write_bytes
from tests.training import toy_run


def _end(folder: Path) -> dict[str, Tensor]:
    """Return all tensors of the last checkpoint: weights, averages, optimizer, random state."""
    path = Checkpoints(folder).last()
    assert path is not None
    return read_checkpoint(path)[0]


def _assert_equal(one: dict[str, Tensor], other: dict[str, Tensor]) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert torch.equal(value, other[name]), name


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Tensor]:
    """The end of a run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    outcome = toy_run.make(folder).run()
    assert outcome.step == 60
    assert outcome.best_score > -1
    return _end(folder)


@pytest.mark.parametrize("stop_at", [1, 7, 11, 13, 29])
def test_a_stopped_run_goes_on_bit_by_bit(
    stop_at: int, whole: dict[str, Tensor], tmp_path: Path
) -> None:
    trainer = toy_run.make(tmp_path)

    def tell(kind: str, facts: dict[str, object]) -> None:
        if kind == "step" and facts["step"] == stop_at:
            os.kill(os.getpid(), signal.SIGTERM)

    trainer.tell = tell
    with pytest.raises(Interrupted, match=f"stopped at step {stop_at}; everything is saved"):
        trainer.run()
    torch.rand(1000)
    toy_run.make(tmp_path).run()
    _assert_equal(_end(tmp_path), whole)
    lines = [json.loads(line) for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines if line["kind"] == "step"] == list(range(1, 61))


@pytest.mark.slow
def test_a_killed_run_goes_on_bit_by_bit(whole: dict[str, Tensor], tmp_path: Path) -> None:
    """SIGKILL at random moments, in the middle of checkpoints, too."""
    rng = random.Random(5)
    command = [sys.executable, "-m", "tests.training.toy_run", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": "src:."}
    n_killed = 0
    for strike in range(8):
        process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
        checkpoints = set(tmp_path.glob("step-*.safetensors"))
        deadline = time.monotonic() + 60
        # Wait for a checkpoint that is being written, or for a new one and a while, then strike.
        while process.poll() is None and time.monotonic() < deadline:
            if strike % 2 and any(tmp_path.glob("step-*.part")):
                break
            if set(tmp_path.glob("step-*.safetensors")) - checkpoints:
                time.sleep(rng.random() * 0.1)
                break
        process.kill()
        process.communicate()
        n_killed += process.returncode == -signal.SIGKILL
    assert n_killed >= 3
    end = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True)
    assert end.returncode == 0, end.stderr
    _assert_equal(_end(tmp_path), whole)


def test_micro_batches_equal_one_batch(tmp_path: Path) -> None:
    """Dropout aside: the toy's is switched off here."""
    ends = []
    for name, n_accumulated in (("one", 1), ("four", 4)):
        trainer = toy_run.make(
            tmp_path / name,
            toy_run.CONFIG.override({"n_accumulated": n_accumulated, "n_steps": 1}),
        )
        trainer.model[2].p = 0.0  # type: ignore[index]
        x = torch.randn(16, 5, generator=torch.Generator().manual_seed(0))

        class Fixed:
            def __init__(self, batches: list[Tensor]) -> None:
                self.batches = batches

            def epoch(self, number: int, start: int = 0):  # type: ignore[no-untyped-def]
                return iter((x, x.sum(1, keepdim=True)) for x in self.batches)

        trainer.batches = Fixed(list(x.split(16 // n_accumulated)))
        trainer.run()
        ends.append(_end(tmp_path / name))
    for key in ends[0]:
        torch.testing.assert_close(ends[0][key], ends[1][key])


def test_dropout_grows_and_is_all_there_after_its_rise(tmp_path: Path) -> None:
    trainer = toy_run.make(tmp_path)
    usual, seen = trainer.loss, []

    def loss(batch: toy_run.Batch) -> tuple[Tensor, Tensor, int]:
        x = trainer.model[2](torch.ones(20, 3000))  # type: ignore[index]
        seen.append(float((x == 0).float().mean()))
        return usual(batch)

    trainer.loss = loss
    trainer.run()
    expected = [0.3 * min(1, step / 30) for step in range(60)]
    assert seen == pytest.approx(expected, abs=0.015)
    assert seen[0] == 0.0


def test_numbers_that_are_not_finite_are_left_out_and_reported(tmp_path: Path) -> None:
    trainer = toy_run.make(tmp_path, toy_run.CONFIG.override({"n_steps": 5}))
    plain_loss = trainer.loss

    def loss(batch: toy_run.Batch) -> tuple[Tensor, Tensor, int]:
        error, plain, n = plain_loss(batch)
        factor = float("nan") if trainer.progress.step == 2 else 1.0
        return error * factor, plain * factor, n

    trainer.loss = loss
    outcome = trainer.run()
    assert outcome.step == 5
    assert trainer.progress.n_bad_steps == 1
    kinds = [line["kind"] for line in trainer.journal.read()]
    assert kinds.count("skipped") == 1
    assert all(value.isfinite().all() for value in _end(tmp_path).values())


def test_a_hopeless_run_says_what_to_do(tmp_path: Path) -> None:
    trainer = toy_run.make(tmp_path)
    nan = torch.tensor(float("nan"), requires_grad=True)
    trainer.loss = lambda batch: (nan * 1, nan.detach(), 1)
    with pytest.raises(
        InputError, match=r"20 steps in a row were left out.*not a finite number.*lower"
    ):
        trainer.run()


def test_it_stops_when_nothing_gets_better(tmp_path: Path) -> None:
    trainer = toy_run.make(tmp_path, toy_run.CONFIG.override({"patience": 2}))
    scores = iter([1.0, 3.0, 2.0, 2.0, 9.0])
    trainer.validate = lambda: {"score": next(scores)}
    outcome = trainer.run()
    assert outcome.reason == "no better score in 2 validations"
    assert (outcome.best_score, outcome.best_step, outcome.step) == (3.0, 14, 28)
    assert read_checkpoint(tmp_path / "best.safetensors")[1]["step"] == 14


def test_a_folder_with_another_run_is_refused(tmp_path: Path) -> None:
    toy_run.make(tmp_path, toy_run.CONFIG.override({"n_steps": 7})).run()
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(InputError, match="holds a run with other settings"):
        toy_run.make(tmp_path, toy_run.CONFIG.override({"n_steps": 9})).run()
    assert before == {path: path.read_bytes() for path in tmp_path.iterdir()}


def test_a_cut_off_file_is_named(tmp_path: Path) -> None:
    toy_run.make(tmp_path, toy_run.CONFIG.override({"n_steps": 7})).run()
    path = Checkpoints(tmp_path).last()
    assert path is not None
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(InputError, match="is not a whole checkpoint"):
        toy_run.make(tmp_path, toy_run.CONFIG.override({"n_steps": 7})).run()


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_bytes(path, b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_gradient_far_out_of_line_is_left_out_until_it_is_usual(tmp_path: Path) -> None:
    """One bad batch must not move the weights; a new order of size is accepted in the end."""
    changes = {"n_steps": 190, "validate_every": 1000}
    trainer = toy_run.make(tmp_path, toy_run.CONFIG.override(changes))
    usual = trainer.loss

    def loss(batch: toy_run.Batch) -> tuple[Tensor, Tensor, int]:
        step = trainer.progress.step + 1
        value, plain, n = usual(batch)
        factor = 1e6 if step == 120 else 1e3 if step > 150 else 1.0
        return factor * value, plain, n

    trainer.loss = loss
    trainer.run()
    skipped = [line for line in trainer.journal.read() if line["kind"] == "skipped"]
    assert skipped[0]["step"] == 120
    assert "times as large as usual" in skipped[0]["reason"]
    later = [line["step"] for line in skipped[1:]]
    assert later == list(range(151, 151 + len(later)))
    assert 5 < len(later) < 20
