"""Free memory goes back to the system when a run holds much more than it needs."""

from pathlib import Path

import pytest

from clearhead.training import memory
from clearhead.training.memory import GiveBack, most_bytes, peak_bytes


def test_gives_back_only_when_too_much_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    held, given = [100], []

    def trim(n_kept: int) -> int:
        given.append(held[0])
        held[0] = 100
        return 1

    monkeypatch.setattr(memory, "_held_bytes", lambda: held[0])
    monkeypatch.setattr(memory, "_trim", lambda: trim)
    give_back = GiveBack()
    for held[0] in (100, 120, 299, 300, 301, 150):
        for _ in range(memory.N_STEPS):
            give_back()
    assert given == [100, 301]  # the first time shows what is needed


@pytest.mark.skipif(memory._trim() is None, reason="not GNU's C library: nothing is given back")
def test_what_is_free_between_what_is_used_goes_back() -> None:
    blocks: list[bytearray | None] = [bytearray(100_000) for _ in range(2000)]
    held = memory._held_bytes()
    blocks[::2] = [None] * 1000
    give_back = GiveBack()
    for _ in range(memory.N_STEPS):
        give_back()
    assert give_back.n_needed < held - 50_000_000
    assert all(block is not None for block in blocks[1::2])


def test_where_the_system_does_not_tell_nothing_is_given_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given: list[int] = []
    monkeypatch.setattr(memory, "STATUS", tmp_path / "missing")
    monkeypatch.setattr(memory, "_trim", lambda: given.append)
    give_back = GiveBack()
    for _ in range(3 * memory.N_STEPS):
        give_back()
    assert not given


def test_the_peak_is_at_least_what_is_held() -> None:
    assert most_bytes(peak_bytes()) > peak_bytes() > 10_000_000
