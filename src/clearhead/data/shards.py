"""Tokenised sentence pairs on disk, read as if they were in memory, however many there are.

A folder of shards holds flat numbers and an index, nothing else:

    index.json          how many pairs and tokens, and a fingerprint of them all
    lengths.bin         int32, two for each pair: tokens of the source, tokens of the target
    offsets.bin         int64, one for each pair: where its tokens begin in their shard
    tokens-00000.bin    uint16 (uint32 for more than 65,536 tokens): source, target, source, …

Lengths and offsets are mapped into memory. Tokens are read from their file pair by pair: mapped,
each pair would pull megabytes of neighbours into the process, which soon holds the whole corpus.
"""

import json
import math
import os
import shutil
import weakref
from array import array
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from clearhead.errors import ConfigError, InputError

__all__ = ["ShardWriter", "Shards", "Swapped", "Tokens"]

Tokens = NDArray[np.uint16] | NDArray[np.uint32]

FORMAT: Final = "clearhead shards 1"
LENGTHS: Final = "lengths.bin"
OFFSETS: Final = "offsets.bin"
N_PER_SHARD: Final = 500_000
N_AT_ONCE: Final = 2**22


class ShardWriter:
    """Writes pairs one after the other; the folder appears when all are written.

        with ShardWriter(folder, n_tokens=tokenizer.n_tokens) as writer:
            writer.add(source, target)

    Until then the work lies beside it, in `<folder>.part`, and is removed if it fails.
    """

    def __init__(self, folder: Path, n_tokens: int, n_per_shard: int = N_PER_SHARD) -> None:
        if n_per_shard < 1 or not 1 <= n_tokens <= 2**32:
            raise ConfigError(f"n_per_shard={n_per_shard} and n_tokens={n_tokens} must be positive")
        if folder.exists():
            raise InputError(f"{folder} exists already and is not overwritten: choose another name")
        self.folder = folder
        self.n_tokens = n_tokens
        self.n_per_shard = n_per_shard
        self.n_pairs = 0
        self._kind = _token_kind(n_tokens)
        self._tokens = array("H" if self._kind == "<u2" else "I")
        self._lengths = array("i")
        self._sizes: list[int] = []
        self._hashes = blake2b(digest_size=16), blake2b(digest_size=16)
        self._part = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(self._part, ignore_errors=True)  # what a killed run left
        self._part.mkdir(parents=True)

    def add(self, source: Sequence[int], target: Sequence[int]) -> None:
        """Write one pair, without `<bos>` and `<eos>`: batches add them."""
        n_before = len(self._tokens)
        try:
            for side in (source, target):
                self._tokens.extend(side)
        except (OverflowError, TypeError):
            del self._tokens[n_before:]
            raise InputError(
                f"pair {self.n_pairs + 1} has a token that is not from 0 to {self.n_tokens - 1}"
            ) from None
        self._lengths.extend((len(source), len(target)))
        self.n_pairs += 1
        if len(self._lengths) == 2 * self.n_per_shard:
            self._write_shard()

    def add_many(self, tokens: NDArray[Any], lengths: NDArray[Any]) -> None:
        """Write many pairs: all tokens in a row, and a row (source, target) of lengths for each."""
        if lengths.ndim != 2 or lengths.shape[1] != 2 or lengths.sum() != len(tokens):
            raise InputError("the lengths must be (pairs, 2) and add up to the number of tokens")
        self._check(tokens, lengths, self.n_pairs)
        ends = lengths.sum(axis=1).cumsum()
        first = begin = 0
        while first < len(lengths):
            last = min(first + self.n_per_shard - len(self._lengths) // 2, len(lengths))
            end = int(ends[last - 1])
            self._tokens.frombytes(tokens[begin:end].astype(self._kind).tobytes())
            self._lengths.frombytes(lengths[first:last].astype("<i4").tobytes())
            self.n_pairs += last - first
            first, begin = last, end
            if len(self._lengths) == 2 * self.n_per_shard:
                self._write_shard()

    def close(self) -> None:
        """Write what is left and the index, and give the folder its name."""
        if self._lengths:
            self._write_shard()
        if not self.n_pairs:
            raise InputError(f"{self.folder} would be empty: no sentence pair was given")
        index = {
            "format": FORMAT,
            "n_pairs": self.n_pairs,
            "n_tokens": self.n_tokens,
            "n_per_shard": self.n_per_shard,
            "shard_sizes": self._sizes,
            "fingerprint": _fingerprint(*self._hashes),
        }
        with (self._part / "index.json").open("wb") as file:
            _write(file, json.dumps(index, indent=2).encode() + b"\n")
        self._part.rename(self.folder)

    def _write_shard(self) -> None:
        tokens = np.frombuffer(self._tokens, self._tokens.typecode).astype(self._kind, copy=False)
        lengths = np.frombuffer(self._lengths, "i").astype("<i4", copy=False).reshape(-1, 2)
        self._check(tokens, lengths, self.n_pairs - len(lengths))
        names = {
            f"tokens-{len(self._sizes):05d}.bin": tokens,
            LENGTHS: lengths,
            OFFSETS: _offsets(lengths),
        }
        for name, numbers in names.items():
            with (self._part / name).open("ab") as file:
                _write(file, numbers.data)
        for hashed, numbers in zip(self._hashes, (tokens, lengths), strict=True):
            hashed.update(numbers.data)
        self._sizes.append(len(tokens))
        self._tokens = array(self._tokens.typecode)
        self._lengths = array("i")

    def _check(self, tokens: NDArray[Any], lengths: NDArray[Any], n_before: int) -> None:
        if len(tokens) and not 0 <= tokens.min() <= tokens.max() < self.n_tokens:
            place = int(np.argmax((tokens < 0) | (tokens >= self.n_tokens)))
            row = int(np.searchsorted(lengths.sum(axis=1).cumsum(), place, side="right"))
            raise InputError(
                f"pair {n_before + row + 1} has the token {tokens[place]}, "
                f"and the vocabulary ends at {self.n_tokens - 1}"
            )

    def __enter__(self) -> "ShardWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self.close()
        finally:
            shutil.rmtree(self._part, ignore_errors=True)


class Shards:
    """The pairs of a folder that `ShardWriter` wrote: `shards[i]` is (source, target).

    Opening compares the files' sizes with the index; `verify` reads every byte.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        index = _read_index(folder)
        self.n_tokens: int = index["n_tokens"]
        self.fingerprint: str = index["fingerprint"]
        self._n_pairs: int = index["n_pairs"]
        self._n_per_shard: int = index["n_per_shard"]
        self._lengths = self._map(LENGTHS, "<i4", 2 * self._n_pairs).reshape(-1, 2)
        self._offsets = self._map(OFFSETS, "<i8", self._n_pairs)
        self._kind = np.dtype(_token_kind(self.n_tokens))
        self._sizes: list[int] = index["shard_sizes"]
        self._files: list[int] = []
        weakref.finalize(self, _close, self._files)
        for number, size in enumerate(self._sizes):
            path = self._checked(f"tokens-{number:05d}.bin", self._kind, size)
            self._files.append(os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0)))

    def __len__(self) -> int:
        return self._n_pairs

    def __getitem__(self, pair: int) -> tuple[Tokens, Tokens]:
        if not 0 <= pair < self._n_pairs:
            raise IndexError(f"pair {pair} of {self._n_pairs}")
        n_source, n_target = self._lengths[pair].tolist()
        begin = int(self._offsets[pair])
        tokens = self._read(pair // self._n_per_shard, begin, n_source + n_target)
        return tokens[:n_source], tokens[n_source:]

    @property
    def lengths(self) -> NDArray[np.int32]:
        """Tokens of the source and of the target of each pair, a row each; mapped, not loaded."""
        return self._lengths

    def verify(self) -> None:
        """Read everything once, and refuse it if a single bit has changed."""
        hashes = blake2b(digest_size=16), blake2b(digest_size=16)
        for number, size in enumerate(self._sizes):
            for begin in range(0, size, N_AT_ONCE):
                tokens = self._read(number, begin, min(N_AT_ONCE, size - begin))
                hashes[0].update(tokens.data)
        hashes[1].update(self._lengths.data)
        if _fingerprint(*hashes) != self.fingerprint:
            raise InputError(f"{self.folder} is damaged: its tokens have changed; make it again")
        for number in range(len(self._sizes)):
            rows = slice(number * self._n_per_shard, (number + 1) * self._n_per_shard)
            if not np.array_equal(self._offsets[rows], _offsets(self._lengths[rows])):
                raise InputError(f"{self.folder} is damaged: {OFFSETS} has changed; make it again")

    def _read(self, shard: int, begin: int, n_tokens: int) -> Tokens:
        size = self._kind.itemsize
        data = _read_at(self._files[shard], n_tokens * size, begin * size)
        if len(data) < n_tokens * size:
            raise InputError(f"{self.folder} became shorter while it was read; make it again")
        return np.frombuffer(data, self._kind)

    def _map(self, name: str, kind: str, size: int) -> NDArray[Any]:
        path = self._checked(name, np.dtype(kind), size)
        return np.memmap(path, kind, mode="r").view(np.ndarray)

    def _checked(self, name: str, kind: np.dtype[Any], size: int) -> Path:
        """Return the path of a file that holds `size` numbers, and refuse any other."""
        path = self.folder / name
        try:
            found = path.stat().st_size
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from None
        if found != size * kind.itemsize:
            raise InputError(
                f"{path} is damaged: it has {found} bytes and should have {size * kind.itemsize}; "
                "make the shards again"
            )
        return path


class Swapped:
    """The same pairs the other way round: what was the target is the source."""

    def __init__(self, shards: Shards) -> None:
        self.shards = shards

    def __len__(self) -> int:
        """How many pairs there are."""
        return len(self.shards)

    def __getitem__(self, pair: int) -> tuple[Tokens, Tokens]:
        """Return target and source of a pair."""
        source, target = self.shards[pair]
        return target, source

    @property
    def lengths(self) -> NDArray[np.int32]:
        """Tokens of the target and of the source of each pair, a row each."""
        return self.shards.lengths[:, ::-1]


def _read_at(file: int, n_bytes: int, place: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(file, n_bytes, place)
    os.lseek(file, place, os.SEEK_SET)  # Windows
    return os.read(file, n_bytes)


def _close(files: list[int]) -> None:
    for file in files:
        os.close(file)


def _token_kind(n_tokens: int) -> str:
    return "<u2" if n_tokens <= 2**16 else "<u4"


def _offsets(lengths: NDArray[Any]) -> NDArray[Any]:
    """Where each pair of a shard begins."""
    sizes = lengths.sum(axis=1, dtype="<i8")
    return sizes.cumsum() - sizes


def _fingerprint(tokens: "blake2b", lengths: "blake2b") -> str:
    """Name the data by its content; how it is cut into shards does not matter."""
    return blake2b(tokens.digest() + lengths.digest(), digest_size=16).hexdigest()


def _write(file: BinaryIO, data: bytes | memoryview) -> None:
    """Write and wait for the disk, so that the folder's new name never promises too much."""
    file.write(data)
    file.flush()
    os.fsync(file.fileno())


def _read_index(folder: Path) -> dict[str, Any]:
    path = folder / "index.json"
    try:
        index = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{folder} is no folder of shards: {path}: {error.strerror}") from None
    except ValueError:
        raise InputError(f"{path} is damaged: it is not JSON; make the shards again") from None
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        raise InputError(f"{path} is not of the format {FORMAT!r}; make the shards again")
    counts = [index.get(name) for name in ("n_pairs", "n_tokens", "n_per_shard")]
    sizes, fingerprint = index.get("shard_sizes"), index.get("fingerprint")
    if (
        not all(isinstance(count, int) and count > 0 for count in counts)
        or not isinstance(fingerprint, str)
        or not isinstance(sizes, list)
        or not all(isinstance(size, int) and size >= 0 for size in sizes)
        or len(sizes) != math.ceil(index["n_pairs"] / index["n_per_shard"])
    ):
        raise InputError(f"{path} is damaged: its counts do not fit; make the shards again")
    return index
