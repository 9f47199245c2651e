"""T5: an encoder and a decoder that know distances instead of positions.

Raffel et al. 2020, §2.1: RMSNorm before each sub-layer, no biases, no scaling of the scores, and a
learned bias for each head and distance, which all blocks of a stack share. Version 1.1 has gated
feed-forward layers (Shazeer 2020) and an output of its own.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from clearhead.config import T5Config
from clearhead.layers import masks
from clearhead.layers.attention import MultiHeadAttention
from clearhead.layers.blocks import CrossBlock, Residual, SelfBlock
from clearhead.layers.dropout import Dropout
from clearhead.layers.embedding import TokenEmbedding, TokenScores
from clearhead.layers.feed_forward import FeedForward
from clearhead.layers.norms import RMSNorm
from clearhead.layers.positions import RelativeBias
from clearhead.layers.stacks import DecoderStack, DecoderState, EncoderStack
from clearhead.models.interface import Model, check_pairs, check_tokens

__all__ = ["T5"]


class T5(Model):
    """Text to text: every target begins with the padding token."""

    def __init__(self, config: T5Config) -> None:
        super().__init__()
        self.config = config
        self.source_embedding = TokenEmbedding(config.n_tokens, config.d_model, scale=1.0)
        self.target_embedding = TokenEmbedding(config.n_tokens, config.d_model, scale=1.0)
        nn.init.normal_(self.source_embedding.weight)
        self.target_embedding.weight = self.source_embedding.weight
        self.dropout = Dropout(config.dropout)
        self.encoder = EncoderStack(
            (_encoder_block(config) for _ in range(config.n_encoder_layers)),
            RMSNorm(config.d_model, config.norm_eps),
            _positions(config, both_ways=True),
        )
        self.decoder = DecoderStack(
            (_decoder_block(config) for _ in range(config.n_decoder_layers)),
            RMSNorm(config.d_model, config.norm_eps),
            _positions(config, both_ways=False),
        )
        self.output = TokenScores(
            self.target_embedding.weight
            if config.is_tied
            else nn.Parameter(torch.randn(config.n_tokens, config.d_model) * config.d_model**-0.5)
        )

    def forward(
        self, source: Int[Tensor, "B S"], target_in: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T V"]:
        """Logits of the next token after each position of `target_in`, all at once."""
        return self.output(self.read(source, target_in))

    def read(
        self, source: Int[Tensor, "B S"], target_in: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T D"]:
        """All of `forward` but the output: the vectors that are compared with every token."""
        check_pairs(source, target_in)
        memory, is_readable = self.encode(source)
        return self._finish(self.decoder(self._embed_target(target_in), memory, is_readable))

    def encode(
        self, source: Int[Tensor, "B S"]
    ) -> tuple[Float[Tensor, "B S D"], Bool[Tensor, "B 1 1 S"]]:
        """Read the source: a vector for each token, and which of them are not padding."""
        check_tokens(source, "source")
        is_readable = masks.padding(source != self.config.pad)
        x = self.encoder(self.dropout(self.source_embedding(source)), is_readable)
        return self.dropout(x), is_readable

    @torch.no_grad()
    def start(self, source: Int[Tensor, "B S"]) -> DecoderState:
        """Read the source once; return the state before the first target token."""
        return self.decoder.start(*self.encode(source))

    @torch.no_grad()
    def step(
        self, tokens: Int[Tensor, "B T"], state: DecoderState
    ) -> tuple[Float[Tensor, "B V"], DecoderState]:
        """Take the newest target tokens; return the logits of the next one, and the state after."""
        x = self._finish(self.decoder.step(self._embed_target(tokens), state)[:, -1:])
        return self.output(x)[:, 0], state

    def streams(self, point: str) -> tuple[str, str]:
        """Whose tokens stand at the queries and at the keys of a place."""
        source, target = "source_embedding", "target_embedding"
        if point.startswith(("encoder.", "source_")):
            return source, source
        return target, source if ".cross_attention." in point else target

    def axis_sizes(self) -> dict[str, int]:
        """How long the axes are that do not depend on the input."""
        config = self.config
        return {
            "D": config.d_model,
            "H": config.n_heads,
            "G": config.n_heads,
            "K": config.d_head,
            "F": config.d_ff,
            "V": config.n_tokens,
        }

    def recompute(self, is_on: bool = True) -> None:
        """Keep less for the backward pass, and compute it again (gradient checkpointing)."""
        self.encoder.recomputes = self.decoder.recomputes = is_on

    def _embed_target(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        check_tokens(tokens, "target")
        return self.dropout(self.target_embedding(tokens))

    def _finish(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        """A tied output is scaled: as vectors of tokens, its rows are √d_model times as long."""
        return self.dropout(x) * (self.config.d_model**-0.5 if self.config.is_tied else 1.0)


def _encoder_block(config: T5Config) -> SelfBlock:
    return SelfBlock(_attention(config), _feed_forward(config), lambda: _residual(config))


def _decoder_block(config: T5Config) -> CrossBlock:
    attentions = _attention(config), _attention(config)
    return CrossBlock(*attentions, _feed_forward(config), lambda: _residual(config))


def _attention(config: T5Config) -> MultiHeadAttention:
    """Its scores are not scaled: T5 begins with smaller queries instead."""
    attention = MultiHeadAttention(
        config.d_model, config.n_heads, d_head=config.d_head, dropout=config.dropout, scale=1.0
    )
    with torch.no_grad():
        attention.w_q.mul_(config.d_head**-0.5)
    return attention


def _feed_forward(config: T5Config) -> FeedForward:
    return FeedForward(
        config.d_model, config.d_ff, config.activation, bias=False, dropout=config.dropout
    )


def _residual(config: T5Config) -> Residual:
    return Residual(RMSNorm(config.d_model, config.norm_eps), config.dropout)


def _positions(config: T5Config, *, both_ways: bool) -> RelativeBias:
    return RelativeBias(
        config.n_heads,
        n_buckets=config.n_buckets,
        max_distance=config.max_distance,
        both_ways=both_ways,
    )
