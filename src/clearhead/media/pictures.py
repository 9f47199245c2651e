"""Pictures ⇄ arrays of bytes: height, width, and one channel (grey) or three (red, green, blue).

Files are read and written by Pillow, which is imported when the first picture is.
"""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from clearhead.errors import InputError

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = [
    "Fit",
    "as_picture",
    "fit_picture",
    "is_grey",
    "png_of",
    "read_picture",
    "size_of",
    "with_channels",
    "write_picture",
]

Fit = Literal["pad", "crop", "stretch"]
"""How a picture becomes a square: with edges around it, its middle alone, or out of shape."""
# ITU-R 601: how bright red, green and blue look.
_BRIGHTNESS: Final = (0.299, 0.587, 0.114)


def size_of(path: Path) -> tuple[int, int]:
    """Height and width as the head of a file says; its pixels are not read."""
    with _opened(path) as image:
        turned = image.getexif().get(0x0112, 1) >= 5  # a camera that was held upright
        return (image.width, image.height) if turned else (image.height, image.width)


def read_picture(path: Path) -> NDArray[np.uint8]:
    """The pixels of a file, (height, width, 1 or 3); what is transparent becomes white.

    Of a picture that moves it is the first one. A camera's note of how it was held is obeyed.
    """
    from PIL import ImageOps

    with _opened(path) as image:
        return _pixels(ImageOps.exif_transpose(image))


def as_picture(values: Any) -> NDArray[np.uint8]:
    """An array of one picture as (height, width, 1 or 3) bytes.

    Numbers with a point from 0 to 1, or to 255, become bytes; channels may come first or last.

    >>> as_picture(np.array([[0.0, 1.0]])).tolist()
    [[[0], [255]]]
    """
    array = np.asarray(values)
    if array.ndim == 3 and array.shape[-1] not in (1, 3, 4) and array.shape[0] in (1, 3, 4):
        array = array.transpose(1, 2, 0)
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or array.shape[-1] not in (1, 3, 4) or 0 in array.shape:
        raise InputError(
            f"an array of shape {np.shape(values)} is no picture: give (height, width), or with 1 "
            "or 3 channels first or last"
        )
    return np.ascontiguousarray(_as_bytes(array)[:, :, : 3 if array.shape[-1] > 1 else 1])


def fit_picture(picture: NDArray[np.uint8], size: int, fit: Fit = "pad") -> NDArray[np.uint8]:
    """A square of `size` pixels; one that has this size already is left as it is.

    Padding repeats the pixels at the edge, because black bars would be something to see.
    """
    from PIL import Image

    height, width = picture.shape[:2]
    if (height, width) == (size, size):
        return picture
    scale = size / (min if fit == "crop" else max)(height, width)
    new = (
        (size, size)
        if fit == "stretch"
        else (max(1, round(height * scale)), max(1, round(width * scale)))
    )
    image = Image.fromarray(picture[:, :, 0] if picture.shape[2] == 1 else picture)
    how = Image.Resampling.BILINEAR if fit == "stretch" else Image.Resampling.BICUBIC
    resized = np.asarray(image.resize((new[1], new[0]), how), dtype=np.uint8)
    resized = resized[:, :, None] if resized.ndim == 2 else resized
    for axis in (0, 1):
        extra = resized.shape[axis] - size
        before = abs(extra) // 2
        if extra > 0:
            resized = np.take(resized, range(before, before + size), axis=axis)
        elif extra < 0:
            around = [(0, 0)] * 3
            around[axis] = (before, -extra - before)
            resized = np.pad(resized, around, mode="edge")
    return resized


def with_channels(picture: NDArray[np.uint8], n_channels: int) -> NDArray[np.uint8]:
    """Grey as three equal channels, or colours as one of their brightness."""
    if picture.shape[-1] == n_channels:
        return picture
    if n_channels == 3:
        return np.repeat(picture, 3, axis=-1)
    return np.rint(picture @ np.array(_BRIGHTNESS)).astype(np.uint8)[..., None]


def is_grey(picture: NDArray[np.uint8]) -> bool:
    """Whether no pixel has a colour."""
    return picture.shape[-1] == 1 or bool((picture == picture[..., :1]).all())


def png_of(picture: NDArray[np.uint8]) -> bytes:
    """The picture as a PNG file."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(picture[:, :, 0] if picture.shape[2] == 1 else picture).save(file, "PNG")
    return file.getvalue()


def write_picture(picture: NDArray[np.uint8], path: Path) -> None:
    """Write a PNG file."""
    try:
        path.write_bytes(png_of(picture))
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None


@contextmanager
def _opened(path: Path) -> "Iterator[Image]":
    """A picture file; whatever is wrong with it is one sentence."""
    from PIL import Image, UnidentifiedImageError

    if not path.is_file():
        raise InputError(f"{path} does not exist: check the name and the folder")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as image:
                yield image
    except UnidentifiedImageError:
        raise InputError(
            f"{path} is no picture that can be read: give a PNG, JPEG, GIF, BMP, WebP or TIFF file"
        ) from None
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        raise InputError(f"{path} has too many pixels to be read: make it smaller") from None
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is a picture that is broken: {error}") from None


def _pixels(image: "Image") -> NDArray[np.uint8]:
    """Any of Pillow's modes as bytes, grey or coloured."""
    from PIL import Image

    if image.mode in ("I", "I;16", "I;16B", "I;16L", "F"):
        return _as_bytes(np.asarray(image)[:, :, None])
    if "transparency" in image.info or image.mode in ("RGBA", "LA", "PA", "La", "RGBa"):
        coloured = image.convert("RGBA")
        white = Image.new("RGBA", coloured.size, "white")
        image = Image.alpha_composite(white, coloured).convert("RGB")
    if image.mode in ("L", "1"):
        return np.asarray(image.convert("L"), dtype=np.uint8)[:, :, None]
    return np.asarray(image.convert("RGB"), dtype=np.uint8)


def _as_bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """Numbers of any kind as 0 to 255, by the range that they are in."""
    if array.dtype == np.uint8:
        return array
    if array.dtype == bool:
        return array.astype(np.uint8) * np.uint8(255)
    if array.dtype.kind not in "iuf":
        raise InputError(f"pixels of type {array.dtype} cannot be read: give numbers")
    lowest, highest = (float(f(array)) for f in (np.min, np.max))
    if not (np.isfinite(lowest) and np.isfinite(highest)) or lowest < 0 or highest > 65535:
        raise InputError(
            f"pixels from {lowest:g} to {highest:g} cannot be read: give 0 to 1, 0 to 255 or 0 to "
            "65535"
        )
    most = 1 if array.dtype.kind == "f" and highest <= 1 else 255 if highest <= 255 else 65535
    return np.rint(array.astype(np.float64) * (255 / most)).astype(np.uint8)
