"""A text that an encoder reads, and a label that it may have: what looking at both begins with."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from clearhead.errors import InputError
from clearhead.models import Bert
from clearhead.observe.watch import watch

__all__ = ["Reading"]


@dataclass(frozen=True)
class Reading:
    """The tokens of one text, as the model reads them, and the number of a label."""

    model: Bert
    tokens: Sequence[int]
    names: Sequence[str]
    """The tokens as people read them."""
    label: int
    vectors: str = "embedding.vectors"
    """Where the vectors of what is read pass."""

    def __post_init__(self) -> None:
        """Refuse a model without labels."""
        if self.model.config.head != "classify":
            raise InputError(f"head={self.model.config.head!r} gives no labels: classify does")

    def logits(self) -> Float[Tensor, " Y"]:
        """Of every label; gradients flow."""
        device = next(self.model.parameters()).device
        return self.model(torch.tensor([list(self.tokens)], device=device))[0].float()

    def log_probs(self) -> Float[Tensor, " 1"]:
        """Of the label."""
        return self.logits().log_softmax(-1)[self.label : self.label + 1]

    @torch.no_grad()
    def weights(self) -> list[Float[Tensor, "H T T"]]:
        """What each head of each block reads."""
        n_blocks = self.model.config.n_layers
        names = [f"encoder.blocks.{n}.self_attention.weights" for n in range(n_blocks)]
        with watch(self.model, *names) as seen:
            self.logits()
        return [seen.steps(name)[0].tensor.float() for name in names]
