"""Llama: a decoder by itself, with rotary positions, RMSNorm, SwiGLU and grouped queries.

Touvron et al. 2023, §2.2, and for the grouped queries Touvron et al. 2023b, §2.2.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from clearhead.config import LlamaConfig
from clearhead.layers.blocks import LlamaBlock
from clearhead.layers.causal import CausalStack, CausalState, move_padding
from clearhead.layers.dropout import Dropout
from clearhead.layers.embedding import TokenEmbedding, TokenScores
from clearhead.layers.feed_forward import FeedForward
from clearhead.layers.norms import RMSNorm
from clearhead.models.interface import Model, check_tokens

__all__ = ["Llama"]


class Llama(Model):
    """Tokens → logits of the next token after each of them."""

    config: LlamaConfig

    is_causal = True

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = TokenEmbedding(config.n_tokens, config.d_model, scale=1.0)
        self.dropout = Dropout(config.dropout)
        blocks = (_block(config) for _ in range(config.n_layers))
        self.decoder = CausalStack(blocks, RMSNorm(config.d_model, config.norm_eps))
        self.output = TokenScores(
            self.embedding.weight
            if config.is_tied
            else nn.Parameter(torch.randn(config.n_tokens, config.d_model) * config.d_model**-0.5)
        )

    def forward(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        """Logits of the next token after each position, all at once."""
        return self.output(self.read(tokens))

    def read(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """All of `forward` but the output: the vectors that are compared with every token."""
        check_tokens(tokens, "tokens")
        return self.decoder(self.dropout(self.embedding(tokens)))

    @torch.no_grad()
    def start(self, source: Int[Tensor, "B S"]) -> CausalState:
        """Read the beginnings of some texts, which may be empty; padding is at their ends."""
        tokens, n_padding = move_padding(source, self.config.pad)
        state = self.decoder.start(n_padding)
        if tokens.shape[1]:
            self.decoder.step(self.embedding(tokens), state)
        return state

    @torch.no_grad()
    def step(
        self, tokens: Int[Tensor, "B T"], state: CausalState
    ) -> tuple[Float[Tensor, "B V"], CausalState]:
        """Take the newest tokens; return the logits of the next one, and the state after."""
        check_tokens(tokens, "tokens")
        x = self.decoder.step(self.embedding(tokens), state)
        return self.output(x[:, -1:])[:, 0], state

    def streams(self, point: str) -> tuple[str, str]:
        """Whose tokens stand at the queries and at the keys of a place: there is one text."""
        return "embedding", "embedding"

    def axis_sizes(self) -> dict[str, int]:
        """How long the axes are that do not depend on the input."""
        config = self.config
        return {
            "D": config.d_model,
            "H": config.n_heads,
            "G": config.kv_heads,
            "K": config.head_width,
            "F": config.d_ff,
            "V": config.n_tokens,
        }

    def recompute(self, is_on: bool = True) -> None:
        """Keep less for the backward pass, and compute it again (gradient checkpointing)."""
        self.decoder.recomputes = is_on


def _block(config: LlamaConfig) -> LlamaBlock:
    return LlamaBlock(config, FeedForward(config.d_model, config.d_ff, "swiglu", bias=False))
