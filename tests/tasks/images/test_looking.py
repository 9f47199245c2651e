"""What can be seen in a model of pictures: maps that are right, and views in every form."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from clearhead.cli import main
from clearhead.config.block import PoolingKind
from clearhead.config.vit import ViTConfig
from clearhead.layers.positions import plane_waves
from clearhead.media import write_picture
from clearhead.models import ViT
from clearhead.observe.cost import costs
from clearhead.observe.patches import map_patches
from clearhead.tasks.folder import ModelFolder, save_folder
from clearhead.tasks.images.reading import Reading
from tests.tasks.images.shapes import draw

LABELS = ("<script>", "pole", "spot")


def small(pooling: PoolingKind = "mean") -> ViT:
    torch.manual_seed(0)
    config = ViTConfig(
        n_labels=3, image_size=12, patch_size=3, n_channels=1, n_layers=2, d_model=16, d_ff=32,
        n_heads=2, pooling=pooling,
    )  # fmt: skip
    return ViT(config).eval()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("look")
    reading = Reading(12, 1, (0.2,), (0.3,), LABELS)
    save_folder(to, ModelFolder(small(), None, {"task": "images", "reading": reading.to_dict()}))
    write_picture(draw(1)[0][0][:, :, None], to / "a.png")
    return to


@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_maps_of_patches(pooling: PoolingKind) -> None:
    model, images = small(pooling), torch.randn(1, 1, 12, 12)
    maps = map_patches(model, images, 1)
    assert maps.heads.shape == (2, 2, 4, 4)
    assert (maps.heads >= 0).all()
    assert (maps.heads.sum((2, 3)) <= 1.00001).all()  # the class token has the rest
    assert maps.rollout.shape == maps.attribution.shape == (4, 4)
    assert maps.rollout.sum() < 1


def test_attribution_adds_up() -> None:
    """All patches and the class token together: log p with them less log p without them."""
    from clearhead.layers.tap import listen, taps
    from clearhead.observe.attribution import integrate_gradients

    model, images = small(), torch.randn(1, 1, 12, 12)

    def log_prob() -> torch.Tensor:
        return model(images).log_softmax(-1)[0, 1:2]

    found = integrate_gradients(model, "embedding.vectors", log_prob, 64)
    with torch.no_grad():
        whole = log_prob()
        with listen({taps(model)["embedding.vectors"]: lambda x: x * 0}):
            empty = log_prob()
    assert float(found.sum()) == pytest.approx(float(whole - empty), abs=0.02)


def test_the_cost_of_an_encoder() -> None:
    model = small()
    found = costs(model, 17)
    assert sum(cost.n_parameters for cost in found) == model.n_parameters
    one = 2 * 17 * (4 * 16 * 16 + 2 * 16 * 32 + 2 * 17 * 16)  # products of a block, by hand
    assert [cost.read for cost in found[:2]] == [one, one]


def test_positions_begin_as_neighbours() -> None:
    """The nearest vectors to that of a patch in the middle are those beside it."""
    waves = plane_waves(5, 5, 32)
    assert torch.equal(small().positions.weight[1:].detach(), 0.5 * plane_waves(4, 4, 16))
    distances = (waves - waves[12]).norm(dim=-1)
    assert set(distances.argsort()[:5].tolist()) == {12, 11, 13, 7, 17}
    assert len({tuple(row) for row in waves.tolist()}) == 25
    assert plane_waves(2, 3, 5).shape == (6, 5)


def test_views_in_every_form(folder: Path, tmp_path: Path) -> None:
    run, picture = CliRunner(), str(folder / "a.png")
    shown = run.invoke(main, ["look", str(folder), picture])
    assert shown.exit_code == 0, shown.output
    for told in ("Which patches say", "Attention", "Rollout", "Attribution", "█"):
        assert told in shown.output
    for view in ("patches", "heads", "cost"):
        for ending in ("svg", "html", "json"):
            out = tmp_path / f"{view}.{ending}"
            wish = ["--view", view, "--out", str(out), "--target", "<script>"]
            assert run.invoke(main, ["look", str(folder), picture, *wish]).exit_code == 0
    drawn = (tmp_path / "patches.svg").read_text()
    assert drawn.count("<image") == 4
    assert drawn.count('href="data:image/png;base64,') == 4
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "")  # nothing from outside
    assert "<script>" not in drawn
    data = json.loads((tmp_path / "patches.json").read_text())
    assert data["label"] == "<script>"
    assert np.shape(data["attribution"]) == (4, 4)
    one = run.invoke(main, ["look", str(folder), picture, "--view", "heads", "--block", "1",
                            "--head", "0"])  # fmt: skip
    assert "One head: block 1, head 0" in one.output


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--target", "pool"], "knows no label 'pool': did you mean pole?"),
        (["--view", "align"], "has no view 'align'"),
        (["--view", "heads", "--block", "1"], "give --head, too"),
        (["--view", "heads", "--head", "9"], "there is no head 9 in block 0"),
        (["--beams", "2"], "--beams is for models that write"),
        (["--word", "x"], "--word is for models that write"),
    ],
)
def test_wrong_wishes(options: list[str], told: str, folder: Path) -> None:
    refused = CliRunner().invoke(main, ["look", str(folder), str(folder / "a.png"), *options])
    assert refused.exit_code != 0
    assert told in refused.output
