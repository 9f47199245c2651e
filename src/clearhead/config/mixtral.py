"""The size and kind of a Mixtral: a Llama whose feed-forward layers are experts."""

from dataclasses import dataclass
from typing import Any, ClassVar

from clearhead.config.llama import LlamaConfig
from clearhead.errors import ConfigError

__all__ = ["MixtralConfig"]


@dataclass(frozen=True, kw_only=True)
class MixtralConfig(LlamaConfig):
    """A Llama's settings, and how many experts there are; `d_ff` is the width of one expert."""

    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "nano": {"n_layers": 4, "d_model": 128, "d_ff": 176, "n_heads": 4, "n_experts": 4},
        "tiny": {},
        "small": {"n_layers": 12, "d_model": 768, "d_ff": 1024, "n_heads": 12},
    }
    """With two experts a token costs as much as in the Llama of the same name."""

    d_ff: int = 512
    n_experts: int = 8
    n_chosen: int = 2
    """How many experts a token visits."""

    def __post_init__(self) -> None:
        """Check what can be checked before anything is built."""
        super().__post_init__()
        if not 1 <= self.n_chosen <= self.n_experts:
            raise ConfigError(
                f"n_chosen={self.n_chosen} must lie between 1 and n_experts={self.n_experts}"
            )
