"""GPT-2: a decoder by itself, with learned positions and the norms first.

Radford et al. 2019, §2.3.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from clearhead.config import GPTConfig
from clearhead.layers.attention import MultiHeadAttention
from clearhead.layers.blocks import Residual, SelfBlock
from clearhead.layers.causal import CausalStack, CausalState
from clearhead.layers.dropout import Dropout
from clearhead.layers.embedding import TokenEmbedding, TokenScores
from clearhead.layers.feed_forward import FeedForward
from clearhead.layers.norms import LayerNorm
from clearhead.layers.positions import RowPositions
from clearhead.models.causal import CausalModel, output_weight

__all__ = ["GPT"]


class GPT(CausalModel):
    """Tokens → logits of the next token after each of them."""

    config: GPTConfig

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = TokenEmbedding(config.n_tokens, config.d_model, scale=1.0)
        self.positions = RowPositions(config.n_positions, config.d_model)
        self.dropout = Dropout(config.dropout)
        blocks = (_block(config) for _ in range(config.n_layers))
        self.decoder = CausalStack(blocks, LayerNorm(config.d_model, config.norm_eps))
        self.output = TokenScores(output_weight(self.embedding, config.is_tied))
        _draw_weights(self)

    def _embed(
        self, tokens: Int[Tensor, "B T"], state: CausalState | None = None
    ) -> Float[Tensor, "B T D"]:
        """With the positions of the tokens; padding at the beginning of a row does not count."""
        n_new = tokens.shape[1]
        if state is None:
            places = torch.arange(n_new, device=tokens.device).expand_as(tokens)
        else:
            places = state.places(n_new)
        return self.dropout(self.embedding(tokens) + self.positions(places))

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
        }


def _block(config: GPTConfig) -> SelfBlock:
    attention = MultiHeadAttention(
        config.d_model, config.n_heads, bias=True, dropout=config.attention_dropout
    )
    feed_forward = FeedForward(config.d_model, config.d_ff, config.activation)

    def residual() -> Residual:
        return Residual(LayerNorm(config.d_model, config.norm_eps), config.dropout)

    return SelfBlock(attention, feed_forward, residual)


def _draw_weights(model: GPT) -> None:
    """N(0, 0.02²); what is added to the residual is divided by √(2 n_layers), one for each sum."""
    n_sums = 2 * model.config.n_layers
    for name, weight in model.named_parameters():
        if weight.dim() > 1:
            is_added = name.endswith(("self_attention.w_o.weight", "feed_forward.w_2.weight"))
            nn.init.normal_(weight, std=0.02 / n_sums**0.5 if is_added else 0.02)
