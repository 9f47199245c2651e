"""Embedding: a learned vector for each token, and back from a vector to a score for each token.

"In the embedding layers, we multiply those weights by √d_model" and share them with the linear map
before the softmax (Vaswani et al. 2017, §3.4).
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from clearhead.errors import ConfigError, InputError
from clearhead.layers.tap import Tap

__all__ = ["TokenEmbedding", "TokenScores"]


class TokenEmbedding(nn.Module):
    """Token ids → vectors, scaled by √d_model unless another scale is given."""

    def __init__(self, n_tokens: int, d_model: int, scale: float | None = None) -> None:
        super().__init__()
        if min(n_tokens, d_model) < 1:
            raise ConfigError(f"n_tokens={n_tokens} and d_model={d_model} must be at least 1")
        self.scale = d_model**0.5 if scale is None else scale
        self.weight = nn.Parameter(torch.empty(n_tokens, d_model))
        nn.init.normal_(self.weight, std=d_model**-0.5)
        self.tokens, self.vectors = Tap("B T"), Tap("B T D")

    def forward(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """Look the tokens up."""
        tokens = self.tokens(tokens)
        try:
            vectors = F.embedding(tokens, self.weight)
        except IndexError:  # torch checks every id; here we only say which one it was
            low, high = int(tokens.min()), int(tokens.max())
            raise InputError(
                f"token id {low if low < 0 else high} is outside this vocabulary of "
                f"{len(self.weight)} tokens (0 to {len(self.weight) - 1})"
            ) from None
        return self.vectors(vectors * self.scale)


class TokenScores(nn.Module):
    """Vectors → logits over the vocabulary. Tied when it is given an embedding's weight."""

    def __init__(self, weight: nn.Parameter, *, bias: bool = False) -> None:
        super().__init__()
        self.weight = weight
        self.bias = nn.Parameter(torch.zeros(len(weight))) if bias else None
        self.logits = Tap("B T V")

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T V"]:
        """Compare each vector with that of every token."""
        return self.logits(F.linear(x, self.weight, self.bias))
