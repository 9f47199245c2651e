"""The models: bricks → logits, one short file each."""

from typing import Any, Final

from clearhead.config import (
    PRESETS,
    Config,
    GPTConfig,
    LlamaConfig,
    MixtralConfig,
    TransformerConfig,
)
from clearhead.models.gpt import GPT
from clearhead.models.interface import Model
from clearhead.models.llama import Llama
from clearhead.models.mixtral import Mixtral
from clearhead.models.transformer import Transformer

__all__ = [
    "GPT",
    "MODELS",
    "PRESETS",
    "GPTConfig",
    "Llama",
    "LlamaConfig",
    "Mixtral",
    "MixtralConfig",
    "Model",
    "Transformer",
    "TransformerConfig",
    "build",
]

MODELS: Final[dict[type[Config], Any]] = {
    TransformerConfig: Transformer,
    GPTConfig: GPT,
    LlamaConfig: Llama,
    MixtralConfig: Mixtral,
}


def build(config: Config) -> Model:
    """The model that a configuration describes, with random weights."""
    model: Model = MODELS[type(config)](config)
    return model
