"""BERT and the Vision Transformer come from Hugging Face's folders, and go back, exactly."""

import json
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import Tensor

from clearhead.config import BertConfig, Config, ViTConfig
from clearhead.convert.families import FAMILIES, BertFamily, ViTFamily
from clearhead.convert.family import Family
from clearhead.errors import ConfigError
from clearhead.models import Model
from tests.parity.compare import assert_near, randomise

PAD = 2
SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 24,
    "num_labels": 2,
}
BERT = {"vocab_size": 31, "max_position_embeddings": 10, "pad_token_id": PAD, **SIZES}
VIT = {"image_size": 8, "patch_size": 4, "num_channels": 2, **SIZES, "num_labels": 5}
CLASSES = {
    "BertModel": BERT,
    "BertForMaskedLM": BERT,
    "BertForSequenceClassification": {**BERT, "num_labels": 3},
    "BertForQuestionAnswering": BERT,
    "ViTModel": VIT,
    "ViTForImageClassification": VIT,
}

classes = pytest.mark.parametrize("name", CLASSES)


def save_theirs(name: str, folder: Path) -> Any:
    """One of their models with random weights, in a folder."""
    kind = transformers.ViTConfig if name.startswith("ViT") else transformers.BertConfig
    theirs = getattr(transformers, name)(kind(**CLASSES[name], attn_implementation="eager"))
    randomise(theirs)
    theirs.save_pretrained(folder)
    return theirs.eval()


def settings(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "config.json").read_text(encoding="utf-8")))


def take(family: Family[Any], folder: Path) -> tuple[Model, dict[str, Tensor]]:
    """Our model from their folder; nothing that was learned may be left over."""
    config = family.read_config(settings(folder))
    weights = {
        family.rename(name, config): weight
        for name, weight in load_file(folder / "model.safetensors").items()
    }
    model, entries = family.build(config), family.entries(config)
    ours = dict(model.named_parameters())
    assert sorted(entry.ours for entry in entries) == sorted(ours)
    with torch.no_grad():
        for entry in entries:
            ours[entry.ours].copy_(entry.take(weights.__getitem__))
    read = {name for entry in entries for name in entry.theirs}
    left = [name for name in weights if name not in read]
    assert all(any(fnmatch(name, rule) for rule in family.ignored) for name in left), left
    return model.eval(), weights


def give(family: Family[Any], model: Model, folder: Path) -> dict[str, Tensor]:
    """Write our model as theirs."""
    config: Config = model.config
    ours = dict(model.named_parameters())
    theirs: dict[str, Tensor] = {}
    for entry in family.entries(config):
        theirs |= entry.give(ours[entry.ours].detach())
    kind = {"model_type": family.model_type, "architectures": [family.architecture_of(config)]}
    text = json.dumps(kind | family.write_config(config))
    (folder / "config.json").write_text(text, encoding="utf-8")
    save_file(theirs, folder / "model.safetensors", {"format": "pt"})
    return theirs


def family_of(name: str) -> Family[Any]:
    return ViTFamily() if name.startswith("ViT") else BertFamily()


@torch.no_grad()
def their_logits(name: str, theirs: Any, x: Tensor) -> Tensor:
    output = theirs(x) if name.startswith("ViT") else theirs(x, attention_mask=(x != PAD).long())
    if name == "BertForQuestionAnswering":
        return torch.stack([output.start_logits, output.end_logits], dim=-1)
    return output.last_hidden_state if name.endswith("Model") else output.logits


def an_input(name: str) -> Tensor:
    if name.startswith("ViT"):
        return torch.randn(3, 2, 8, 8)
    tokens = torch.randint(3, 31, (3, 9))
    tokens[1, 5:] = PAD
    return tokens


@classes
@torch.no_grad()
def test_their_folder_gives_our_model_and_back(name: str, tmp_path: Path) -> None:
    theirs = save_theirs(name, tmp_path)
    family, x = family_of(name), an_input(name)
    model, weights = take(family, tmp_path)
    expected = their_logits(name, theirs, x)
    assert_near(model(x), expected, 1e-4)

    back = tmp_path / "back"
    back.mkdir()
    given = give(family, model, back)
    for key, weight in given.items():
        assert torch.equal(weight, weights[key]), key
    again = getattr(transformers, name).from_pretrained(back, attn_implementation="eager").eval()
    assert_near(their_logits(name, again, x), expected, 1e-6)
    assert family.read_config(settings(back)) == model.config


@classes
def test_the_family_of_each_class_is_found(name: str) -> None:
    kinds = {family.model_type: type(family) for family in FAMILIES}
    assert kinds["vit" if name.startswith("ViT") else "bert"] is type(family_of(name))


def test_the_vector_of_a_text_is_their_pooler(tmp_path: Path) -> None:
    theirs = save_theirs("BertModel", tmp_path)
    model, _ = take(BertFamily(), tmp_path)
    tokens = torch.randint(3, 31, (2, 7))
    assert_near(model.summarise(tokens), theirs(tokens).pooler_output, 1e-5)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("given", "head", "expected"),
    [
        ("bert.encoder.layer.0.output.dense.bias", "none", "encoder.layer.0.output.dense.bias"),
        ("encoder.layer.0.output.dense.bias", "fill", "bert.encoder.layer.0.output.dense.bias"),
        ("bert.embeddings.LayerNorm.gamma", "span", "bert.embeddings.LayerNorm.weight"),
        ("embeddings.LayerNorm.beta", "none", "embeddings.LayerNorm.bias"),
        ("cls.predictions.bias", "fill", "cls.predictions.bias"),
        ("classifier.weight", "classify", "classifier.weight"),
    ],
)
def test_other_versions_of_names(given: str, head: Any, expected: str) -> None:
    assert BertFamily().rename(given, BertConfig(n_tokens=9, head=head)) == expected


def test_tensors_that_hold_nothing_learned_are_left(tmp_path: Path) -> None:
    save_theirs("BertForMaskedLM", tmp_path)
    path = tmp_path / "model.safetensors"
    more = {
        "bert.embeddings.position_ids": torch.arange(10)[None],
        "bert.pooler.dense.weight": torch.zeros(16, 16),
        "cls.seq_relationship.weight": torch.zeros(2, 16),
        "cls.predictions.decoder.bias": torch.zeros(31),
    }
    save_file(load_file(path) | more, path)
    take(BertFamily(), tmp_path)


@pytest.mark.parametrize(
    ("family", "change", "message"),
    [
        (BertFamily(), {"hidden_act": "gelu_new"}, "hidden_act='gelu_new' is not known here: gelu"),
        (BertFamily(), {"position_embedding_type": "relative_key"}, "positions of kind 'relative_"),
        (BertFamily(), {"is_decoder": True}, "a BERT that decodes is not known here"),
        (
            BertFamily(),
            {"architectures": ["BertForMaskedLM"], "tie_word_embeddings": False},
            "tie_word_embeddings=False is not known",
        ),
        (
            BertFamily(),
            {"architectures": ["BertForTokenClassification"]},
            "is not known here: Bert",
        ),
        (ViTFamily(), {"hidden_act": "relu"}, "hidden_act='relu' is not known here: gelu is"),
        (ViTFamily(), {"qkv_bias": False}, "qkv_bias=False is not known here"),
        (ViTFamily(), {"image_size": [8, 16]}, r"image_size=\[8, 16\] is not a square"),
        (ViTFamily(), {"architectures": ["ViTForMaskedImageModeling"]}, "is not known here: ViTM"),
    ],
)
def test_what_we_do_not_have_is_refused(
    family: Family[Any], change: dict[str, Any], message: str
) -> None:
    theirs: dict[str, Any] = dict(VIT if isinstance(family, ViTFamily) else BERT)
    theirs |= {"type_vocab_size": 2}
    family.read_config(theirs)
    with pytest.raises(ConfigError, match=message):
        family.read_config(theirs | change)


def test_a_classifier_of_the_mean_stays_here() -> None:
    bert = BertConfig(n_tokens=9, head="classify", pooling="mean")
    vit = ViTConfig(n_labels=3, pooling="mean")
    with pytest.raises(ConfigError, match="pooling='mean' under a classifier has no class"):
        BertFamily().write_config(bert)
    with pytest.raises(ConfigError, match="pooling='mean' under a classifier has no class"):
        ViTFamily().write_config(vit)
    with pytest.raises(ConfigError, match="patches='convolutions' have no class"):
        ViTFamily().write_config(ViTConfig(n_labels=3, patches="convolutions"))
    assert BertFamily().write_config(replace(bert, head="none"))["hidden_size"] == 768
