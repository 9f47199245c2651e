"""Media: pictures to arrays and back."""

from clearhead.media.pictures import (
    Fit,
    as_picture,
    fit_picture,
    is_grey,
    png_of,
    read_picture,
    size_of,
    with_channels,
    write_picture,
)

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
