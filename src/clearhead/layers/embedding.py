"""Embedding: a learned vector for each token, and back from a vector to a score for each token.

"In the embedding layers, we multiply those weights by √d_model" and share them with the linear map
before the softmax (Vaswani et al. 2017, §3.4).

A word that was seen once is hardly known, but its parts are (Bojanowski et al. 2017, §3.2):

    vector(w) = own(w) + mean of part(g) over the parts g of w
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from clearhead.errors import ConfigError, InputError
from clearhead.layers.tap import Tap

__all__ = ["SegmentEmbedding", "SpelledEmbedding", "TokenEmbedding", "TokenScores"]


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
            vectors = self._look_up(tokens)
        except IndexError:  # torch checks every id; here we only say which one it was
            low, high = int(tokens.min()), int(tokens.max())
            raise InputError(
                f"token id {low if low < 0 else high} is outside this vocabulary of "
                f"{len(self.weight)} tokens (0 to {len(self.weight) - 1})"
            ) from None
        return self.vectors(vectors * self.scale)

    def _look_up(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        return F.embedding(tokens, self.weight)


class SpelledEmbedding(TokenEmbedding):
    """Token ids → vectors to which those of a token's parts are added; for training.

    Departs: a mean and not a sum, so that long words are no louder than short ones.
    """

    starts: Tensor
    counts: Tensor
    numbers: Tensor

    def __init__(
        self,
        parts: Sequence[Sequence[int]],
        n_parts: int,
        d_model: int,
        scale: float | None = None,
    ) -> None:
        super().__init__(len(parts), d_model, scale)
        self.parts = nn.Parameter(torch.empty(n_parts, d_model))
        nn.init.normal_(self.parts, std=d_model**-0.5)
        counts = torch.tensor([len(some) for some in parts])
        numbers = torch.tensor([number for some in parts for number in some], dtype=torch.long)
        tables = {"counts": counts, "starts": counts.cumsum(0) - counts, "numbers": numbers}
        for name, table in tables.items():
            self.register_buffer(name, table, persistent=False)

    def fold(self) -> TokenEmbedding:
        """The same vectors as a plain table: parts are for learning, and not for use."""
        n_tokens, d_model = self.weight.shape
        plain = TokenEmbedding(n_tokens, d_model, self.scale)
        with torch.no_grad():
            every = torch.arange(len(self.weight), device=self.weight.device)
            plain.weight = nn.Parameter(self._vectors(every))
        return plain

    def _look_up(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        different, places = tokens.unique(return_inverse=True)
        return F.embedding(places, self._vectors(different))

    def _vectors(self, tokens: Int[Tensor, " T"]) -> Float[Tensor, "T D"]:
        """Of some tokens, in one row."""
        own = F.embedding(tokens, self.weight)
        counts = self.counts[tokens]
        bags = counts.cumsum(0) - counts
        places = torch.arange(int(counts.sum()), device=tokens.device)
        places += (self.starts[tokens] - bags).repeat_interleave(counts)
        return own + F.embedding_bag(self.numbers[places], self.parts, bags, mode="mean")


class SegmentEmbedding(nn.Module):
    """Which of the texts in a row a position belongs to → a learned vector."""

    def __init__(self, n_segments: int, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_segments, d_model))
        nn.init.normal_(self.weight, std=0.02)
        self.vectors = Tap("B T D")

    def forward(self, segments: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """Look the segments up."""
        try:
            return self.vectors(F.embedding(segments, self.weight))
        except IndexError:
            low, high = int(segments.min()), int(segments.max())
            raise InputError(
                f"segment {low if low < 0 else high} is unknown: this model has "
                f"{len(self.weight)} (0 to {len(self.weight) - 1})"
            ) from None


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
