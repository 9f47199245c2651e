"""A text that an encoder reads as it is: what views of an encoder by itself are computed on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from clearhead.models import Bert
from clearhead.observe.heads import PLACES
from clearhead.observe.watch import watch

__all__ = ["Reading"]


@dataclass(frozen=True)
class Reading:
    """One text, as the tokens that the model reads, with those around it."""

    model: Bert
    tokens: Sequence[int]
    decode: Callable[[Sequence[int]], list[str]]
    """What names tokens."""
    segments: Sequence[int] | None = None
    """Which of two texts each token belongs to; without it there is one."""

    @property
    def names(self) -> list[str]:
        """The tokens in words."""
        return self.decode(self.tokens)

    def read(self) -> Float[Tensor, "1 S D"]:
        """Let the model read the text; who watches it sees all places of the encoder."""
        device = next(self.model.parameters()).device
        given = [list(self.tokens)], [list(self.segments or [0] * len(self.tokens))]
        return self.model.read(*(torch.tensor(each, device=device) for each in given))

    @torch.no_grad()
    def attention(self) -> Float[Tensor, "L H T S"]:
        """How much each token (query) reads of each (key), in every head of every block."""
        names = [PLACES["encoder"].format(n) for n in range(self.model.config.n_layers)]
        with watch(self.model, *names) as seen:
            self.read()
        return torch.stack([seen.steps(name)[0].tensor for name in names])
