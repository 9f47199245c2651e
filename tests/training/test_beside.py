"""Work in a copy of this process: done, stopped, failed or left alone, it does no harm."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from clearhead.training.beside import beside, can_work_beside

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux")


def test_the_work_is_done_when_the_block_has_ended(tmp_path: Path) -> None:
    def work(look_up: Callable[[], None]) -> None:
        time.sleep(0.2)
        look_up()
        (tmp_path / "pid").write_text(str(os.getpid()))

    with beside(work):
        assert not (tmp_path / "pid").exists()
    assert int((tmp_path / "pid").read_text()) != os.getpid()


def test_a_copy_is_stopped_with_the_block(tmp_path: Path) -> None:
    def work(look_up: Callable[[], None]) -> None:
        time.sleep(60)
        (tmp_path / "done").write_text("late")

    start = time.monotonic()
    with pytest.raises(ValueError, match="enough"), beside(work):
        raise ValueError("enough")
    assert time.monotonic() - start < 30
    assert not (tmp_path / "done").exists()


def test_what_goes_wrong_in_a_copy_is_not_told(capfd: pytest.CaptureFixture[str]) -> None:
    def work(look_up: Callable[[], None]) -> None:
        raise ValueError("nobody hears this")

    with beside(work):
        pass
    assert capfd.readouterr() == ("", "")


def test_a_copy_that_is_left_alone_ends(tmp_path: Path) -> None:
    code = f"""
import os, time
from pathlib import Path
from clearhead.training.beside import beside

def work(look_up):
    while True:
        Path({str(tmp_path / "seen")!r}).write_text(str(os.getpid()))
        look_up()
        time.sleep(0.05)

with beside(work):
    time.sleep(60)
"""
    process = subprocess.Popen([sys.executable, "-c", code])
    seen = tmp_path / "seen"
    until(lambda: seen.exists() and bool(seen.read_text()))
    copy = int(seen.read_text())
    process.send_signal(signal.SIGKILL)
    process.wait()
    until(lambda: not is_running(copy))


def until(is_so: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    """One that has ended, and that nobody has asked for yet, does not run."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_two_need_two_threads() -> None:
    usual = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        assert not can_work_beside(torch.device("cpu"))
        torch.set_num_threads(2)
        assert can_work_beside(torch.device("cpu"))
        assert not can_work_beside(torch.device("meta"))
    finally:
        torch.set_num_threads(usual)
