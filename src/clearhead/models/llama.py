"""Llama: a decoder by itself, with rotary positions, RMSNorm, SwiGLU and grouped queries.

Touvron et al. 2023, §2.2, and for the grouped queries Touvron et al. 2023b, §2.2.
"""

from clearhead.config import LlamaConfig
from clearhead.layers.blocks import LlamaBlock
from clearhead.layers.causal import CausalStack
from clearhead.layers.dropout import Dropout
from clearhead.layers.embedding import TokenEmbedding, TokenScores
from clearhead.layers.feed_forward import FeedForward
from clearhead.layers.norms import RMSNorm
from clearhead.models.causal import CausalModel, output_weight

__all__ = ["Llama"]


class Llama(CausalModel):
    """Tokens → logits of the next token after each of them."""

    config: LlamaConfig

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = TokenEmbedding(config.n_tokens, config.d_model, scale=1.0)
        self.dropout = Dropout(config.dropout)
        blocks = (_block(config) for _ in range(config.n_layers))
        self.decoder = CausalStack(blocks, RMSNorm(config.d_model, config.norm_eps))
        self.output = TokenScores(output_weight(self.embedding, config.is_tied))

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


def _block(config: LlamaConfig) -> LlamaBlock:
    return LlamaBlock(config, FeedForward(config.d_model, config.d_ff, "swiglu", bias=False))
