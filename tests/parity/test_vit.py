"""Our Vision Transformer is that of Hugging Face: vectors, attention, logits, gradients."""

from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from clearhead.config import ViTConfig
from clearhead.models import ViT
from clearhead.observe import Value, watch
from tests.parity.compare import (
    Path,
    assert_near,
    assert_same_gradients,
    backward,
    both_paths,
    randomise,
    take,
)
from tests.parity.weights import hf_vit

SHAPES: dict[str, dict[str, int]] = {
    "grey": {"image_size": 12, "patch_size": 4, "n_channels": 1, "n_layers": 1, "n_heads": 2},
    "colour": {"image_size": 8, "patch_size": 2, "n_channels": 3, "n_layers": 3, "n_heads": 4},
    "one patch": {"image_size": 5, "patch_size": 5, "n_channels": 2, "n_layers": 2, "n_heads": 1},
}

shapes = pytest.mark.parametrize("shape", SHAPES)
heads = pytest.mark.parametrize("head", ["classify", "none"])


def twin_models(shape: str, head: Any) -> tuple[ViT, Any]:
    """Ours and theirs, with the same random weights."""
    sizes = SHAPES[shape]
    their_config = transformers.ViTConfig(
        hidden_size=16,
        num_hidden_layers=sizes["n_layers"],
        num_attention_heads=sizes["n_heads"],
        intermediate_size=24,
        image_size=sizes["image_size"],
        patch_size=sizes["patch_size"],
        num_channels=sizes["n_channels"],
        num_labels=7,
        attn_implementation="eager",
    )
    if head == "classify":
        theirs: Any = transformers.ViTForImageClassification(their_config)
    else:
        theirs = transformers.ViTModel(their_config, add_pooling_layer=False)
    randomise(theirs)
    config = ViTConfig(n_labels=7, d_model=16, d_ff=24, head=head, **sizes)  # type: ignore[arg-type]
    ours = ViT(config)
    ours.load_state_dict(hf_vit(theirs.state_dict()))
    return ours.eval(), theirs.eval()


def pictures(shape: str) -> Tensor:
    sizes = SHAPES[shape]
    return torch.randn(3, sizes["n_channels"], sizes["image_size"], sizes["image_size"])


@pytest.mark.parametrize("is_training", [True, False])
@heads
@shapes
@both_paths
def test_logits_and_gradients_are_theirs(
    path: Path, shape: str, head: str, is_training: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(path, monkeypatch)
    ours, theirs = twin_models(shape, head)
    ours.train(is_training)
    theirs.train(is_training)
    images = pictures(shape)
    output = theirs(images)
    logits = ours(images)
    expected = output.logits if head == "classify" else output.last_hidden_state
    assert logits.shape == expected.shape
    assert_near(logits, expected, 1e-4)
    backward(logits, expected)
    assert_same_gradients(ours, theirs, hf_vit, 1e-4)


@shapes
@torch.no_grad()
def test_what_is_watched_is_theirs(shape: str) -> None:
    ours, theirs = twin_models(shape, "classify")
    images = pictures(shape)
    with watch(ours, "*.weights", "*.vectors", "*.sum", "encoder.input", "*.logits") as seen:
        ours(images)
    output = theirs(images, output_attentions=True, output_hidden_states=True)

    def value(name: str) -> Value:
        found = seen[name]
        assert isinstance(found, Value)
        return found

    assert len(output.attentions) == ours.config.n_layers
    for n, table in enumerate(output.attentions):
        assert_near(value(f"encoder.blocks.{n}.self_attention.weights").tensor, table, 1e-5)
    embedded, *hidden = output.hidden_states
    assert_near(value("encoder.input").tensor, embedded, 1e-4)
    for n, vectors in enumerate(hidden[:-1]):  # their last one is normed, or not, by version
        mine = value(f"encoder.blocks.{n}.feed_forward_residual.sum").tensor
        assert_near(mine, vectors, 1e-4)
    assert_near(value("output.logits").tensor, output.logits, 1e-4)
    assert value("output.logits").axes == ("batch", "label")

    patches = theirs.vit.embeddings.patch_embeddings(images)
    shown = value("embedding.vectors")
    assert_near(shown.tensor[:, 1:], patches, 1e-5)
    assert shown.row(0).labels("query") == [str(n) for n in range(ours.config.n_patches + 1)]
