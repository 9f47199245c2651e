"""Shards give back what was written, and refuse what is damaged or incomplete."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearhead.data.shards import Shards, ShardWriter
from clearhead.errors import ConfigError, InputError

Pairs = list[tuple[list[int], list[int]]]

PAIRS: Pairs = [([5, 6], [7]), ([], [8, 9, 9]), ([4], []), ([1, 2, 3], [4, 5]), ([9], [9])]


def write(folder: Path, pairs: Pairs, n_tokens: int = 10, n_per_shard: int = 2) -> Shards:
    with ShardWriter(folder, n_tokens, n_per_shard) as writer:
        for source, target in pairs:
            writer.add(source, target)
    return Shards(folder)


def read(shards: Shards) -> Pairs:
    found = [shards[number] for number in range(len(shards))]
    return [(source.tolist(), target.tolist()) for source, target in found]


sentences = st.lists(st.integers(0, 99_999), max_size=5)


@given(
    pairs=st.lists(st.tuples(sentences, sentences), min_size=1, max_size=20),
    n_per_shard=st.integers(1, 8),
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, pairs: Pairs, n_per_shard: int
) -> None:
    folder = tmp_path_factory.mktemp("shards")
    shards = write(folder / "one", pairs, 100_000, n_per_shard)
    assert read(shards) == pairs
    assert shards.lengths.tolist() == [[len(source), len(target)] for source, target in pairs]
    shards.verify()
    with ShardWriter(folder / "many", 100_000, 3) as writer:
        tokens = [token for source, target in pairs for token in [*source, *target]]
        writer.add_many(np.array(tokens, dtype=np.int64), shards.lengths)
    many = Shards(folder / "many")
    assert read(many) == pairs
    assert many.fingerprint == shards.fingerprint


@pytest.mark.parametrize(("n_tokens", "size"), [(2**16, 2), (2**16 + 1, 4)])
def test_small_vocabularies_take_two_bytes(tmp_path: Path, n_tokens: int, size: int) -> None:
    shards = write(tmp_path / "shards", [([n_tokens - 1], [0])], n_tokens)
    assert read(shards) == [([n_tokens - 1], [0])]
    assert (tmp_path / "shards/tokens-00000.bin").stat().st_size == 2 * size


def test_the_fingerprint_tells_data_apart(tmp_path: Path) -> None:
    one = write(tmp_path / "1", PAIRS)
    assert write(tmp_path / "2", PAIRS, n_per_shard=100).fingerprint == one.fingerprint
    assert write(tmp_path / "3", PAIRS[::-1]).fingerprint != one.fingerprint
    assert write(tmp_path / "4", [([5], [6, 7]), *PAIRS[1:]]).fingerprint != one.fingerprint


def test_the_folder_appears_when_it_is_complete(tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    with ShardWriter(folder, 10, 1) as writer:
        writer.add([1], [2])
        assert not folder.exists()
        with pytest.raises(InputError, match="no folder of shards"):
            Shards(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["shards"]
    with pytest.raises(InputError, match="exists already"):
        ShardWriter(folder, 10)


def test_a_failed_run_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with ShardWriter(tmp_path / "shards", 10, 1) as writer:
            writer.add([1], [2])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    with pytest.raises(InputError, match="would be empty"), ShardWriter(tmp_path / "shards", 10):
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_cleared_away(tmp_path: Path) -> None:
    ShardWriter(tmp_path / "shards", 10, 1).add([1], [2])
    assert (tmp_path / "shards.part").exists()
    assert read(write(tmp_path / "shards", PAIRS)) == PAIRS


def test_tokens_outside_the_vocabulary_are_refused(tmp_path: Path) -> None:
    for bad in (10, -1, 70_000):
        with pytest.raises(InputError, match="pair 4 has"):
            write(tmp_path / "shards", [*PAIRS[:3], ([1, bad], [2])])
        with ShardWriter(tmp_path / "shards", 10) as writer:
            writer.add([1], [2])
            with pytest.raises(InputError, match=f"pair 3 has the token {bad}"):
                writer.add_many(np.array([1, 2, 3, bad]), np.array([[1, 1], [0, 2]]))
        Shards(tmp_path / "shards").verify()
        (tmp_path / "shards").rename(tmp_path / f"shards {bad}")
    with pytest.raises(ConfigError, match="must be positive"):
        ShardWriter(tmp_path / "other", 0)


def test_damaged_shards_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    write(folder, PAIRS)
    files = sorted(path for path in folder.iterdir() if path.suffix == ".bin")
    assert len(files) == 5
    for path in files:
        whole = path.read_bytes()
        for data in (whole[:-1], whole + b"\0", b""):
            path.write_bytes(data)
            with pytest.raises(InputError, match=f"{path.name} is damaged: it has"):
                Shards(folder)
        path.unlink()
        with pytest.raises(InputError, match=f"{path.name} cannot be read"):
            Shards(folder)
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(InputError, match=r"ha(s|ve) changed"):
            Shards(folder).verify()
        path.write_bytes(whole)
    Shards(folder).verify()


def test_a_foreign_index_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    write(folder, PAIRS)
    path = folder / "index.json"
    index = json.loads(path.read_text())
    for text, message in {
        "{": "not JSON",
        "[]": "not of the format",
        json.dumps(index | {"format": "other"}): "not of the format",
        json.dumps(index | {"n_pairs": 9}): "counts do not fit",
        json.dumps(index | {"n_per_shard": 0}): "counts do not fit",
        json.dumps(index | {"shard_sizes": None}): "counts do not fit",
        json.dumps(index | {"fingerprint": None}): "counts do not fit",
    }.items():
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            Shards(folder)


def test_there_is_no_pair_beyond_the_last(tmp_path: Path) -> None:
    shards = write(tmp_path / "shards", PAIRS)
    for number in (-1, 5):
        with pytest.raises(IndexError):
            shards[number]


def test_tokens_are_read_where_positions_are_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shards = write(tmp_path / "shards", PAIRS)
    monkeypatch.delattr("os.pread", raising=False)  # as on Windows
    assert read(shards) == PAIRS
    shards.verify()


def test_a_file_that_shrinks_while_open_is_noticed(tmp_path: Path) -> None:
    shards = write(tmp_path / "shards", PAIRS)
    (tmp_path / "shards/tokens-00000.bin").write_bytes(b"")
    with pytest.raises(InputError, match="became shorter"):
        shards[0]
