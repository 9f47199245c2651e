"""The models: bricks → logits, one short file each."""

from typing import Any, Final

from clearhead.config import PRESETS, Config, LlamaConfig, T5Config, TransformerConfig
from clearhead.models.interface import Model
from clearhead.models.llama import Llama
from clearhead.models.t5 import T5
from clearhead.models.transformer import Transformer

__all__ = [
    "MODELS",
    "PRESETS",
    "T5",
    "Llama",
    "LlamaConfig",
    "Model",
    "T5Config",
    "Transformer",
    "TransformerConfig",
    "build",
]

MODELS: Final[dict[type[Config], Any]] = {
    TransformerConfig: Transformer,
    LlamaConfig: Llama,
    T5Config: T5,
}


def build(config: Config) -> Model:
    """The model that a configuration describes, with random weights."""
    model: Model = MODELS[type(config)](config)
    return model
