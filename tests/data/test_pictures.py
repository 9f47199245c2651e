"""Labelled pictures from folders, arrays and idx files, and what the doctor says of them."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from clearhead.data.picture_batches import Changes, PictureBatches
from clearhead.data.pictures import Pictures, PictureSet
from clearhead.data.which import which_task
from clearhead.errors import ConfigError, InputError
from clearhead.media import write_picture

Array = NDArray[Any]


def noise(n: int, size: int = 8, n_channels: int = 1, seed: int = 0) -> Array:
    shape = (n, size, size, n_channels)
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def write_folders(root: Path, counts: dict[str, int], **options: Any) -> Path:
    for seed, (label, n) in enumerate(counts.items()):
        (root / label).mkdir(parents=True)
        for number, picture in enumerate(noise(n, seed=seed, **options)):
            write_picture(picture, root / label / f"{number}.png")
    return root


def write_idx(path: Path, array: Array) -> None:
    head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    data = head + array.astype(np.uint8).tobytes()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def test_folders_are_labels(tmp_path: Path) -> None:
    root = write_folders(tmp_path / "data", {"cat": 15, "dog": 12})
    (root / "cat" / "notes.txt").write_text("not a picture")
    (root / "cat" / ".hidden.png").write_text("")
    assert which_task([root]) == "images"
    report, found = Pictures([root]).examine()
    assert (report.labels, report.counts) == (("cat", "dog"), (15, 12))
    assert (report.size, report.n_channels, report.n_read, report.n_kept) == (8, 1, 27, 27)
    assert not report.is_fatal
    assert found.images.shape == (27, 1, 8, 8)
    assert "27 grey pictures of 8 × 8 pixels with 2 labels, 12 to 15 of each" in report.verdict


def test_parts_of_a_folder(tmp_path: Path) -> None:
    for part in ("train", "val", "test"):
        write_folders(tmp_path / part, {"a": 12, "b": 12})
    pictures = Pictures([tmp_path])
    assert set(pictures.source.labels) == {"a", "b"}
    assert pictures.part("test") is not None
    assert pictures.part("validation") is not None
    report, _ = pictures.examine(None, [p for p in [pictures.part("test")] if p])
    assert report.n_kept == 0  # all of them are in the test, too
    assert {found.kind for found in report.findings} == {"leaked"}


@pytest.mark.parametrize("names", [("images", "labels"), ("X", "y"), ("x_train", "y_train")])
@pytest.mark.parametrize("shape", ["rows", "plain", "last", "first"])
def test_arrays(names: tuple[str, str], shape: str, tmp_path: Path) -> None:
    images = noise(30, n_channels=1 if shape in ("rows", "plain") else 3)
    plain = images[..., 0]
    given = {
        "rows": plain.reshape(30, -1) / 255, "plain": plain,
        "last": images, "first": images.transpose(0, 3, 1, 2),
    }[shape]  # fmt: skip
    labels = np.arange(30) % 3
    arrays: dict[str, Any] = {names[0]: given, names[1]: labels[:, None]}
    np.savez(tmp_path / "a.npz", **arrays)
    assert which_task([tmp_path / "a.npz"]) == "images"
    report, found = Pictures([tmp_path / "a.npz"]).examine()
    assert np.array_equal(found.images, images.transpose(0, 3, 1, 2))
    assert found.names == ("0", "1", "2")
    assert found.labels.tolist() == labels.tolist()
    assert report.n_channels == images.shape[-1]


def test_arrays_with_names_and_parts(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, train_images=noise(20), train_labels=np.arange(20) % 2,
             x_test=noise(4, seed=9), y_test=[0, 1, 0, 1], classes=["boot", "bag"])  # fmt: skip
    pictures = Pictures([path])
    assert pictures.examine()[1].names == ("bag", "boot")
    assert which_task([tmp_path]) == "images"
    assert Pictures([tmp_path]).examine()[1].names == ("bag", "boot")
    np.savez(tmp_path / "b.npz", images=noise(4))
    with pytest.raises(InputError, match=r"holds a\.npz, b\.npz: give one of them by itself"):
        Pictures([tmp_path]).examine()
    test = pictures.part("test")
    assert test is not None
    found, broken = test.read(8, 1, ["bag", "boot"])
    assert [found.names[label] for label in found.labels] == ["boot", "bag", "boot", "bag"]
    assert broken == []
    with pytest.raises(InputError, match="has the label 'bag', which is none of those"):
        test.read(8, 1, ["boot", "shirt"])


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_idx_files(ending: str, tmp_path: Path) -> None:
    for part, n in (("train", 40), ("t10k", 10)):
        write_idx(tmp_path / f"{part}-images-idx3-ubyte{ending}", noise(n, seed=n)[..., 0])
        write_idx(tmp_path / f"{part}-labels-idx1-ubyte{ending}", np.arange(n) % 10)
    assert which_task([tmp_path]) == "images"
    pictures = Pictures([tmp_path])
    report, found = pictures.examine()
    assert report.n_kept == 40
    assert np.array_equal(found.images[:, 0], noise(40, seed=40)[..., 0])
    test = pictures.part("test")
    assert test is not None
    assert len(test.source.labels) == 10
    (tmp_path / "labels.txt").write_text("\n".join("abcdefghij") + "\n")
    assert Pictures([tmp_path]).examine()[1].names == tuple("abcdefghij")
    one = Pictures([tmp_path / f"t10k-images-idx3-ubyte{ending}"])
    assert len(one.source.labels) == 10
    (tmp_path / f"train-labels-idx1-ubyte{ending}").unlink()
    with pytest.raises(InputError, match="has no file of labels beside it"):
        Pictures([tmp_path])


def test_broken_files_are_one_sentence(tmp_path: Path) -> None:
    images = tmp_path / "train-images-idx3-ubyte"
    write_idx(tmp_path / "train-labels-idx1-ubyte", np.arange(9))
    images.write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="is no idx file"):
        Pictures([images])
    write_idx(images, noise(9)[..., 0])
    images.write_bytes(images.read_bytes()[:-7])
    with pytest.raises(InputError, match="it is cut or broken"):
        Pictures([images])
    bad = tmp_path / "bad.npz"
    bad.write_bytes(b"PK no archive")
    with pytest.raises(InputError, match=r"is no \.npz that can be read"):
        Pictures([bad])
    for arrays, told in (
        ({"a": noise(3)}, "name the pictures images"),
        ({"images": noise(3), "labels": [1, 2]}, "one label for each picture"),
        ({"images": np.zeros((3, 7)), "labels": [1, 2, 3]}, "make no square picture"),
        ({"images": np.zeros((3, 4, 4)) - 1, "labels": [1, 2, 3]}, "cannot be read: give 0 to 1"),
        ({"images": noise(2), "labels": [0, 7], "names": ["a"]}, "has 1 names"),
    ):
        np.savez(bad, **arrays)
        with pytest.raises(InputError, match=told):
            Pictures([bad])
    with pytest.raises(InputError, match="does not exist"):
        Pictures([tmp_path / "none"])
    with pytest.raises(InputError, match="give it alone"):
        Pictures([tmp_path, tmp_path])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no folders with pictures"):
        Pictures([tmp_path / "empty"])


def test_the_doctor(tmp_path: Path) -> None:
    root = write_folders(tmp_path, {"a": 30, "b": 30, "c": 2})
    (root / "a" / "broken.png").write_text("no picture")
    (root / "a" / "again.png").write_bytes((root / "a" / "3.png").read_bytes())
    (root / "b" / "other.png").write_bytes((root / "a" / "5.png").read_bytes())
    write_picture(noise(1, 3)[0], root / "b" / "tiny.png")
    write_picture(noise(1, 16, seed=5)[0], root / "b" / "large.png")
    report, found = Pictures([root]).examine()
    counts = {each.kind: each.count for each in report.findings}
    assert counts == {
        "unreadable": 1, "tiny": 1, "contradiction": 2, "duplicate": 1, "sizes": 1,
    }  # fmt: skip
    assert report.n_read == 67
    assert report.n_kept == len(found) == 62
    lines = "\n".join(report.lines())
    assert "dropped 1 (1.5%): pictures that cannot be read" in lines
    assert "broken.png" in lines
    assert "uneven labels: b has 16 times as many pictures as c" in lines
    data = report.to_dict()
    assert (data["n_dropped"], data["unit"], data["is_fatal"]) == (5, "pictures", False)


def test_a_coloured_picture_makes_all_coloured(tmp_path: Path) -> None:
    root = write_folders(tmp_path, {"a": 15, "b": 15})
    write_picture(noise(1, n_channels=3, seed=9)[0], root / "b" / "red.png")
    report, found = Pictures([root]).examine()
    assert report.n_channels == 3
    assert found.images.shape == (31, 3, 8, 8)
    assert {each.kind: each.count for each in report.findings} == {"grey": 30}


def test_data_that_is_not_fit(tmp_path: Path) -> None:
    one = write_folders(tmp_path / "one", {"a": 30})
    assert "all pictures have the label 'a'" in Pictures([one]).examine()[0].verdict
    few = write_folders(tmp_path / "few", {"a": 4, "b": 3})
    assert "7 pictures are too few to learn from" in Pictures([few]).examine()[0].verdict


def test_the_data_says_which_task(tmp_path: Path) -> None:
    root = write_folders(tmp_path / "mixed", {"a": 3, "b": 3})
    for n in range(7):
        (root / f"{n}.txt").write_text("a text\n")
    assert which_task([root]) == "generate"
    for n in range(2):
        (root / f"{n}.txt").unlink()
    assert which_task([root]) == "images"
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "a.txt").write_text("one\n")
    assert which_task([texts]) == "generate"
    assert which_task([tmp_path / "none"]) == "translate"
    assert which_task([root], ("en", "de")) != "images"


def batches(changes: Changes | None = None, n: int = 20, n_rows: int = 8) -> PictureBatches:
    images = noise(n, 6).transpose(0, 3, 1, 2)
    pictures = PictureSet(images, np.arange(n) % 2, ("a", "b"), ("",) * n)
    return PictureBatches(pictures, n_rows, (0.5,), (0.25,), changes, seed=3)


def test_batches_go_on_at_the_exact_picture() -> None:
    found = batches(Changes(shift=2, mirrors=True, erase=0.5))
    whole = list(found.epoch(4))
    assert [len(batch.labels) for batch in whole] == [8, 8, 4]
    for start in range(4):
        for one, other in zip(found.epoch(4, start), whole[start:], strict=True):
            assert torch.equal(one.images, other.images)
            assert torch.equal(one.labels, other.labels)
    assert not torch.equal(next(found.epoch(5)).images, whole[0].images)
    assert len(found.some(5)) == 6
    with pytest.raises(InputError, match="start=4"):
        next(found.epoch(0, 4))


def test_without_changes_every_picture_comes_once() -> None:
    found = batches()
    pixels = torch.cat([batch.images for batch in found.epoch(0)]) * 0.25 + 0.5
    rows = {tuple(row) for row in (pixels * 255).round().int().flatten(1).tolist()}
    assert rows == {tuple(image.flatten().tolist()) for image in found.pictures.images}


def test_what_each_change_does() -> None:
    images = batches().pictures.images
    random = np.random.default_rng
    turned = Changes(mirrors=True).apply(images, random(0))
    is_turned = (turned == images[..., ::-1]).all((1, 2, 3))
    is_same = (turned == images).all((1, 2, 3))
    assert (is_turned ^ is_same).all()
    assert 0 < is_turned.sum() < len(images)
    moved = Changes(shift=2).apply(images, random(0))
    padded = np.pad(images, [(0, 0), (0, 0), (2, 2), (2, 2)], mode="edge")
    windows = [padded[:, :, i : i + 6, j : j + 6] for i in range(5) for j in range(5)]
    places = [[n for n, w in enumerate(windows) if (w[row] == moved[row]).all()]
              for row in range(len(images))]  # fmt: skip
    assert all(len(place) == 1 for place in places)
    assert len({place[0] for place in places}) > 5
    wiped = Changes(erase=1.0).apply(images, random(0))
    share = (wiped != images).mean((1, 2, 3))
    assert (share > 0).all()
    assert (share <= 0.25).all()
    assert np.array_equal(images, batches().pictures.images)  # the originals are left alone
    for wrong in ({"shift": -1}, {"erase": 1.5}):
        with pytest.raises(ConfigError):
            Changes(**wrong)
