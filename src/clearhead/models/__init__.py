"""The models: bricks → logits, one short file each."""

from typing import Any, Final

from clearhead.config import (
    PRESETS,
    BertConfig,
    Config,
    GPTConfig,
    LlamaConfig,
    MixtralConfig,
    T5Config,
    TransformerConfig,
    ViTConfig,
)
from clearhead.models.bert import Bert
from clearhead.models.gpt import GPT
from clearhead.models.interface import Model
from clearhead.models.llama import Llama
from clearhead.models.mixtral import Mixtral
from clearhead.models.t5 import T5
from clearhead.models.transformer import Transformer
from clearhead.models.vit import ViT

__all__ = [
    "GPT",
    "MODELS",
    "PRESETS",
    "T5",
    "Bert",
    "BertConfig",
    "GPTConfig",
    "Llama",
    "LlamaConfig",
    "Mixtral",
    "MixtralConfig",
    "Model",
    "T5Config",
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
    T5Config: T5,
    TransformerConfig: Transformer,
    ViTConfig: ViT,
}


def build(config: Config) -> Model:
    """The model that a configuration describes, with random weights."""
    model: Model = MODELS[type(config)](config)
    return model
