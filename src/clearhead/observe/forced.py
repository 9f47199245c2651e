"""A pair that a model reads and writes as it is: what everything here is computed on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from clearhead.errors import InputError
from clearhead.models import Transformer
from clearhead.text import AnyTokenizer

__all__ = ["Forced", "force"]


@dataclass(frozen=True)
class Forced:
    """A source, and a target that the model is made to write; each ends with the end."""

    model: Transformer
    source: list[int]
    target: list[int]
    bos: int
    source_tokens: list[str]
    target_tokens: list[str]
    """What is written at each position; what is read there is the one before."""
    decode: Callable[[Sequence[int]], list[str]] | None = None
    """What names tokens, for edits that are given by words."""

    @property
    def inputs(self) -> tuple[Tensor, Tensor]:
        """What the model is given: the source, and the target one position later."""
        device = next(self.model.parameters()).device
        return (
            torch.tensor([self.source], device=device),
            torch.tensor([[self.bos, *self.target[:-1]]], device=device),
        )

    def log_probs(self) -> Float[Tensor, " T"]:
        """Of each token of the target, given the source and the ones before; gradients flow."""
        logits = self.model(*self.inputs)[0]
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        chosen = torch.tensor(self.target, device=logits.device)[:, None]
        return logits.log_softmax(-1).gather(1, chosen)[:, 0]


def force(
    model: Transformer,
    tokenizer: AnyTokenizer,
    source: str,
    target: str,
    max_source: int | None = None,
) -> Forced:
    """Make a pair of texts ready to be looked at; of the source, at most `max_source` tokens."""
    if not source.strip() or not target.strip():
        raise InputError("both the source and the target need at least one word")
    read = [*tokenizer.encode(source)[:max_source], tokenizer.eos]
    written = [*tokenizer.encode(target), tokenizer.eos]
    names = tokenizer.tokens(read), tokenizer.tokens(written)
    return Forced(model, read, written, tokenizer.bos, *names, tokenizer.tokens)
