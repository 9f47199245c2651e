"""BERT: an encoder by itself, which reads a text in both directions.

Devlin et al. 2019, §3. `config.head` says what becomes of the vectors.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from clearhead.config import BertConfig
from clearhead.errors import InputError
from clearhead.layers import masks
from clearhead.layers.attention import MultiHeadAttention
from clearhead.layers.blocks import Residual, SelfBlock
from clearhead.layers.dropout import Dropout
from clearhead.layers.embedding import SegmentEmbedding, TokenEmbedding, TokenScores
from clearhead.layers.feed_forward import FeedForward
from clearhead.layers.labels import LabelScores, SpanScores
from clearhead.layers.norms import LayerNorm
from clearhead.layers.pooling import Pooling
from clearhead.layers.positions import LearnedPositions
from clearhead.layers.stacks import EncoderStack
from clearhead.layers.tap import Tap
from clearhead.models.interface import Model, check_tokens

__all__ = ["Bert", "FillScores"]


class Bert(Model):
    """Tokens → vectors that know both sides of their context, and the logits of a head."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        d_model = config.d_model
        self.embedding = TokenEmbedding(config.n_tokens, d_model, scale=1.0)
        self.positions = LearnedPositions(config.n_positions, d_model)
        self.segments = SegmentEmbedding(config.n_segments, d_model)
        self.embedding_norm = LayerNorm(d_model, config.norm_eps)
        self.dropout = Dropout(config.dropout)
        blocks = (_block(config) for _ in range(config.n_layers))
        self.encoder = EncoderStack(blocks, nn.Identity())
        is_pooled = config.head in ("classify", "none")
        self.pooling = Pooling(config.pooling, d_model) if is_pooled else None
        self.output = _head(config, self.embedding.weight)

    def forward(
        self, tokens: Int[Tensor, "B S"], segments: Int[Tensor, "B S"] | None = None
    ) -> Float[Tensor, "B ..."]:
        """Logits: `fill` B S V, `classify` B Y, `span` B S 2; without a head the vectors, B S D."""
        if self.config.head == "classify":
            return self.output(self.dropout(self.summarise(tokens, segments)))
        return self.output(self.read(tokens, segments))

    def read(
        self, tokens: Int[Tensor, "B S"], segments: Int[Tensor, "B S"] | None = None
    ) -> Float[Tensor, "B S D"]:
        """A vector for each token. Without segments all tokens belong to the first."""
        check_tokens(tokens, "tokens")
        if tokens.shape[1] > self.config.n_positions:
            raise InputError(
                f"a text of {tokens.shape[1]} tokens is longer than the {self.config.n_positions} "
                "positions that this model has learned; shorten or divide it"
            )
        segments = torch.zeros_like(tokens) if segments is None else segments
        if segments.shape != tokens.shape:
            raise InputError(
                f"segments has shape {tuple(segments.shape)}, and tokens {tuple(tokens.shape)}; "
                "each token belongs to one segment"
            )
        x = self.embedding(tokens) + self.positions(tokens.shape[1]) + self.segments(segments)
        is_readable = masks.padding(tokens != self.config.pad)
        return self.encoder(self.dropout(self.embedding_norm(x)), is_readable)

    def summarise(
        self, tokens: Int[Tensor, "B S"], segments: Int[Tensor, "B S"] | None = None
    ) -> Float[Tensor, "B D"]:
        """One vector for each text, by `config.pooling`; for the heads `classify` and `none`."""
        if self.pooling is None:
            raise InputError(
                f"head={self.config.head!r} has no vector for a whole text: classify and none have"
            )
        return self.pooling(self.read(tokens, segments), tokens != self.config.pad)

    def streams(self, point: str) -> tuple[str, str]:
        """Whose tokens stand at the queries and at the keys of a place: there is one text."""
        return "embedding", "embedding"

    def axis_sizes(self) -> dict[str, int]:
        """How long the axes are that do not depend on the input."""
        config = self.config
        return {
            "D": config.d_model,
            "H": config.n_heads,
            "G": config.n_heads,
            "K": config.d_model // config.n_heads,
            "F": config.d_ff,
            "V": config.n_tokens,
            "Y": config.n_labels,
        }

    def recompute(self, is_on: bool = True) -> None:
        """Keep less for the backward pass, and compute it again (gradient checkpointing)."""
        self.encoder.recomputes = is_on


class FillScores(nn.Module):
    """Vectors → logits of the token that stands at each position, be it hidden or not."""

    def __init__(self, weight: nn.Parameter, norm_eps: float) -> None:
        super().__init__()
        d_model = weight.shape[1]
        self.dense = nn.Linear(d_model, d_model)
        nn.init.xavier_uniform_(self.dense.weight)
        nn.init.zeros_(self.dense.bias)
        self.hidden = Tap("B T D")
        self.norm = LayerNorm(d_model, norm_eps)
        self.scores = TokenScores(weight, bias=True)

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T V"]:
        """Work once more on each vector, then compare it with every token."""
        return self.scores(self.work(x))

    def work(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        """The vectors that are compared with those of the tokens."""
        return self.norm(self.hidden(F.gelu(self.dense(x))))


def _head(config: BertConfig, weight: nn.Parameter) -> nn.Module:
    if config.head == "fill":
        return FillScores(weight, config.norm_eps)
    if config.head == "classify":
        return LabelScores(config.d_model, config.n_labels)
    return SpanScores(config.d_model) if config.head == "span" else nn.Identity()


def _block(config: BertConfig) -> SelfBlock:
    attention = MultiHeadAttention(
        config.d_model, config.n_heads, bias=True, dropout=config.attention_dropout
    )
    feed_forward = FeedForward(config.d_model, config.d_ff, "gelu")

    def residual() -> Residual:
        norm = LayerNorm(config.d_model, config.norm_eps)
        return Residual(norm, config.dropout, is_pre_norm=False)

    return SelfBlock(attention, feed_forward, residual)
