"""What all blocks of a model have in common."""

from dataclasses import dataclass
from typing import Final, Literal

from clearhead.config.base import Config
from clearhead.errors import ConfigError

__all__ = ["GATED", "Activation", "BlockConfig", "PatchKind", "PoolingKind", "check_heads"]

Activation = Literal["relu", "gelu", "gelu_tanh", "swish", "swiglu", "geglu"]
GATED: Final = frozenset({"swiglu", "geglu"})
"""Activations of which one half of the numbers opens and closes the other half."""
PatchKind = Literal["linear", "convolutions"]
PoolingKind = Literal["first", "mean"]


@dataclass(frozen=True, kw_only=True)
class BlockConfig(Config):
    """Width, heads and kind of a block. `dropout` is the paper's; the others add to it."""

    d_model: int = 512
    d_ff: int = 2048
    n_heads: int = 8
    n_kv_heads: int | None = None
    norm: Literal["post", "pre"] = "post"
    activation: Activation = "relu"
    attention_bias: bool = False
    dropout: float = 0.1
    attention_dropout: float = 0.0
    hidden_dropout: float = 0.0

    def __post_init__(self) -> None:
        """Check what can be checked before anything is built."""
        super().__post_init__()
        n_kv_heads = self.n_heads if self.n_kv_heads is None else self.n_kv_heads
        check_heads(self.d_model, self.n_heads, n_kv_heads)
        for name in ("dropout", "attention_dropout", "hidden_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be at least 0 and below 1")
        if self.d_ff < 1:
            raise ConfigError(f"d_ff={self.d_ff} must be at least 1")


def check_heads(d_model: int, n_heads: int, n_kv_heads: int, d_head: int | None = None) -> None:
    """Refuse head counts that do not fit the width or each other."""
    if min(d_model, n_heads, n_kv_heads) < 1:
        raise ConfigError(
            f"d_model={d_model}, n_heads={n_heads} and n_kv_heads={n_kv_heads} must be at least 1"
        )
    if d_head is None and d_model % n_heads:
        raise ConfigError(f"d_model={d_model} must be a multiple of n_heads={n_heads}")
    if n_heads % n_kv_heads:
        raise ConfigError(f"n_heads={n_heads} must be a multiple of n_kv_heads={n_kv_heads}")
