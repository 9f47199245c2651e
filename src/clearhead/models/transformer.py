"""The Transformer of 2017: an encoder reads the source, a decoder writes the target.

Figure 1 of Vaswani et al. 2017. `Transformer.forward` is the whole of it.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from clearhead.config import TransformerConfig
from clearhead.layers import masks
from clearhead.layers.dropout import Dropout
from clearhead.layers.embedding import TokenEmbedding, TokenScores
from clearhead.layers.positions import LearnedPositions, SinusoidalPositions
from clearhead.layers.stacks import Decoder, DecoderState, Encoder
from clearhead.models.interface import Model, check_pairs, check_tokens

__all__ = ["Transformer"]


class Transformer(Model):
    """Encoder and decoder of `config.block`s over embedded tokens with positions."""

    config: TransformerConfig

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        d_model = config.block.d_model
        self.source_embedding = TokenEmbedding(config.n_source_tokens, d_model)
        self.target_embedding = TokenEmbedding(config.n_target_tokens, d_model)
        if config.is_joint:
            self.target_embedding.weight = self.source_embedding.weight
        self.source_positions = _positions(config)
        self.target_positions = _positions(config)
        self.dropout = Dropout(config.block.dropout)
        self.encoder = Encoder(config.block, config.n_encoder_layers)
        self.decoder = Decoder(config.block, config.n_decoder_layers)
        self.output = TokenScores(self.target_embedding.weight, bias=config.has_output_bias)

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
        return self.decoder(self._embed_target(target_in), memory, is_readable)

    def encode(
        self, source: Int[Tensor, "B S"]
    ) -> tuple[Float[Tensor, "B S D"], Bool[Tensor, "B 1 1 S"]]:
        """Read the source: a vector for each token, and which of them are not padding."""
        check_tokens(source, "source")
        is_readable = masks.padding(source != self.config.pad)
        x = self.source_embedding(source) + self.source_positions(source.shape[1])
        return self.encoder(self.dropout(x), is_readable), is_readable

    @torch.no_grad()
    def start(self, source: Int[Tensor, "B S"]) -> DecoderState:
        """Read the source once; return the state before the first target token."""
        return self.decoder.start(*self.encode(source))

    @torch.no_grad()
    def step(
        self, tokens: Int[Tensor, "B T"], state: DecoderState
    ) -> tuple[Float[Tensor, "B V"], DecoderState]:
        """Take the newest target tokens; return the logits of the next one, and the state after."""
        x = self.decoder.step(self._embed_target(tokens, state.length), state)
        return self.output(x[:, -1:])[:, 0], state

    def streams(self, point: str) -> tuple[str, str]:
        """Whose tokens stand at the queries and at the keys of a place."""
        source, target = "source_embedding", "target_embedding"
        if point.startswith(("encoder.", "source_")):
            return source, source
        return target, source if ".cross_attention." in point else target

    def axis_sizes(self) -> dict[str, int]:
        """How long the axes are that do not depend on the input."""
        block = self.config.block
        return {
            "D": block.d_model,
            "H": block.n_heads,
            "G": block.n_kv_heads or block.n_heads,
            "K": block.d_model // block.n_heads,
            "F": block.d_ff,
            "V": self.config.n_target_tokens,
        }

    def recompute(self, is_on: bool = True) -> None:
        """Keep less for the backward pass, and compute it again (gradient checkpointing)."""
        self.encoder.recomputes = self.decoder.recomputes = is_on

    def _embed_target(self, tokens: Int[Tensor, "B T"], offset: int = 0) -> Float[Tensor, "B T D"]:
        check_tokens(tokens, "target")
        x = self.target_embedding(tokens) + self.target_positions(tokens.shape[1], offset)
        return self.dropout(x)


def _positions(config: TransformerConfig) -> nn.Module:
    if config.positions == "learned":
        return LearnedPositions(config.max_length, config.block.d_model)
    return SinusoidalPositions(config.block.d_model, sines_first=config.positions == "sines_first")
