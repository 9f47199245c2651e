"""Pictures and arrays: read as they look, made square in three ways, written and read again."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from clearhead.errors import InputError
from clearhead.media import (
    Fit,
    as_picture,
    fit_picture,
    is_grey,
    read_picture,
    size_of,
    with_channels,
    write_picture,
)

RED = (200, 10, 10)


@pytest.mark.parametrize("ending", ["png", "bmp", "gif", "webp", "jpg", "tiff", "ppm"])
def test_files_of_all_kinds_are_read(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"red.{ending}"
    Image.new("RGB", (9, 5), RED).save(path)
    found = read_picture(path)
    assert found.shape == (5, 9, 3)
    assert np.abs(found.astype(int) - RED).max() <= 6  # some forget a little
    assert size_of(path) == (5, 9)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    for n_channels in (1, 3):
        pixels = np.random.default_rng(0).integers(0, 256, (6, 7, n_channels), dtype=np.uint8)
        write_picture(pixels, tmp_path / "a.png")
        assert np.array_equal(read_picture(tmp_path / "a.png"), pixels)
    with pytest.raises(InputError, match="cannot be written"):
        write_picture(pixels, tmp_path / "nowhere" / "a.png")


def test_modes_become_grey_or_coloured(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    Image.new("RGBA", (4, 4), (*RED, 0)).save(path)
    assert (read_picture(path) == 255).all()  # what is transparent is white
    Image.new("1", (4, 4), 1).save(path)
    assert read_picture(path).shape == (4, 4, 1)
    Image.fromarray(np.full((4, 4), 65535, np.uint16)).save(path)
    assert (read_picture(path) == 255).all()
    palette = Image.new("P", (4, 4))
    palette.putpalette([0, 0, 0, *RED] + [0] * 762)
    palette.putpixel((0, 0), 1)
    palette.save(path)
    assert tuple(read_picture(path)[0, 0]) == RED


def test_a_camera_that_was_held_upright(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("L", (8, 4)).save(tmp_path / "a.jpg", exif=exif)
    assert size_of(tmp_path / "a.jpg") == (8, 4)
    assert read_picture(tmp_path / "a.jpg").shape == (8, 4, 1)


def test_what_is_no_picture_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_picture(tmp_path / "none.png")
    text = tmp_path / "text.png"
    text.write_text("no picture")
    with pytest.raises(InputError, match="is no picture that can be read"):
        read_picture(text)
    whole = tmp_path / "whole.png"
    noise = np.random.default_rng(0).integers(0, 256, (64, 64), dtype=np.uint8)
    write_picture(noise[:, :, None], whole)
    (tmp_path / "cut.png").write_bytes(whole.read_bytes()[:900])
    with pytest.raises(InputError, match="is a picture that is broken"):
        read_picture(tmp_path / "cut.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(InputError, match="too many pixels"):
        read_picture(whole)


@given(
    height=st.integers(1, 40),
    width=st.integers(1, 40),
    size=st.integers(4, 30),
    fit=st.sampled_from(["pad", "crop", "stretch"]),
    n_channels=st.sampled_from([1, 3]),
)
def test_every_picture_becomes_a_square(
    height: int, width: int, size: int, fit: Fit, n_channels: int
) -> None:
    pixels = np.full((height, width, n_channels), 77, np.uint8)
    found = fit_picture(pixels, size, fit)
    assert found.shape == (size, size, n_channels)
    assert (found == 77).all()  # one colour stays one colour: nothing else is put around it


def test_padding_keeps_the_shape_and_cropping_the_middle() -> None:
    wide = np.zeros((10, 20, 1), np.uint8)
    wide[:, 8:12] = 255
    assert fit_picture(wide, 10, "crop").mean() > fit_picture(wide, 10, "stretch").mean()
    padded = fit_picture(wide, 20, "pad")
    assert np.array_equal(padded[5:15], wide)
    same = np.arange(16, dtype=np.uint8).reshape(4, 4, 1)
    assert fit_picture(same, 4) is same


def test_arrays_of_any_range_and_order() -> None:
    bright = np.linspace(0, 1, 12).reshape(3, 4)
    as_bytes = as_picture(bright)
    assert as_bytes.shape == (3, 4, 1)
    assert np.array_equal(as_bytes, as_picture(bright * 255))
    assert np.array_equal(as_bytes, as_picture(np.rint(bright * 255).astype(np.int64)))
    assert as_picture(np.zeros((3, 5, 6))).shape == (5, 6, 3)
    assert as_picture(np.ones((2, 2), bool)).max() == 255
    for wrong in (np.zeros(5), np.zeros((2, 3, 4, 5)), np.zeros((0, 4)), -np.ones((2, 2))):
        with pytest.raises(InputError):
            as_picture(wrong)
    with pytest.raises(InputError, match="give numbers"):
        as_picture(np.array([["a"]]))


def test_grey_and_colours() -> None:
    red = np.zeros((2, 2, 3), np.uint8)
    red[..., 0] = 100
    assert not is_grey(red)
    grey = with_channels(red, 1)
    assert grey.shape == (2, 2, 1)
    assert (grey == 30).all()  # 0.299 · 100
    assert is_grey(with_channels(grey, 3))
    assert np.array_equal(with_channels(with_channels(grey, 3), 1), grey)
