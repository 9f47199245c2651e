"""The size and kind of a Transformer, by number or by name."""

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from clearhead.config.base import Config
from clearhead.config.block import BlockConfig
from clearhead.errors import ConfigError, nearest

__all__ = ["PRESETS", "TransformerConfig"]


@dataclass(frozen=True, kw_only=True)
class TransformerConfig(Config):
    """The size and kind of a Transformer. The defaults are the paper's base model."""

    n_source_tokens: int
    n_target_tokens: int
    is_joint: bool = True
    """One vocabulary for both languages: both embeddings and the output share their weights."""
    pad: int = 0
    n_encoder_layers: int = 6
    n_decoder_layers: int = 6
    positions: Literal["sinusoidal", "learned", "sines_first"] = "sinusoidal"
    """Sines and cosines in turn, learned, or all sines before all cosines, as Marian has them."""
    max_length: int = 1024
    """How many positions are learned; sinusoidal ones have no limit."""
    has_output_bias: bool = False
    """Each token of the target has a number that is added to its logits."""
    block: BlockConfig = field(default_factory=BlockConfig)

    def __post_init__(self) -> None:
        """Check what can be checked before anything is built."""
        super().__post_init__()
        sizes = ("n_source_tokens", "n_target_tokens", "n_encoder_layers", "n_decoder_layers")
        for name in (*sizes, "max_length"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be at least 1")
        if self.is_joint and self.n_source_tokens != self.n_target_tokens:
            raise ConfigError(
                f"a joint vocabulary has one size, not n_source_tokens={self.n_source_tokens} and "
                f"n_target_tokens={self.n_target_tokens}; for two vocabularies set is_joint=False"
            )
        n_tokens = min(self.n_source_tokens, self.n_target_tokens)
        if not 0 <= self.pad < n_tokens:
            raise ConfigError(f"pad={self.pad} is outside the vocabulary, 0 to {n_tokens - 1}")

    @classmethod
    def preset(cls, name: str, n_tokens: int, **changes: Any) -> "TransformerConfig":
        """Return a size by name, for a joint vocabulary of `n_tokens`; `changes` as in `override`.

        >>> TransformerConfig.preset("tiny", 10000).block.d_model
        128
        """
        if name not in PRESETS:
            raise ConfigError(f"no preset {name!r}: {nearest(name, PRESETS)}")
        sizes = {"n_source_tokens": n_tokens, "n_target_tokens": n_tokens}
        return cls.from_dict(sizes | PRESETS[name]).override(changes)


PRESETS: Final[dict[str, dict[str, Any]]] = {
    "tiny": {
        "n_encoder_layers": 4,
        "n_decoder_layers": 4,
        "block": {"d_model": 128, "d_ff": 256, "n_heads": 4, "dropout": 0.3},
    },
    "small": {
        "n_encoder_layers": 3,
        "n_decoder_layers": 3,
        "block": {"d_model": 256, "d_ff": 1024, "n_heads": 4},
    },
    # Deep encoder, shallow decoder (Kasai et al. 2021): nearly all work is done once per sentence.
    "fast": {
        "n_encoder_layers": 8,
        "n_decoder_layers": 1,
        "block": {"d_model": 256, "d_ff": 1024, "n_heads": 4},
    },
    "base": {},
    "big": {"block": {"d_model": 1024, "d_ff": 4096, "n_heads": 16, "dropout": 0.3}},
}
"""Sizes by name; what a preset does not say is as in the paper's base model."""
