"""Where labelled pictures come from: folders by class, arrays in one .npz, or idx files.

    flowers/rose/1.jpg  flowers/tulip/2.jpg         the folder is the label
    digits.npz          images, labels              or x_train, y_train, x_test, y_test
    mnist/              train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, t10k-…

A source may have parts: what is for the test stands apart in all three.
"""

import gzip
import os
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from clearhead.errors import InputError
from clearhead.media import as_picture, read_picture, size_of

__all__ = ["PART_NAMES", "SUFFIXES", "PictureSource", "looks_like_pictures", "open_parts"]

SUFFIXES: Final = (
    ".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm",
)  # fmt: skip
PART_NAMES: Final = {
    "train": "train", "training": "train", "test": "test", "t10k": "test",
    "val": "validation", "valid": "validation", "validation": "validation", "dev": "validation",
}  # fmt: skip
"""What parts are called → which part it is."""
IMAGES, LABELS = ("images", "image", "x", "data", "pictures"), ("labels", "label", "y", "targets")
NAMES = ("names", "classes", "label_names", "class_names")
N_LOOKED_AT = 2000
"""So many files of a folder say what it holds."""


class PictureSource(Protocol):
    """Labelled pictures, each read when it is asked for."""

    @property
    def labels(self) -> Sequence[str]:
        """The label of each."""
        ...

    def name(self, number: int) -> str:
        """What a picture is called."""
        ...

    def size(self, number: int) -> tuple[int, int]:
        """Height and width; refuses what cannot be read."""
        ...

    def picture(self, number: int) -> NDArray[np.uint8]:
        """Its pixels; refuses what cannot be read."""
        ...


@dataclass(frozen=True)
class _Files:
    paths: Sequence[Path]
    labels: Sequence[str]

    def name(self, number: int) -> str:
        return str(self.paths[number])

    def size(self, number: int) -> tuple[int, int]:
        return size_of(self.paths[number])

    def picture(self, number: int) -> NDArray[np.uint8]:
        return read_picture(self.paths[number])


@dataclass(frozen=True)
class _Arrays:
    path: Path
    images: NDArray[np.uint8]
    """Number, height, width, channel."""
    labels: Sequence[str]

    def name(self, number: int) -> str:
        return f"{self.path.name} picture {number}"

    def size(self, number: int) -> tuple[int, int]:
        height, width = self.images.shape[1:3]
        return int(height), int(width)

    def picture(self, number: int) -> NDArray[np.uint8]:
        return self.images[number]


def looks_like_pictures(paths: Sequence[Path], columns: tuple[str, str] | None = None) -> bool:
    """Whether these are pictures: by their endings, and in a folder by most of its files."""
    if columns is not None or not paths:
        return False
    return all(_holds_pictures(path) for path in paths)


def _holds_pictures(path: Path) -> bool:
    if path.is_dir():
        names = list(islice(_names_below(path), N_LOOKED_AT))
        return 2 * sum(map(_names_pictures, names)) > len(names)
    return path.is_file() and _names_pictures(path.name)


def _names_pictures(name: str) -> bool:
    return name.lower().endswith(".npz") or _is_picture(name) or _idx_part(name) is not None


def open_parts(paths: Sequence[Path]) -> dict[str, PictureSource]:
    """The parts of some data: `train` always, `validation` and `test` where they stand apart."""
    for path in paths:
        if not path.exists():
            raise InputError(f"{path} does not exist: check the name and the folder")
    if len(paths) != 1:
        names = ", ".join(map(str, paths))
        raise InputError(
            f"{names}: pictures are one folder with a folder for each class, one .npz, or one "
            "folder with idx files; give it alone"
        )
    (path,) = paths
    if path.is_dir():
        if idx := sorted(each for each in path.iterdir() if _idx_part(each.name) is not None):
            return _open_idx(idx)
        arrays = sorted(path.glob("*.npz"))
        if len(arrays) > 1:
            names = ", ".join(each.name for each in arrays)
            raise InputError(f"{path} holds {names}: give one of them by itself")
        return _open_npz(arrays[0]) if arrays else _open_folders(path)
    if path.suffix.lower() == ".npz":
        return _open_npz(path)
    if _idx_part(path.name) is not None:
        part = _idx_part(path.name)
        beside = sorted(path.parent.iterdir())
        return _open_idx([each for each in beside if _idx_part(each.name) == part])
    raise InputError(
        f"{path} holds no labelled pictures: give a folder with a folder for each class, an .npz "
        "with images and labels, or a folder with idx files"
    )


def _names_below(path: Path) -> Iterator[str]:
    for _, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (name for name in sorted(files) if not name.startswith("."))


def _is_picture(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)


def _open_folders(root: Path) -> dict[str, PictureSource]:
    """A folder for each class, or one for each part with those inside."""
    below = _folders(root)
    parts = {PART_NAMES.get(folder.name.lower(), ""): folder for folder in below}
    if below and "" not in parts and "train" in parts and len(parts) == len(below):
        return {part: _by_class(folder) for part, folder in parts.items()}
    return {"train": _by_class(root)}


def _by_class(root: Path) -> _Files:
    paths: list[Path] = []
    labels: list[str] = []
    for folder in _folders(root):
        found = sorted(each for each in folder.rglob("*") if _is_picture(each.name))
        shown = [each for each in found if not _is_hidden(each.relative_to(root))]
        paths += shown
        labels += [folder.name] * len(shown)
    if not paths:
        raise InputError(
            f"{root} holds no folders with pictures: put the pictures of each class into a folder "
            "with the name of the class"
        )
    return _Files(paths, labels)


def _folders(root: Path) -> list[Path]:
    return sorted(each for each in root.iterdir() if each.is_dir() and not _is_hidden(each))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "__")) for part in path.parts if part != "..")


def _open_npz(path: Path) -> dict[str, PictureSource]:
    """Arrays by their usual names; `allow_pickle` stays off, so that reading runs nothing."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise InputError(f"{path} is no .npz that can be read: {error}") from None
    named = {name.lower(): array for name, array in arrays.items()}
    names = next((named[name] for name in NAMES if name in named), None)
    found: dict[str, PictureSource] = {}
    for suffix, part in [("", "train"), *((f"_{name}", part) for name, part in PART_NAMES.items())]:
        images = _first(named, [f"{name}{suffix}" for name in IMAGES], suffix)
        labels = _first(named, [f"{name}{suffix}" for name in LABELS], suffix)
        if images is not None and labels is not None and part not in found:
            found[part] = _as_source(path, images, labels, names)
    if "train" not in found:
        if "test" in found:
            return {"train": found["test"]}
        raise InputError(
            f"{path} holds {', '.join(arrays) or 'no arrays'}: name the pictures images and their "
            "labels labels, or x_train, y_train, x_test and y_test"
        )
    return found


def _first(
    named: dict[str, NDArray[Any]], names: Sequence[str], suffix: str
) -> NDArray[Any] | None:
    """The first array of these names; `train_images` is as good as `images_train`."""
    turned = [f"{suffix[1:]}_{name.removesuffix(suffix)}" for name in names] if suffix else []
    return next((named[name] for name in [*names, *turned] if name in named), None)


def _as_source(
    path: Path, images: NDArray[Any], labels: NDArray[Any], names: NDArray[Any] | None = None
) -> _Arrays:
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1 or len(labels) != len(images) or not len(labels):
        raise InputError(
            f"{path} holds pictures of shape {images.shape} and labels of shape {labels.shape}: "
            "there must be one label for each picture, and at least one"
        )
    told = [_told(label) for label in labels.tolist()]
    if names is not None:
        known = [_told(name) for name in np.asarray(names).ravel().tolist()]
        if not all(label.isdigit() and int(label) < len(known) for label in told):
            raise InputError(f"{path} has {len(known)} names, and labels that have none of them")
        told = [known[int(label)] for label in told]
    return _Arrays(path, _as_pictures(path, images), told)


def _told(label: Any) -> str:
    """A label as text: 3, 3.0 and b'3' are the same."""
    if isinstance(label, bytes):
        return label.decode("utf-8", "replace")
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _as_pictures(path: Path, images: NDArray[Any]) -> NDArray[np.uint8]:
    """All pictures as (number, height, width, channel); rows of numbers must be squares."""
    n, side = len(images), 0
    if images.ndim == 2:
        side = round(images.shape[1] ** 0.5)
        if side * side != images.shape[1]:
            raise InputError(
                f"{path} holds rows of {images.shape[1]} numbers, which make no square picture: "
                "give (number, height, width)"
            )
        images = images.reshape(n, side, side)
    if images.ndim not in (3, 4):
        raise InputError(
            f"{path} holds pictures of shape {images.shape}: give (number, height, width), or "
            "with channels first or last"
        )
    if images.ndim == 4 and images.shape[-1] not in (1, 3, 4):
        images = images.transpose(0, 2, 3, 1)
    try:  # as one tall picture, so that all are read in the same range
        tall = as_picture(images.reshape(n * images.shape[1], *images.shape[2:]))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return tall.reshape(n, -1, *tall.shape[1:])


def _idx_part(name: str) -> str | None:
    """What the name of an idx file begins with: `train` or `t10k`; none for other files."""
    begin, found, _ = name.partition("-idx")
    is_named = begin.endswith(("-images", "-labels")) or begin in ("images", "labels")
    return begin.rpartition("-")[0] or "train" if found and is_named else None


def _open_idx(paths: Sequence[Path]) -> dict[str, PictureSource]:
    """Each part has a file of pictures and one of labels; `labels.txt` may name these."""
    found: dict[str, PictureSource] = {}
    folder = paths[0].parent
    text = folder / "labels.txt"
    names = np.array(text.read_text(encoding="utf-8").split("\n")) if text.is_file() else None
    for begin in dict.fromkeys(_idx_part(path.name) for path in paths):
        files = [path for path in paths if _idx_part(path.name) == begin]
        images = [path for path in files if "images-idx" in path.name]
        labels = [path for path in files if "labels-idx" in path.name]
        if not images or not labels:
            lacking = "labels" if images else "images"
            raise InputError(f"{files[0]} has no file of {lacking} beside it: put it there")
        part = PART_NAMES.get(str(begin), "train")
        found[part] = _as_source(images[0], _read_idx(images[0]), _read_idx(labels[0]), names)
    return found if "train" in found else {"train": next(iter(found.values()))}


def _read_idx(path: Path) -> NDArray[np.uint8]:
    """Two zeros, the type (8 for bytes), the number of axes, their lengths, the bytes."""
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    if len(data) < 4 or data[:3] != b"\0\0\x08" or len(data) < 4 + 4 * data[3]:
        raise InputError(f"{path} is no idx file of bytes, as those of MNIST are")
    shape = np.frombuffer(data, ">u4", data[3], 4).astype(int).tolist()
    begin = 4 + 4 * data[3]
    if len(data) - begin != int(np.prod(shape)):
        raise InputError(
            f"{path} says that it holds {' × '.join(map(str, shape))} bytes, and has "
            f"{len(data) - begin}: it is cut or broken"
        )
    return np.frombuffer(data, np.uint8, offset=begin).reshape(shape)
