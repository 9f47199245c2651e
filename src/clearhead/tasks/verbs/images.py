"""The commands for pictures with labels."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearhead.data.pictures import PictureReport, Pictures
from clearhead.engine.memory import Wanted
from clearhead.tasks.verbs import Scored

if TYPE_CHECKING:
    from clearhead.tasks.images.classifier import ImageClassifier

__all__ = ["evaluate", "examine", "load", "open_data", "sizes", "takes_model", "train"]

takes_model = False


def sizes() -> Sequence[str]:
    """Of Vision Transformers."""
    from clearhead.tasks.images.plan import SIZES

    return tuple(SIZES)


def open_data(paths: Sequence[Path], columns: tuple[str, str] | None = None) -> Pictures:
    """A folder by classes, an .npz, or idx files."""
    return Pictures(paths)


def examine(data: Pictures, test: Pictures | None = None) -> PictureReport:
    """Every picture looked at."""
    given = [each for each in (data.part("validation"), test or data.part("test")) if each]
    return data.examine(None, given)[0]


def train(data: Pictures, to: Path, **options: Any) -> "ImageClassifier":
    """A model that says what a picture shows."""
    from clearhead.tasks.images.train import train_classifier

    return train_classifier(data, to, **options)


def load(folder: Path, precision: Wanted = "auto") -> "ImageClassifier":
    """The same from its folder."""
    from clearhead.tasks.images.classifier import ImageClassifier

    return ImageClassifier.load(folder, precision)


def evaluate(folder: Path, data: Pictures, **options: Any) -> Scored:
    """How many pictures are known; of data with a test part, only that part is used."""
    from clearhead.tasks.images.evaluate import guess_pictures, score_pictures

    classifier = load(folder)
    reading = classifier.reading
    source = data.part("test") or data
    test, broken = source.read(reading.size, reading.n_channels, reading.labels, reading.fit)
    found = guess_pictures(classifier.model, test, reading)
    lines = ["", *found.confusion.lines(), ""]
    if source is not data:
        lines.append("scored on the test part of the data")
    if broken:
        lines.append(f"left out {len(broken):,} that cannot be read: {', '.join(broken[:5])}")
    details = {**found.confusion.to_dict(), "n_left_out": len(broken)}
    return Scored(score_pictures(found, test), len(test), "pictures", tuple(lines), details)
