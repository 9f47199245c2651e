"""The models: bricks → logits, one short file each."""

from typing import Any, Final

from clearhead.config import PRESETS, Config, LlamaConfig, TransformerConfig
from clearhead.models.interface import Model
from clearhead.models.llama import Llama
from clearhead.models.transformer import Transformer

__all__ = [
    "MODELS",
    "PRESETS",
    "Llama",
    "LlamaConfig",
    "Model",
    "Transformer",
    "TransformerConfig",
    "build",
]

MODELS: Final[dict[type[Config], Any]] = {TransformerConfig: Transformer, LlamaConfig: Llama}


def build(config: Config) -> Model:
    """The model that a configuration describes, with random weights."""
    model: Model = MODELS[type(config)](config)
    return model
