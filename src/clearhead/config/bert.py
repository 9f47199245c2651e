"""The size of a BERT, and what it is for: an encoder by itself."""

from dataclasses import dataclass
from typing import Any, Final, Literal

from clearhead.config.base import Config
from clearhead.config.block import PoolingKind, check_heads
from clearhead.errors import ConfigError, nearest

__all__ = ["BERT_SIZES", "BertConfig", "Head"]

Head = Literal["fill", "classify", "span", "none"]


@dataclass(frozen=True, kw_only=True)
class BertConfig(Config):
    """Width, depth, heads and what the vectors are turned into. The defaults are BERT base."""

    n_tokens: int
    pad: int = 0
    n_positions: int = 512
    """The longest text; each of its positions has a learned vector."""
    n_segments: int = 2
    """How many texts may stand in one row, each with a learned vector of its own."""
    n_layers: int = 12
    d_model: int = 768
    d_ff: int = 3072
    n_heads: int = 12
    norm_eps: float = 1e-12
    dropout: float = 0.1
    attention_dropout: float = 0.1
    head: Head = "fill"
    """Logits of the token at each position, of a label, of a span's two ends, or vectors alone."""
    pooling: PoolingKind = "first"
    """What stands for a whole text: its first vector, through a dense layer, or their mean."""
    n_labels: int = 2

    def __post_init__(self) -> None:
        """Check what can be checked before anything is built."""
        super().__post_init__()
        sizes = ("n_tokens", "n_positions", "n_segments", "n_layers", "d_ff", "n_labels")
        for name in sizes:
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
        if self.head == "span" and self.n_labels != 2:
            raise ConfigError(f"a span has n_labels=2, its start and its end, not {self.n_labels}")

    @classmethod
    def preset(cls, name: str, n_tokens: int, **changes: Any) -> "BertConfig":
        """Return a size by name, for a vocabulary of `n_tokens`; `changes` as in `override`.

        >>> BertConfig.preset("minilm", 30522, head="none").d_model
        384
        """
        if name not in BERT_SIZES:
            raise ConfigError(f"no preset {name!r}: {nearest(name, BERT_SIZES)}")
        return cls.from_dict({"n_tokens": n_tokens} | BERT_SIZES[name]).override(changes)


BERT_SIZES: Final[dict[str, dict[str, Any]]] = {
    "tiny": {"n_layers": 2, "d_model": 128, "d_ff": 512, "n_heads": 2},
    "mini": {"n_layers": 4, "d_model": 256, "d_ff": 1024, "n_heads": 4},
    "minilm": {"n_layers": 6, "d_model": 384, "d_ff": 1536, "n_heads": 12},
    "base": {},
}
"""Sizes by name: two of Turc et al. 2019, then Wang et al. 2020 and Devlin et al. 2019."""
