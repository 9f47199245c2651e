"""Which kind of model a configuration is for: its name in `config.json`, and back."""

import json
from pathlib import Path
from typing import Final

from clearhead.config.base import Config, read_json
from clearhead.config.bert import BertConfig
from clearhead.config.gpt import GPTConfig
from clearhead.config.llama import LlamaConfig
from clearhead.config.mixtral import MixtralConfig
from clearhead.config.t5 import T5Config
from clearhead.config.transformer import TransformerConfig
from clearhead.config.vit import ViTConfig
from clearhead.errors import ConfigError, nearest

__all__ = [
    "KINDS",
    "ModelConfig",
    "is_encoder_decoder",
    "kind_of",
    "load_config",
    "n_tokens_of",
    "save_config",
]

ModelConfig = (
    BertConfig | GPTConfig | LlamaConfig | MixtralConfig | T5Config | TransformerConfig | ViTConfig
)
KINDS: Final[dict[str, type[Config]]] = {
    "bert": BertConfig,
    "gpt": GPTConfig,
    "llama": LlamaConfig,
    "mixtral": MixtralConfig,
    "t5": T5Config,
    "transformer": TransformerConfig,
    "vit": ViTConfig,
}


def save_config(config: Config, path: Path) -> None:
    """Write a model's configuration as JSON, its kind first."""
    data = {"kind": kind_of(config), **config.to_dict()}
    path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


def kind_of(config: Config) -> str:
    """The name of a configuration's kind.

    >>> kind_of(LlamaConfig(n_tokens=9))
    'llama'
    """
    (kind,) = (name for name, known in KINDS.items() if known is type(config))
    return kind


def load_config(path: Path) -> Config:
    """Read what `save_config` wrote; without a kind it is a Transformer, as in older folders."""
    data = read_json(path)
    kind = data.pop("kind", "transformer")
    if kind not in KINDS:
        raise ConfigError(f"{path} is for a model of kind {kind!r}: {nearest(str(kind), KINDS)}")
    return KINDS[kind].from_dict(data)


def n_tokens_of(config: Config) -> int:
    """How many tokens a model can read; 0 if it reads none, but pictures, say."""
    return int(getattr(config, "n_tokens", 0) or getattr(config, "n_source_tokens", 0))


def is_encoder_decoder(config: Config) -> bool:
    """Whether a model reads one text and writes another."""
    return hasattr(config, "n_encoder_layers") and hasattr(config, "n_decoder_layers")
