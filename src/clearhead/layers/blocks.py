"""Blocks: attention and feed-forward, each with its residual connection and norm.

post-norm   LayerNorm(x + Dropout(Sublayer(x)))             Vaswani et al. 2017, §5.4
pre-norm    x + Dropout(Sublayer(LayerNorm(x)))             Xiong et al. 2020
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from jaxtyping import Bool, Float
from torch import Tensor, nn

from clearhead.config import Config
from clearhead.errors import ConfigError
from clearhead.layers.attention import KeysValues, MultiHeadAttention, check_heads
from clearhead.layers.cache import KeyValueCache
from clearhead.layers.dropout import Dropout
from clearhead.layers.feed_forward import Activation, FeedForward
from clearhead.layers.norms import LayerNorm
from clearhead.layers.tap import Tap

__all__ = ["BlockConfig", "DecoderBlock", "EncoderBlock", "Residual"]


@dataclass(frozen=True, kw_only=True)
class BlockConfig(Config):
    """What all blocks of a model have in common. `dropout` is the paper's; the others add to it."""

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

    def attention(self) -> MultiHeadAttention:
        """Build one attention."""
        return MultiHeadAttention(
            self.d_model,
            self.n_heads,
            self.n_kv_heads,
            bias=self.attention_bias,
            dropout=self.attention_dropout,
        )

    def feed_forward(self) -> FeedForward:
        """Build one feed-forward network."""
        return FeedForward(self.d_model, self.d_ff, self.activation, dropout=self.hidden_dropout)


class Residual(nn.Module):
    """Add a sub-layer's output to its input, and normalise before or after."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.is_pre_norm = config.norm == "pre"
        self.norm = LayerNorm(config.d_model)
        self.dropout = Dropout(config.dropout)
        self.sum = Tap("B T D")

    def forward(
        self, x: Float[Tensor, "B T D"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "B T D"]:
        """Run `sublayer` around which this connection goes."""
        if self.is_pre_norm:
            return self.sum(x + self.dropout(sublayer(self.norm(x))))
        return self.norm(self.sum(x + self.dropout(sublayer(x))))


class EncoderBlock(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.self_attention = config.attention()
        self.self_attention_residual = Residual(config)
        self.feed_forward = config.feed_forward()
        self.feed_forward_residual = Residual(config)

    def forward(
        self, x: Float[Tensor, "B T D"], may_attend: Bool[Tensor, "#B 1 #T T"] | None
    ) -> Float[Tensor, "B T D"]:
        """Let each position read all positions it may see, then work on it."""

        def self_attention(x: Tensor) -> Tensor:
            return self.self_attention(x, may_attend=may_attend)

        x = self.self_attention_residual(x, self_attention)
        return self.feed_forward_residual(x, self.feed_forward)


class DecoderBlock(nn.Module):
    """Causal self-attention, then attention to the source, then feed-forward."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.self_attention = config.attention()
        self.self_attention_residual = Residual(config)
        self.cross_attention = config.attention()
        self.cross_attention_residual = Residual(config)
        self.feed_forward = config.feed_forward()
        self.feed_forward_residual = Residual(config)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        memory: Float[Tensor, "B S D"] | KeysValues,
        may_attend: Bool[Tensor, "#B 1 #T _"] | None,
        may_attend_memory: Bool[Tensor, "#B 1 1 S"] | None,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "B T D"]:
        """Read what was said before, then the source, then work on each position."""

        def self_attention(x: Tensor) -> Tensor:
            return self.self_attention(x, may_attend=may_attend, cache=cache)

        def cross_attention(x: Tensor) -> Tensor:
            return self.cross_attention(x, memory, may_attend_memory)

        x = self.self_attention_residual(x, self_attention)
        x = self.cross_attention_residual(x, cross_attention)
        return self.feed_forward_residual(x, self.feed_forward)
