"""The weights of a folder of Hugging Face, read one tensor at a time from safetensors files."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from clearhead.config.base import read_json
from clearhead.engine.source import WeightFile
from clearhead.errors import InputError

__all__ = ["TheirWeights", "name_some"]

ONE: Final = "model.safetensors"
SHARDED: Final = "model.safetensors.index.json"
PICKLES: Final = ("*.bin", "*.pt", "*.pth", "*.ckpt")
NAMES: Final = {"F16": "float16", "BF16": "bfloat16"}


class TheirWeights:
    """All tensors of a folder by their names; nothing is in memory until it is read."""

    def __init__(self, folder: Path) -> None:
        self._files: dict[str, WeightFile] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        """The shape of each tensor."""
        for path, names in _parts(folder):
            file = _open(path)
            shapes = file.shapes
            missing = [name for name in names or () if name not in shapes]
            if missing:
                raise InputError(f"{path} lacks {name_some(missing)}, which the index names")
            for name in names or shapes:
                self._files[name], self.shapes[name] = file, shapes[name]

    def read(self, name: str) -> Tensor:
        """One tensor, as float32."""
        found = self._files[name].read(name)
        assert found is not None
        return torch.from_numpy(found)

    def precisions(self, names: Iterable[str]) -> list[str]:
        """Which numbers with fewer bits than float32 these tensors have."""
        found = {str(self._entry(name)["dtype"]) for name in names}
        return sorted(NAMES[kind] for kind in found & NAMES.keys())

    def _entry(self, name: str) -> dict[str, Any]:
        return self._files[name].entries[name]


def name_some(names: Iterable[str]) -> str:
    """Name the first three, and say how many more there are.

    >>> name_some("abcde")
    'a, b, c and 2 more'
    """
    every = list(names)
    more = f" and {len(every) - 3} more" if len(every) > 3 else ""
    return ", ".join(every[:3]) + more


def _parts(folder: Path) -> list[tuple[Path, list[str] | None]]:
    """The files, and which tensors of each; those of a single file are all of its own."""
    if (folder / ONE).is_file():
        return [(folder / ONE, None)]
    index = folder / SHARDED
    if not index.is_file():
        raise InputError(_why_none(folder))
    places = read_json(index).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise InputError(f"{index} does not say in which files the weights are")
    by_file: dict[str, list[str]] = {}
    for name, file in places.items():
        # A name that leads out of the folder could make us read any file.
        if not isinstance(file, str) or Path(file).name != file:
            raise InputError(f"{index} names the file {file!r}, which is not in the folder")
        by_file.setdefault(file, []).append(name)
    missing = [file for file in by_file if not (folder / file).is_file()]
    if missing:
        raise InputError(f"{folder} is not whole: {name_some(missing)} of its parts is missing")
    return [(folder / file, names) for file, names in sorted(by_file.items())]


def _why_none(folder: Path) -> str:
    pickles = sorted(path.name for pattern in PICKLES for path in folder.glob(pattern))
    if not pickles:
        return f"{folder} has no weights: neither {ONE} nor {SHARDED} is there"
    return (
        f"{folder} has its weights only as {name_some(pickles)}, a pickle, which can run any "
        "program when it is opened and is not read here; if you trust where it comes from, write "
        "safetensors with `from transformers import AutoModel; "
        f'AutoModel.from_pretrained("{folder}").save_pretrained("new-folder")`, with the class '
        "that config.json names"
    )


def _open(path: Path) -> WeightFile:
    """Let the library check the header first: nothing overlaps, nothing is cut off."""
    try:
        with safe_open(path, framework="np"):
            return WeightFile(path)
    except (OSError, SafetensorError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
