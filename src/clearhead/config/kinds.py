"""Which kind of model a configuration is for: its name in `config.json`, and back."""

import json
from pathlib import Path
from typing import Final

from clearhead.config.base import Config, read_json
from clearhead.config.llama import LlamaConfig
from clearhead.config.t5 import T5Config
from clearhead.config.transformer import TransformerConfig
from clearhead.errors import ConfigError, nearest

__all__ = ["KINDS", "ModelConfig", "load_config", "save_config"]

ModelConfig = TransformerConfig | LlamaConfig | T5Config
KINDS: Final[dict[str, type[Config]]] = {
    "transformer": TransformerConfig,
    "llama": LlamaConfig,
    "t5": T5Config,
}


def save_config(config: Config, path: Path) -> None:
    """Write a model's configuration as JSON, its kind first."""
    (kind,) = (name for name, known in KINDS.items() if known is type(config))
    data = {"kind": kind, **config.to_dict()}
    path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


def load_config(path: Path) -> Config:
    """Read what `save_config` wrote; without a kind it is a Transformer, as in older folders."""
    data = read_json(path)
    kind = data.pop("kind", "transformer")
    if kind not in KINDS:
        raise ConfigError(f"{path} is for a model of kind {kind!r}: {nearest(str(kind), KINDS)}")
    return KINDS[kind].from_dict(data)
