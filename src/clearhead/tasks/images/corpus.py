"""From a folder of pictures to what is trained on, followed and tested: nothing is in two."""

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from clearhead.data.holdout import shares_for, side_of
from clearhead.data.pictures import PictureReport, Pictures, PictureSet
from clearhead.errors import InputError
from clearhead.tasks.images.reading import Reading
from clearhead.tasks.job import Tell

__all__ = ["PictureCorpus", "survey_pictures"]


@dataclass(frozen=True)
class PictureCorpus:
    """The pictures of a run."""

    report: PictureReport
    train: PictureSet
    validation: PictureSet
    test: PictureSet
    reading: Reading
    fingerprint: str


def survey_pictures(
    pictures: Pictures,
    validation: Pictures | None,
    test: Pictures | None,
    size: int | None,
    tell: Tell,
) -> PictureCorpus:
    """Let the doctor look, and hold out what is not given."""
    given = {
        "validation": validation or pictures.part("validation"),
        "test": test or pictures.part("test"),
    }
    report, found = pictures.examine(size, [each for each in given.values() if each])
    tell("report", {"report": report})
    if report.is_fatal:
        raise InputError(f"{', '.join(report.paths)}: {report.verdict}")
    sides = _hold_out(found, [side for side, each in given.items() if each is None])
    for side, each in given.items():
        if each is not None:
            sides[side], _ = each.read(report.size, report.n_channels, found.names)
    digest = blake2b("\n".join(found.names).encode(), digest_size=16)
    for side, some in sides.items():
        digest.update(side.encode() + some.labels.tobytes())
        digest.update(np.ascontiguousarray(some.images).data)
    reading = Reading.of(sides["train"])
    return PictureCorpus(
        report, sides["train"], sides["validation"], sides["test"], reading, digest.hexdigest()
    )


def _hold_out(pictures: PictureSet, wanted: list[str]) -> dict[str, PictureSet]:
    """By the pixels of each picture, so that it is the same in every run."""
    shares = shares_for(len(pictures))
    drawn = [side_of(digest.hex(), 0, shares) for digest in pictures.digests()]
    sides = np.array([side if side in wanted else "train" for side in drawn])
    found = {side: pictures.take(np.flatnonzero(sides == side)) for side in ("train", *wanted)}
    for side in wanted:
        if not len(found[side]):
            raise InputError(
                f"no picture is left for {side}: give more pictures, or --{side} FOLDER"
            )
    return found
