"""Checkpoints: everything a run needs to go on as if it had never stopped.

One checkpoint is one safetensors file: tensors by name, and facts (step, place in the data, …) as
JSON in its header. It is written under another name, brought to the disk, and only then renamed:
a crash at any moment leaves the last whole checkpoint as it was.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from clearhead.errors import InputError

__all__ = ["Checkpoints", "read_checkpoint", "write_bytes", "write_checkpoint"]


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, also when the machine stops half-way."""
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the new name itself must reach the disk, too
    finally:
        os.close(folder)


def write_checkpoint(path: Path, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
    """Write tensors and facts to one file, whole or not at all."""
    dense = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_bytes(path, save(dense, metadata={"facts": json.dumps(facts)}))


def read_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `write_checkpoint` wrote."""
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            facts = json.loads((file.metadata() or {})["facts"])
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise InputError(f"{path} is not a whole checkpoint: {error}") from None
    return tensors, facts


class Checkpoints:
    """The checkpoints of one run in a folder: the last few, and the best."""

    def __init__(self, folder: Path, n_last: int = 2) -> None:
        self.folder = folder
        self.n_last = n_last

    def last(self) -> Path | None:
        """Return the newest checkpoint; parts that a crash left have another name."""
        return max(self.folder.glob("step-*.safetensors"), default=None)

    @property
    def best(self) -> Path:
        """Where the best weights so far are kept."""
        return self.folder / "best.safetensors"

    def save(self, step: int, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> Path:
        """Write a checkpoint, then drop those that are too old and what crashes left behind."""
        path = self.folder / f"step-{step:09d}.safetensors"
        write_checkpoint(path, tensors, facts)
        for old in sorted(self.folder.glob("step-*.safetensors"))[: -self.n_last]:
            old.unlink()
        for part in self.folder.glob("*.part"):
            part.unlink()
        return path
