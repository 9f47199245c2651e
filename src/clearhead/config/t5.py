"""The size and kind of a T5, by number or by name."""

from dataclasses import dataclass
from typing import Any, Final

from clearhead.config.base import Config
from clearhead.config.block import Activation, check_heads
from clearhead.errors import ConfigError, nearest

__all__ = ["T5Config"]


@dataclass(frozen=True, kw_only=True)
class T5Config(Config):
    """The size and kind of a T5. The defaults are the small model of 2020, "t5-small"."""

    n_tokens: int
    pad: int = 0
    """Padding, and the token with which every target begins."""
    n_encoder_layers: int = 6
    n_decoder_layers: int = 6
    d_model: int = 512
    d_ff: int = 2048
    n_heads: int = 8
    d_head: int = 64
    """The width of a head, whatever d_model is."""
    activation: Activation = "relu"
    """ReLU in version 1.0; from version 1.1 on "geglu"."""
    n_buckets: int = 32
    """Into how many kinds distances are sorted."""
    max_distance: int = 128
    """From here on all distances are of one kind."""
    norm_eps: float = 1e-6
    is_tied: bool = True
    """The output compares with the embeddings themselves, as in version 1.0."""
    dropout: float = 0.1

    def __post_init__(self) -> None:
        """Check what can be checked before anything is built."""
        super().__post_init__()
        for name in ("n_tokens", "n_encoder_layers", "n_decoder_layers", "d_ff", "d_head"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be at least 1")
        check_heads(self.d_model, self.n_heads, self.n_heads, self.d_head)
        if not 0 <= self.pad < self.n_tokens:
            raise ConfigError(f"pad={self.pad} is outside the vocabulary, 0 to {self.n_tokens - 1}")
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"dropout={self.dropout} must be at least 0 and below 1")
        if not self.norm_eps > 0:
            raise ConfigError(f"norm_eps={self.norm_eps} must be above 0")

    @classmethod
    def preset(cls, name: str, n_tokens: int, **changes: Any) -> "T5Config":
        """Return a size by name, for a vocabulary of `n_tokens`; `changes` as in `override`.

        >>> T5Config.preset("small", 32128).d_model
        512
        """
        if name not in PRESETS:
            raise ConfigError(f"no preset {name!r}: {nearest(name, PRESETS)}")
        return cls.from_dict({"n_tokens": n_tokens} | PRESETS[name]).override(changes)


PRESETS: Final[dict[str, dict[str, Any]]] = {
    "tiny": {
        "n_encoder_layers": 4,
        "n_decoder_layers": 4,
        "d_model": 128,
        "d_ff": 256,
        "n_heads": 4,
        "d_head": 32,
    },
    "small": {},
}
"""Sizes by name; what a preset does not say is as in "t5-small"."""
