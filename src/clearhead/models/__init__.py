"""The models: bricks → logits, one short file each."""

from clearhead.models.interface import Model, State, StepDecoder
from clearhead.models.transformer import PRESETS, Transformer, TransformerConfig

__all__ = ["PRESETS", "Model", "State", "StepDecoder", "Transformer", "TransformerConfig"]
