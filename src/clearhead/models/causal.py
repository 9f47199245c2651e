"""What all decoders by themselves have in common: they read a beginning, and go on token by token.

A model of this kind makes its parts, `embedding`, `dropout`, `decoder` and `output`; how they are
put together stands here.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from clearhead.layers.causal import CausalStack, CausalState, move_padding
from clearhead.layers.dropout import Dropout
from clearhead.layers.embedding import TokenEmbedding, TokenScores
from clearhead.models.interface import Model, check_tokens

__all__ = ["CausalModel", "output_weight"]


class CausalModel(Model):
    """Tokens → logits of the next token after each of them."""

    is_causal = True
    embedding: TokenEmbedding
    dropout: Dropout
    decoder: CausalStack
    output: TokenScores

    def forward(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        """Logits of the next token after each position, all at once."""
        return self.output(self.read(tokens))

    def read(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """All of `forward` but the output: the vectors that are compared with every token."""
        check_tokens(tokens, "tokens")
        return self.decoder(self._embed(tokens))

    @torch.no_grad()
    def start(self, source: Int[Tensor, "B S"]) -> CausalState:
        """Read the beginnings of some texts, which may be empty; padding is at their ends."""
        tokens, n_padding = move_padding(source, self.config.pad)
        state = self.decoder.start(n_padding)
        if tokens.shape[1]:
            self.decoder.step(self._embed(tokens, state), state)
        return state

    @torch.no_grad()
    def step(
        self, tokens: Int[Tensor, "B T"], state: CausalState
    ) -> tuple[Float[Tensor, "B V"], CausalState]:
        """Take the newest tokens; return the logits of the next one, and the state after."""
        check_tokens(tokens, "tokens")
        state.check_rows(len(tokens))
        x = self.decoder.step(self._embed(tokens, state), state)
        return self.output(x[:, -1:])[:, 0], state

    def _embed(
        self, tokens: Int[Tensor, "B T"], state: CausalState | None = None
    ) -> Float[Tensor, "B T D"]:
        """The vectors of new tokens, which come after those of the state."""
        return self.dropout(self.embedding(tokens))

    def streams(self, point: str) -> tuple[str, str]:
        """Whose tokens stand at the queries and at the keys of a place: there is one text."""
        return "embedding", "embedding"

    def recompute(self, is_on: bool = True) -> None:
        """Keep less for the backward pass, and compute it again (gradient checkpointing)."""
        self.decoder.recomputes = is_on


def output_weight(embedding: TokenEmbedding, is_tied: bool) -> nn.Parameter:
    """The embeddings themselves, or a matrix of its own, whose vectors are about as long as 1."""
    if is_tied:
        return embedding.weight
    n_tokens, d_model = embedding.weight.shape
    return nn.Parameter(torch.randn(n_tokens, d_model) * d_model**-0.5)
