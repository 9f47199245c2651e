"""GPT-2: a decoder by itself, with learned positions and the norms first.

Radford et al. 2019, §2.3.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from clearhead.config import GPTConfig
from clearhead.layers.attention import MultiHeadAttention
from clearhead.layers.blocks import Residual, SelfBlock
from clearhead.layers.causal import CausalStack, CausalState, move_padding
from clearhead.layers.dropout import Dropout
from clearhead.layers.embedding import TokenEmbedding, TokenScores
from clearhead.layers.feed_forward import FeedForward
from clearhead.layers.norms import LayerNorm
from clearhead.layers.positions import RowPositions
from clearhead.models.interface import Model, check_tokens

__all__ = ["GPT"]


class GPT(Model):
    """Tokens → logits of the next token after each of them."""

    is_causal = True

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = TokenEmbedding(config.n_tokens, config.d_model, scale=1.0)
        self.positions = RowPositions(config.n_positions, config.d_model)
        self.dropout = Dropout(config.dropout)
        blocks = (_block(config) for _ in range(config.n_layers))
        self.decoder = CausalStack(blocks, LayerNorm(config.d_model, config.norm_eps))
        self.output = TokenScores(
            self.embedding.weight
            if config.is_tied
            else nn.Parameter(torch.empty(config.n_tokens, config.d_model))
        )
        _draw_weights(self)

    def forward(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        """Logits of the next token after each position, all at once."""
        return self.output(self.read(tokens))

    def read(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """All of `forward` but the output: the vectors that are compared with every token."""
        check_tokens(tokens, "tokens")
        places = torch.arange(tokens.shape[1], device=tokens.device).expand_as(tokens)
        return self.decoder(self._embed(tokens, places))

    @torch.no_grad()
    def start(self, source: Int[Tensor, "B S"]) -> CausalState:
        """Read the beginnings of some texts, which may be empty; padding is at their ends."""
        tokens, n_padding = move_padding(source, self.config.pad)
        state = self.decoder.start(n_padding)
        if tokens.shape[1]:
            self.decoder.step(self._embed(tokens, state.places(tokens.shape[1])), state)
        return state

    @torch.no_grad()
    def step(
        self, tokens: Int[Tensor, "B T"], state: CausalState
    ) -> tuple[Float[Tensor, "B V"], CausalState]:
        """Take the newest tokens; return the logits of the next one, and the state after."""
        check_tokens(tokens, "tokens")
        state.check_rows(len(tokens))
        x = self.decoder.step(self._embed(tokens, state.places(tokens.shape[1])), state)
        return self.output(x[:, -1:])[:, 0], state

    def _embed(
        self, tokens: Int[Tensor, "B T"], places: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T D"]:
        return self.dropout(self.embedding(tokens) + self.positions(places))

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
        }

    def recompute(self, is_on: bool = True) -> None:
        """Keep less for the backward pass, and compute it again (gradient checkpointing)."""
        self.decoder.recomputes = is_on


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
