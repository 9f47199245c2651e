"""Configurations: frozen, typed data that travels as JSON and refuses unknown names.

Those of models stand here, and not beside the models: who runs one natively needs no torch.
"""

from clearhead.config.base import Config
from clearhead.config.bert import BertConfig
from clearhead.config.block import BlockConfig
from clearhead.config.gpt import GPTConfig
from clearhead.config.kinds import (
    KINDS,
    ModelConfig,
    is_encoder_decoder,
    kind_of,
    load_config,
    n_tokens_of,
    save_config,
)
from clearhead.config.llama import LlamaConfig
from clearhead.config.mixtral import MixtralConfig
from clearhead.config.t5 import T5Config
from clearhead.config.transformer import PRESETS, TransformerConfig
from clearhead.config.vit import ViTConfig

__all__ = [
    "KINDS",
    "PRESETS",
    "BertConfig",
    "BlockConfig",
    "Config",
    "GPTConfig",
    "LlamaConfig",
    "MixtralConfig",
    "ModelConfig",
    "T5Config",
    "TransformerConfig",
    "ViTConfig",
    "is_encoder_decoder",
    "kind_of",
    "load_config",
    "n_tokens_of",
    "save_config",
]
