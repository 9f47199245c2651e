"""Blocks: attention and feed-forward, each with its residual connection and norm.

post-norm   LayerNorm(x + Dropout(Sublayer(x)))             Vaswani et al. 2017, §5.4
pre-norm    x + Dropout(Sublayer(LayerNorm(x)))             Xiong et al. 2020
"""

from collections.abc import Callable

from jaxtyping import Bool, Float
from torch import Tensor, nn

from clearhead.config import BlockConfig, LlamaConfig
from clearhead.layers.attention import KeysValues, MultiHeadAttention
from clearhead.layers.cache import KeyValueCache
from clearhead.layers.dropout import Dropout
from clearhead.layers.experts import Experts
from clearhead.layers.feed_forward import FeedForward
from clearhead.layers.norms import LayerNorm, RMSNorm
from clearhead.layers.positions import Rotary
from clearhead.layers.tap import Tap

__all__ = ["CrossBlock", "DecoderBlock", "EncoderBlock", "LlamaBlock", "Residual", "SelfBlock"]


class Residual(nn.Module):
    """Add a sub-layer's output to its input, and normalise before or after."""

    def __init__(self, norm: nn.Module, dropout: float, *, is_pre_norm: bool = True) -> None:
        super().__init__()
        self.is_pre_norm = is_pre_norm
        self.norm = norm
        self.dropout = Dropout(dropout)
        self.sum = Tap("B T D")

    def forward(
        self, x: Float[Tensor, "B T D"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "B T D"]:
        """Run `sublayer` around which this connection goes."""
        if self.is_pre_norm:
            return self.sum(x + self.dropout(sublayer(self.norm(x))))
        return self.norm(self.sum(x + self.dropout(sublayer(x))))


class SelfBlock(nn.Module):
    """Self-attention, then feed-forward, from parts of any kind."""

    def __init__(
        self,
        self_attention: MultiHeadAttention,
        feed_forward: FeedForward | Experts,
        residual: Callable[[], Residual],
    ) -> None:
        super().__init__()
        self.self_attention = self_attention
        self.self_attention_residual = residual()
        self.feed_forward = feed_forward
        self.feed_forward_residual = residual()

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        may_attend: Bool[Tensor, "#B 1 #T _"] | None,
        cache: KeyValueCache | None = None,
        bias: Float[Tensor, "#B H #T _"] | None = None,
    ) -> Float[Tensor, "B T D"]:
        """Let each position read all positions it may see, then work on it.

        `bias` is what distances add to the scores, where positions are relative.
        """

        def self_attention(x: Tensor) -> Tensor:
            return self.self_attention(x, may_attend=may_attend, bias=bias, cache=cache)

        x = self.self_attention_residual(x, self_attention)
        return self.feed_forward_residual(x, self.feed_forward)


class EncoderBlock(SelfBlock):
    """A block of the encoder of 2017."""

    feed_forward: FeedForward

    def __init__(self, config: BlockConfig) -> None:
        super().__init__(_attention(config), _feed_forward(config), lambda: _residual(config))


class LlamaBlock(SelfBlock):
    """A block of Llama, around a feed-forward or experts: rotary positions, RMSNorm first."""

    def __init__(self, config: LlamaConfig, feed_forward: FeedForward | Experts) -> None:
        attention = MultiHeadAttention(
            config.d_model,
            config.n_heads,
            config.n_kv_heads,
            d_head=config.d_head,
            bias=config.attention_bias,
            rotary=Rotary(config.head_width, config.rotary_base),
        )

        def residual() -> Residual:
            return Residual(RMSNorm(config.d_model, config.norm_eps), config.dropout)

        super().__init__(attention, feed_forward, residual)


class CrossBlock(nn.Module):
    """Causal self-attention, then attention to the source, then feed-forward; of any parts."""

    def __init__(
        self,
        self_attention: MultiHeadAttention,
        cross_attention: MultiHeadAttention,
        feed_forward: FeedForward,
        residual: Callable[[], Residual],
    ) -> None:
        super().__init__()
        self.self_attention = self_attention
        self.self_attention_residual = residual()
        self.cross_attention = cross_attention
        self.cross_attention_residual = residual()
        self.feed_forward = feed_forward
        self.feed_forward_residual = residual()

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        memory: Float[Tensor, "B S D"] | KeysValues,
        may_attend: Bool[Tensor, "#B 1 #T _"] | None,
        may_attend_memory: Bool[Tensor, "#B 1 1 S"] | None,
        cache: KeyValueCache | None = None,
        bias: Float[Tensor, "#B H #T _"] | None = None,
    ) -> Float[Tensor, "B T D"]:
        """Read what was said before, then the source, then work on each position.

        `bias` is what distances in the target add to the scores, where positions are relative.
        """

        def self_attention(x: Tensor) -> Tensor:
            return self.self_attention(x, may_attend=may_attend, bias=bias, cache=cache)

        def cross_attention(x: Tensor) -> Tensor:
            return self.cross_attention(x, memory, may_attend_memory)

        x = self.self_attention_residual(x, self_attention)
        x = self.cross_attention_residual(x, cross_attention)
        return self.feed_forward_residual(x, self.feed_forward)


class DecoderBlock(CrossBlock):
    """A block of the decoder of 2017."""

    def __init__(self, config: BlockConfig) -> None:
        parts = _attention(config), _attention(config), _feed_forward(config)
        super().__init__(*parts, lambda: _residual(config))


def _attention(config: BlockConfig) -> MultiHeadAttention:
    return MultiHeadAttention(
        config.d_model,
        config.n_heads,
        config.n_kv_heads,
        bias=config.attention_bias,
        dropout=config.attention_dropout,
    )


def _feed_forward(config: BlockConfig) -> FeedForward:
    return FeedForward(
        config.d_model, config.d_ff, config.activation, dropout=config.hidden_dropout
    )


def _residual(config: BlockConfig) -> Residual:
    return Residual(LayerNorm(config.d_model), config.dropout, is_pre_norm=config.norm == "pre")
