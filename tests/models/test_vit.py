"""What must always hold for a model of pictures, and a toy that it learns."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from clearhead.config import ViTConfig
from clearhead.errors import ConfigError, InputError
from clearhead.layers.patches import Convolutions, cut_patches
from clearhead.models import ViT
from clearhead.observe import edit, zero

CONFIG = ViTConfig(
    n_labels=3,
    image_size=8,
    patch_size=4,
    n_channels=1,
    n_layers=2,
    d_model=16,
    d_ff=24,
    n_heads=4,
    dropout=0.1,
)
KINDS: dict[str, dict[str, Any]] = {
    "first": {},
    "mean": {"pooling": "mean"},
    "none": {"head": "none"},
    "convolutions": {"patches": "convolutions", "pooling": "mean"},
}

kinds = pytest.mark.parametrize("kind", KINDS)


def make(kind: str = "first") -> ViT:
    return ViT(replace(CONFIG, **KINDS[kind])).eval()


@pytest.mark.parametrize("is_on", [False, True])
@kinds
def test_every_parameter_gets_a_gradient(kind: str, is_on: bool) -> None:
    model = make(kind).train()
    model.recompute(is_on)
    logits = model(torch.randn(3, 1, 8, 8))
    (logits * torch.randn_like(logits)).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name


@torch.no_grad()
def test_the_mean_is_over_the_patches() -> None:
    model = make("mean")
    images = torch.randn(3, 1, 8, 8)
    vectors = model.read(images)
    assert vectors.shape == (3, 5, 16)
    assert torch.allclose(model.summarise(images), vectors[:, 1:].mean(1), atol=1e-6)
    assert torch.equal(make("first").pooling(vectors, torch.ones(3, 5).bool()), vectors[:, 0])


def test_patches_are_cut_row_by_row_and_hold_every_channel() -> None:
    image = torch.arange(2 * 4 * 6.0).view(1, 2, 4, 6)
    patches = cut_patches(image, 2)
    assert patches.shape == (1, 6, 8)
    assert torch.equal(patches[0, 4], image[0, :, 2:4, 2:4].flatten())


@torch.no_grad()
@pytest.mark.parametrize("patch_size", [1, 2, 3, 4, 6])
def test_convolutions_see_little_beyond_a_patch(patch_size: int) -> None:
    made = Convolutions(2, patch_size, 9)
    image = torch.rand(1, 2, 24, 24)
    before = made(image)
    n = 24 // patch_size
    assert before.shape == (1, n * n, 9)
    image[0, 0, 12, 12] = 100.0
    changed = (made(image) - before)[0].abs().amax(-1).view(n, n).nonzero()
    place = 12 // patch_size
    assert [place, place] in changed.tolist()
    assert (changed - place).abs().max() <= 1


@torch.no_grad()
def test_without_positions_the_order_of_patches_does_not_matter() -> None:
    model = make()
    images = torch.randn(2, 1, 8, 8)
    swapped = images.roll(4, dims=3)
    assert (model(images) - model(swapped)).abs().max() > 1e-4
    with edit(model, {"positions.vectors": zero()}):
        assert torch.allclose(model(images), model(swapped), atol=1e-5)


def test_sizes_by_name() -> None:
    grey, colour = (
        ViTConfig.preset("tiny", 10),
        ViTConfig.preset("tiny", 10, image_size=32, n_channels=3),
    )
    for config in (grey, colour):
        model = ViT(config)
        assert model.n_parameters < 1_000_000
        size = config.image_size
        assert model(torch.randn(2, config.n_channels, size, size)).shape == (2, 10)
    base = ViTConfig.preset("base", 1000)
    assert (base.n_patches, base.d_model, base.n_layers) == (196, 768, 12)
    with pytest.raises(ConfigError, match="no preset 'huge': known: base, tiny"):
        ViTConfig.preset("huge", 10)


@pytest.mark.parametrize("kind", ["first", "mean"])
def test_it_learns_where_the_light_is(kind: str) -> None:
    torch.manual_seed(1)
    model = ViT(replace(make(kind).config, n_labels=4)).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    accuracy = 0.0
    for _ in range(200):
        images, labels = 0.3 * torch.randn(32, 1, 8, 8), torch.randint(0, 4, (32,))
        for image, label in zip(images, labels.tolist(), strict=True):
            top, left = 4 * (label // 2), 4 * (label % 2)
            image[:, top : top + 4, left : left + 4] += 1
        logits = model(images)
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        accuracy = 0.9 * accuracy + 0.1 * float((logits.argmax(-1) == labels).float().mean())
    assert accuracy > 0.95


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"patch_size": 3}, "image_size=8 must be a multiple of patch_size=3"),
        ({"n_labels": 0}, "n_labels=0 must be at least 1"),
        ({"n_heads": 3}, "d_model=16 must be a multiple of n_heads=3"),
        ({"pooling": "last"}, "pooling='last' is not allowed: choose one of first, mean"),
    ],
)
def test_wrong_configurations_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        replace(CONFIG, **change)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("images", "message"),
    [
        (torch.zeros(2, 3, 8, 8), "images have 3 channels; this model reads 1"),
        (torch.zeros(2, 1, 8, 9), "images are 8 × 9 pixels; this model reads 8 × 8"),
        (torch.zeros(1, 8, 8), r"images have shape \(1, 8, 8\); it must be \(rows, channels"),
        (torch.zeros(0, 1, 8, 8), "there are no images"),
        (torch.zeros(2, 1, 8, 8).byte(), "images are torch.uint8; they must be floats"),
    ],
)
def test_wrong_images_are_refused(images: torch.Tensor, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()(images)
