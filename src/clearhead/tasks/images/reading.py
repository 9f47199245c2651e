"""How a model reads pictures: their size, what is subtracted and divided by, and its labels.

It travels in the card of the model, so that a picture is read as those it has learned from.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from clearhead.config import ViTConfig
from clearhead.convert.families.bert import read_labels
from clearhead.data.pictures import PictureSet
from clearhead.errors import InputError
from clearhead.media import Fit, as_picture, fit_picture, read_picture, with_channels

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["AnyPicture", "Reading"]

AnyPicture = str | Path | NDArray[Any]
"""A file, or an array of (height, width) with channels if it has some."""


@dataclass(frozen=True)
class Reading:
    """Everything between a picture file and the numbers that a model sees."""

    size: int
    n_channels: int
    mean: tuple[float, ...]
    """Of each channel, from 0 to 1."""
    std: tuple[float, ...]
    labels: tuple[str, ...]
    fit: Fit = "pad"

    @classmethod
    def of(cls, pictures: PictureSet) -> "Reading":
        """As these pictures are."""
        pixels = pictures.images.astype(np.float32) / 255
        mean, std = pixels.mean((0, 2, 3)), pixels.std((0, 2, 3)).clip(1e-3)
        _, n_channels, size, _ = pictures.images.shape
        rounded = [tuple(round(float(x), 4) for x in numbers) for numbers in (mean, std)]
        return cls(size, n_channels, rounded[0], rounded[1], pictures.names)

    @classmethod
    def from_card(cls, card: Mapping[str, Any], config: ViTConfig, folder: Path) -> "Reading":
        """What a card says; refuses one that does not fit the model."""
        data = card.get("reading")
        try:
            told: dict[str, Any] = dict(data) if isinstance(data, dict) else {}
            told = {k: tuple(v) if isinstance(v, list) else v for k, v in told.items()}
            found = cls(**told)
        except TypeError:
            raise InputError(
                f"{folder / 'card.json'} does not say how pictures are read (`reading`)"
            ) from None
        shape = found.size, found.n_channels, len(found.labels)
        numbers = len(found.mean), len(found.std)
        wanted = config.image_size, config.n_channels, config.n_labels
        if shape != wanted or set(numbers) != {found.n_channels} or found.fit not in get_args(Fit):
            raise InputError(
                f"{folder / 'card.json'} says how pictures are read (`reading`), and it does not "
                "fit the model beside it"
            )
        return found

    @classmethod
    def of_hugging_face(cls, folder: Path, config: ViTConfig) -> "Reading":
        """What their config.json and preprocessor_config.json say; halves where they say nothing.

        Their pictures are stretched to a square.
        """
        theirs, prepared = (_json(folder / f"{n}.json") for n in ("config", "preprocessor_config"))
        half = [0.5] * config.n_channels
        mean, std = (prepared.get(name) or half for name in ("image_mean", "image_std"))
        if not prepared.get("do_normalize", True):
            mean, std = [0.0] * config.n_channels, [1.0] * config.n_channels
        return cls(
            config.image_size,
            config.n_channels,
            tuple(map(float, mean)),
            tuple(map(float, std)),
            read_labels(theirs, config.n_labels),
            "stretch",
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for the card."""
        return asdict(self)

    def square(self, picture: AnyPicture) -> NDArray[np.uint8]:
        """A picture as the model's square of pixels, (height, width, channels)."""
        if isinstance(picture, str | Path):
            pixels = read_picture(Path(picture))
        else:
            pixels = as_picture(picture)
        return with_channels(fit_picture(pixels, self.size, self.fit), self.n_channels)

    def numbers(self, squares: Sequence[NDArray[np.uint8]]) -> "Tensor":
        """Squares as the model reads them, B channels height width."""
        from clearhead.data.picture_batches import normalised

        return normalised(np.stack(squares).transpose(0, 3, 1, 2), self.mean, self.std)


def _json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
