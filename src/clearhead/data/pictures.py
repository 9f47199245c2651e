"""Labelled pictures, all of one size, and what is wrong with them.

Everything is looked at once: pictures that cannot be read, that came before, or that have two
labels are left out, and the size that most of them have becomes the size of all.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clearhead.data.picture_files import PictureSource, open_parts
from clearhead.data.report import Kinds, Report, describe_labels, list_findings
from clearhead.errors import InputError
from clearhead.media import Fit, fit_picture, is_grey, with_channels

__all__ = ["PictureReport", "PictureSet", "Pictures", "choose_size"]

KINDS: Final[Kinds] = {
    "unreadable": ("dropped", "pictures that cannot be read"),
    "tiny": ("dropped", "pictures of fewer than 4 pixels on a side"),
    "contradiction": ("dropped", "pictures that are there with several labels"),
    "duplicate": ("dropped", "pictures that came before"),
    "leaked": ("dropped", "pictures that are also held out"),
    "small": ("noted", "pictures that are enlarged to more than twice their size"),
    "sizes": ("noted", "pictures of another size than most; all are made the same"),
    "grey": ("noted", "grey pictures among coloured ones"),
}
N_NAMED = 5
LEAST = 20
"""Pictures below which nothing can be learned."""
TINIEST = 4
LARGEST = 64
"""Pixels on a side that pictures have at most, unless the user says otherwise."""


@dataclass(frozen=True, kw_only=True)
class PictureReport(Report):
    """What was found in pictures with labels."""

    size: int
    """Height and width of every picture as the model sees it."""
    n_channels: int
    labels: tuple[str, ...]
    counts: tuple[int, ...]
    """How many pictures of each label there are."""
    unit: str = "pictures"

    def notes(self) -> list[str]:
        """How many pictures each label has, and whether that is uneven."""
        return describe_labels(dict(zip(self.labels, self.counts, strict=True)), self.unit)

    def remains(self) -> str:
        """How many pictures, of what size, and with which labels."""
        colours = "coloured" if self.n_channels == 3 else "grey"
        fewest, most = min(self.counts), max(self.counts)
        each = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
        return (
            f"{self.n_kept:,} {colours} pictures of {self.size} × {self.size} pixels with "
            f"{len(self.labels)} labels, {each} of each"
        )


@dataclass(frozen=True)
class PictureSet:
    """Pictures of one size with their labels, in memory."""

    images: NDArray[np.uint8]
    """Number, channel, height, width."""
    labels: NDArray[np.int64]
    names: tuple[str, ...]
    """Of the labels."""
    origins: tuple[str, ...]
    """What each picture is called."""

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, places: Sequence[int] | NDArray[np.int64]) -> "PictureSet":
        """Some of them, in this order."""
        places = np.asarray(places, dtype=np.int64)
        origins = tuple(self.origins[place] for place in places.tolist())
        return PictureSet(self.images[places], self.labels[places], self.names, origins)

    def digests(self) -> list[bytes]:
        """Each picture known again by its pixels."""
        return [blake2b(image.tobytes(), digest_size=16).digest() for image in self.images]


class Pictures:
    """The labelled pictures of a folder, an .npz or idx files; read when they are asked for."""

    def __init__(self, paths: Sequence[Path], part: str = "train") -> None:
        self.given = tuple(paths)
        self._parts = open_parts(paths)
        self.source: PictureSource = self._parts.get(part) or self._parts["train"]
        self.name = part

    def part(self, name: str) -> "Pictures | None":
        """The pictures that stand apart for `validation` or `test`, if there are such."""
        return Pictures(self.given, name) if name in self._parts else None

    def examine(
        self, size: int | None = None, held_out: "Sequence[Pictures]" = ()
    ) -> tuple[PictureReport, PictureSet]:
        """What is wrong with which picture, and those that are left, all of one size."""
        doctor = _Doctor(self.source)
        size = size or choose_size(doctor.sizes)
        pictures, places = doctor.read(size)
        has_colour = any(picture.shape[-1] == 3 for picture in pictures)
        n_channels = 3 if has_colour else 1
        found = _stack(self.source, pictures, places, size, n_channels)
        if has_colour:
            doctor.note("grey", (p for p, x in zip(places, pictures, strict=True) if is_grey(x)))
        others = [each.read(size, n_channels, found.names)[0] for each in held_out]
        banned = {digest for some in others for digest in some.digests()}
        kept = found.take(doctor.without_repeats(found, places, banned))
        return self._report(doctor, kept, size, n_channels), kept

    def read(
        self, size: int, n_channels: int, names: Sequence[str], fit: Fit = "pad"
    ) -> tuple[PictureSet, list[str]]:
        """All that can be read and has one of these labels; and what is wrong with the others."""
        doctor = _Doctor(self.source)
        unknown = sorted(set(self.source.labels) - set(names))
        if unknown:
            known = ", ".join(names[:10])
            raise InputError(
                f"{self.given[0]} has the label {unknown[0]!r}, which is none of those that are "
                f"learned: {known}"
            )
        pictures, places = doctor.read(size, fit)
        if not pictures:
            raise InputError(f"{self.given[0]} holds no picture that can be read")
        found = _stack(self.source, pictures, places, size, n_channels, names)
        return found, [self.source.name(place) for place in doctor.found.get("unreadable", [])]

    def _report(
        self, doctor: "_Doctor", kept: PictureSet, size: int, n_channels: int
    ) -> PictureReport:
        counts = np.bincount(kept.labels, minlength=len(kept.names)).tolist()
        pairs = [(name, n) for name, n in zip(kept.names, counts, strict=True) if n]
        named = {
            kind: [self.source.name(place) for place in places[:N_NAMED]]
            for kind, places in doctor.found.items()
        }
        n_found = {kind: len(places) for kind, places in doctor.found.items()}
        n_read = len(self.source.labels)
        return PictureReport(
            paths=tuple(map(str, self.given)),
            assumed=("task: images, because these are pictures with labels",),
            n_read=n_read,
            n_kept=len(kept),
            size=size,
            n_channels=n_channels,
            labels=tuple(name for name, _ in pairs),
            counts=tuple(n for _, n in pairs),
            findings=list_findings(KINDS, n_found, named, n_read),
            fatal=tuple(_fatal(pairs)),
        )


def choose_size(sizes: Sequence[tuple[int, int] | None]) -> int:
    """Height and width for all: what the longer side of most is, at most 64 pixels.

    It is rounded up so that it can be cut into equal patches.

    >>> choose_size([(28, 28)] * 3), choose_size([(300, 200), (480, 640), None]), choose_size([])
    (28, 64, 32)
    >>> choose_size([(30, 29)]), choose_size([(33, 20)])
    (32, 40)
    """
    sides = [max(size) for size in sizes if size is not None]
    if not sides:
        return 32
    side, n = Counter(sides).most_common(1)[0]
    usual = side if 2 * n > len(sides) else int(np.median(sides))
    step = 4 if usual <= 32 else 8
    return max(step, min(LARGEST, -(-usual // step) * step))


class _Doctor:
    """Looks at every picture of a source, and remembers what it found."""

    def __init__(self, source: PictureSource) -> None:
        self.source = source
        self.found: dict[str, list[int]] = {}
        self.sizes = [self._try(place, source.size) for place in range(len(source.labels))]

    def note(self, kind: str, places: "Iterator[int] | Sequence[int]") -> None:
        """Remember what is so with some pictures."""
        self.found.setdefault(kind, []).extend(places)

    def read(self, size: int, fit: Fit = "pad") -> tuple[list[NDArray[np.uint8]], list[int]]:
        """All that can be read, as squares, grey with one channel; and their places."""
        usual = Counter(each for each in self.sizes if each).most_common(1)
        pictures, places = [], []
        for place, each in enumerate(self.sizes):
            if each is None:
                continue
            if min(each) < TINIEST:
                self.note("tiny", [place])
                continue
            picture = self._try(place, self.source.picture)
            if picture is None:
                continue
            if each != usual[0][0]:
                self.note("sizes", [place])
            if 2 * max(each) < size:
                self.note("small", [place])
            picture = fit_picture(picture, size, fit)
            pictures.append(picture[:, :, :1] if is_grey(picture) else picture)
            places.append(place)
        return pictures, places

    def without_repeats(
        self, found: PictureSet, places: Sequence[int], banned: set[bytes]
    ) -> list[int]:
        """Which pictures are there once, with one label, and not in what is held out."""
        digests = found.digests()
        labels: dict[bytes, set[int]] = {}
        for digest, label in zip(digests, found.labels.tolist(), strict=True):
            labels.setdefault(digest, set()).add(label)
        seen: set[bytes] = set()
        kept = []
        for row, digest in enumerate(digests):
            kind = (
                "contradiction" if len(labels[digest]) > 1
                else "leaked" if digest in banned
                else "duplicate" if digest in seen
                else None
            )  # fmt: skip
            seen.add(digest)
            if kind is None:
                kept.append(row)
            else:
                self.note(kind, [places[row]])
        return kept

    def _try(self, place: int, read: Callable[[int], Any]) -> Any:
        try:
            return read(place)
        except InputError:
            self.note("unreadable", [place])
            return None


def _stack(
    source: PictureSource,
    pictures: Sequence[NDArray[np.uint8]],
    places: Sequence[int],
    size: int,
    n_channels: int,
    names: Sequence[str] | None = None,
) -> PictureSet:
    """Pictures of one size as one array, channels first."""
    labels = [source.labels[place] for place in places]
    names = names or sorted(set(labels), key=_in_order)
    number = {name: place for place, name in enumerate(names)}
    images = np.zeros((len(pictures), n_channels, size, size), np.uint8)
    for row, picture in enumerate(pictures):
        images[row] = with_channels(picture, n_channels).transpose(2, 0, 1)
    return PictureSet(
        images,
        np.array([number[label] for label in labels], dtype=np.int64),
        tuple(names),
        tuple(source.name(place) for place in places),
    )


def _in_order(label: str) -> tuple[bool, int, str]:
    """Numbers by their value, then words."""
    is_number = label.isdecimal()
    return not is_number, int(label) if is_number else 0, label


def _fatal(pairs: Sequence[tuple[str, int]]) -> Iterator[str]:
    n_kept = sum(n for _, n in pairs)
    if n_kept < LEAST:
        yield f"{n_kept} pictures are too few to learn from: give at least {LEAST}"
    if len(pairs) == 1:
        yield f"all pictures have the label {pairs[0][0]!r}: give a second one to tell apart"
