"""The models: bricks → logits, one short file each."""

from typing import Any, Final

from clearhead.config import (
    PRESETS,
    BertConfig,
    Config,
    GPTConfig,
    LlamaConfig,
    MixtralConfig,
    TransformerConfig,
    ViTConfig,
)
from clearhead.models.bert import Bert
from clearhead.models.gpt import GPT
from clearhead.models.interface import Model
from clearhead.models.llama import Llama
from clearhead.models.mixtral import Mixtral
from clearhead.models.transformer import Transformer
from clearhead.models.vit import ViT

__all__ = [
    "GPT",
    "MODELS",
    "PRESETS",
    "Bert",
    "BertConfig",
    "GPTConfig",
    "Llama",
    "LlamaConfig",
    "Mixtral",
    "MixtralConfig",
    "Model",
    "Transformer",
    "TransformerConfig",
    "ViT",
    "ViTConfig",
    "build",
]

MODELS: Final[dict[type[Config], Any]] = {
    BertConfig: Bert,
    GPTConfig: GPT,
    LlamaConfig: Llama,
    MixtralConfig: Mixtral,
    TransformerConfig: Transformer,
    ViTConfig: ViT,
}


def build(config: Config) -> Model:
    """The model that a configuration describes, with random weights."""
    model: Model = MODELS[type(config)](config)
    return model
