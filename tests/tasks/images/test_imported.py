"""A Vision Transformer of Hugging Face becomes a model folder, and says the same of a picture."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from click.testing import CliRunner

import clearhead
from clearhead.cli import main
from clearhead.media import write_picture


def write(folder: Path) -> transformers.ViTForImageClassification:
    torch.manual_seed(0)
    model = transformers.ViTForImageClassification(
        transformers.ViTConfig(
            image_size=8, patch_size=4, num_channels=3, hidden_size=16, num_hidden_layers=2,
            num_attention_heads=2, intermediate_size=24, id2label={0: "cat", 1: "dog", 2: "cow"},
        )
    ).eval()  # fmt: skip
    model.save_pretrained(folder)
    return model


@pytest.mark.parametrize("is_told", [True, False])
def test_labels_and_pixels_travel(is_told: bool, tmp_path: Path) -> None:
    theirs = write(tmp_path / "in")
    mean, std = ([0.4, 0.5, 0.6], [0.2, 0.3, 0.4]) if is_told else ([0.5] * 3, [0.5] * 3)
    if is_told:
        about = {"do_normalize": True, "image_mean": mean, "image_std": std}
        (tmp_path / "in" / "preprocessor_config.json").write_text(json.dumps(about))
    out = CliRunner().invoke(main, ["convert", str(tmp_path / "in"), str(tmp_path / "ours")])
    assert out.exit_code == 0, out.output
    assert not (tmp_path / "ours" / "tokenizer.json").exists()
    classifier = clearhead.load(tmp_path / "ours")
    pixels = np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    write_picture(pixels, tmp_path / "a.png")
    seen = classifier(tmp_path / "a.png")
    numbers = (torch.from_numpy(pixels / 255).float() - torch.tensor(mean)) / torch.tensor(std)
    with torch.no_grad():
        expected = theirs(numbers.permute(2, 0, 1)[None]).logits.softmax(-1)[0].tolist()
    for name, p in zip(("cat", "dog", "cow"), expected, strict=True):
        assert seen.probabilities[name] == pytest.approx(p, abs=1e-5)
    run = CliRunner().invoke(main, ["run", str(tmp_path / "ours"), str(tmp_path / "a.png")])
    assert run.output == f"{seen.label}\t{seen.probability:.4f}\n"
    out = CliRunner().invoke(main, ["convert", str(tmp_path / "ours"), str(tmp_path / "again")])
    assert out.exit_code == 0, out.output
    about = json.loads((tmp_path / "again" / "config.json").read_text())
    assert about["id2label"] == {"0": "cat", "1": "dog", "2": "cow"}
