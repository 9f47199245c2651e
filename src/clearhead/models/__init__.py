"""The models: bricks → logits, one short file each."""

from typing import Any, Final

from clearhead.config import (
    PRESETS,
    BertConfig,
    Config,
    LlamaConfig,
    TransformerConfig,
    ViTConfig,
)
from clearhead.models.bert import Bert
from clearhead.models.interface import Model
from clearhead.models.llama import Llama
from clearhead.models.transformer import Transformer
from clearhead.models.vit import ViT

__all__ = [
    "MODELS",
    "PRESETS",
    "Bert",
    "BertConfig",
    "Llama",
    "LlamaConfig",
    "Model",
    "Transformer",
    "TransformerConfig",
    "ViT",
    "ViTConfig",
    "build",
]

MODELS: Final[dict[type[Config], Any]] = {
    BertConfig: Bert,
    LlamaConfig: Llama,
    TransformerConfig: Transformer,
    ViTConfig: ViT,
}


def build(config: Config) -> Model:
    """The model that a configuration describes, with random weights."""
    model: Model = MODELS[type(config)](config)
    return model
