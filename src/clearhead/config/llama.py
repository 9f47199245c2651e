"""The size and kind of a Llama: a decoder by itself."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from clearhead.config.base import Config
from clearhead.config.block import check_heads
from clearhead.errors import ConfigError, nearest

__all__ = ["LlamaConfig"]


@dataclass(frozen=True, kw_only=True)
class LlamaConfig(Config):
    """Width, depth and heads; the defaults are a small model for an ordinary machine."""

    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "nano": {"n_layers": 4, "d_model": 128, "d_ff": 352, "n_heads": 4},
        "tiny": {},
        "small": {"n_layers": 12, "d_model": 768, "d_ff": 2048, "n_heads": 12},
    }
    """Sizes by name; what a preset does not say is the default."""

    n_tokens: int
    pad: int = 0
    n_layers: int = 6
    d_model: int = 384
    d_ff: int = 1024
    n_heads: int = 6
    n_kv_heads: int | None = None
    d_head: int | None = None
    """The width of a head; d_model / n_heads without it."""
    attention_bias: bool = False
    rotary_base: float = 10000.0
    norm_eps: float = 1e-5
    is_tied: bool = True
    """The output compares with the embeddings themselves."""
    dropout: float = 0.0

    def __post_init__(self) -> None:
        """Check what can be checked before anything is built."""
        super().__post_init__()
        for name in ("n_tokens", "n_layers", "d_ff"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be at least 1")
        check_heads(self.d_model, self.n_heads, self.kv_heads, self.d_head)
        if self.head_width % 2:
            raise ConfigError(f"heads of {self.head_width} must be even for rotary positions")
        if not 0 <= self.pad < self.n_tokens:
            raise ConfigError(f"pad={self.pad} is outside the vocabulary, 0 to {self.n_tokens - 1}")
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"dropout={self.dropout} must be at least 0 and below 1")
        for name in ("rotary_base", "norm_eps"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name}={getattr(self, name)} must be above 0")

    @classmethod
    def preset(cls, name: str, n_tokens: int, **changes: Any) -> Self:
        """Return a size by name, for a vocabulary of `n_tokens`; `changes` as in `override`.

        >>> LlamaConfig.preset("small", 32000).d_model
        768
        """
        if name not in cls.presets:
            raise ConfigError(f"no preset {name!r}: {nearest(name, cls.presets)}")
        return cls.from_dict({"n_tokens": n_tokens} | cls.presets[name]).override(changes)

    @property
    def kv_heads(self) -> int:
        """How many heads the keys and values have."""
        return self.n_heads if self.n_kv_heads is None else self.n_kv_heads

    @property
    def head_width(self) -> int:
        """The width of one head."""
        return self.d_model // self.n_heads if self.d_head is None else self.d_head
