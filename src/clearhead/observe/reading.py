"""A text that an encoder reads as it is: what views of an encoder by itself are computed on."""

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
    """One text, as the tokens that the model reads, with those around it."""

    model: Bert
    tokens: Sequence[int]
    names: Sequence[str]
    """The tokens as people read them."""
    segments: Sequence[int] | None = None
    """Which of two texts each token belongs to; without it there is one."""
    label: int | None = None
    """The number of a label that the text may have, for a model with labels."""
    vectors: str = "embedding.vectors"
    """Where the vectors of what is read pass."""

    @property
    def inputs(self) -> tuple[Tensor, Tensor]:
        """What the model is given."""
        device = next(self.model.parameters()).device
        segments = list(self.segments or [0] * len(self.tokens))
        return (
            torch.tensor([list(self.tokens)], device=device),
            torch.tensor([segments], device=device),
        )

    def read(self) -> Float[Tensor, "1 S D"]:
        """Let the model read the text; who watches it sees all places of the encoder."""
        return self.model.read(*self.inputs)

    def log_probs(self) -> Float[Tensor, " 1"]:
        """Of the label; gradients flow."""
        if self.model.config.head != "classify" or self.label is None:
            raise InputError("only a model with labels says how probable one is: name the label")
        scores = self.model(*self.inputs)[0].float().log_softmax(-1)
        return scores[self.label : self.label + 1]

    @torch.no_grad()
    def attention(self) -> Float[Tensor, "L H T S"]:
        """How much each token (query) reads of each (key), in every head of every block."""
        n_blocks = self.model.config.n_layers
        names = [f"encoder.blocks.{n}.self_attention.weights" for n in range(n_blocks)]
        with watch(self.model, *names) as seen:
            self.read()
        return torch.stack([seen.steps(name)[0].tensor.float() for name in names]).cpu()
