"""Configurations: frozen, typed data that travels as JSON and refuses unknown names.

Those of models stand here, and not beside the models: who runs one natively needs no torch.
"""

from clearhead.config.base import Config
from clearhead.config.block import BlockConfig
from clearhead.config.kinds import KINDS, ModelConfig, load_config, save_config
from clearhead.config.llama import LlamaConfig
from clearhead.config.t5 import T5Config
from clearhead.config.transformer import PRESETS, TransformerConfig

__all__ = [
    "KINDS",
    "PRESETS",
    "BlockConfig",
    "Config",
    "LlamaConfig",
    "ModelConfig",
    "T5Config",
    "TransformerConfig",
    "load_config",
    "save_config",
]
