"""The size and kind of a GPT: a decoder by itself, with learned positions."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from clearhead.config.base import Config
from clearhead.config.block import check_heads
from clearhead.errors import ConfigError, nearest

__all__ = ["GPTConfig"]


@dataclass(frozen=True, kw_only=True)
class GPTConfig(Config):
    """Width, depth and heads; the defaults are a small model for an ordinary machine."""

    presets: ClassVar[dict[str, dict[str, Any]]] = {
        # What nanoGPT trains on a laptop without a graphics card.
        "nano": {"n_positions": 64, "n_layers": 4, "d_model": 128, "d_ff": 512, "n_heads": 4},
        "tiny": {},
        # The smallest GPT-2.
        "small": {
            "n_positions": 1024,
            "n_layers": 12,
            "d_model": 768,
            "d_ff": 3072,
            "n_heads": 12,
            "dropout": 0.1,
            "attention_dropout": 0.1,
        },
    }
    """Sizes by name; what a preset does not say is the default."""

    n_tokens: int
    pad: int = 0
    n_positions: int = 256
    """How many positions are learned: no text can be longer."""
    n_layers: int = 6
    d_model: int = 384
    d_ff: int = 1536
    n_heads: int = 6
    activation: Literal["gelu_tanh", "gelu", "relu"] = "gelu_tanh"
    norm_eps: float = 1e-5
    is_tied: bool = True
    """The output compares with the embeddings themselves."""
    dropout: float = 0.0
    attention_dropout: float = 0.0

    def __post_init__(self) -> None:
        """Check what can be checked before anything is built."""
        super().__post_init__()
        for name in ("n_tokens", "n_positions", "n_layers", "d_ff"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be at least 1")
        check_heads(self.d_model, self.n_heads, self.n_heads)
        if not 0 <= self.pad < self.n_tokens:
            raise ConfigError(f"pad={self.pad} is outside the vocabulary, 0 to {self.n_tokens - 1}")
        for name in ("dropout", "attention_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be at least 0 and below 1")
        if not self.norm_eps > 0:
            raise ConfigError(f"norm_eps={self.norm_eps} must be above 0")

    @classmethod
    def preset(cls, name: str, n_tokens: int, **changes: Any) -> Self:
        """Return a size by name, for a vocabulary of `n_tokens`; `changes` as in `override`.

        >>> GPTConfig.preset("small", 50257).d_model
        768
        """
        if name not in cls.presets:
            raise ConfigError(f"no preset {name!r}: {nearest(name, cls.presets)}")
        return cls.from_dict({"n_tokens": n_tokens} | cls.presets[name]).override(changes)
