"""The models: bricks → logits, one short file each."""

from clearhead.config import PRESETS, LlamaConfig, TransformerConfig
from clearhead.models.interface import Model
from clearhead.models.llama import Llama
from clearhead.models.transformer import Transformer

__all__ = ["PRESETS", "Llama", "LlamaConfig", "Model", "Transformer", "TransformerConfig"]
