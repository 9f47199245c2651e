"""The models: bricks → logits, one short file each."""

from clearhead.config import PRESETS, TransformerConfig
from clearhead.models.interface import Model
from clearhead.models.transformer import Transformer

__all__ = ["PRESETS", "Model", "Transformer", "TransformerConfig"]
