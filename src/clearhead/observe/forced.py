"""A text that a model is made to write as it is: what everything here is computed on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from clearhead.errors import InputError
from clearhead.models import Transformer
from clearhead.models.causal import CausalModel
from clearhead.text import AnyTokenizer

__all__ = ["Forced", "force", "force_text"]


@dataclass(frozen=True)
class Forced:
    """A source, and a target that the model is made to write; each ends with the end.

    A decoder by itself has no source, and the text need not have ended.
    """

    model: Any
    """An encoder–decoder, or a decoder by itself."""
    source: list[int]
    target: list[int]
    bos: int
    """What is read before the first token of the target."""
    source_tokens: list[str]
    target_tokens: list[str]
    """What is written at each position; what is read there is the one before."""
    decode: Callable[[Sequence[int]], list[str]] | None = None
    """What names tokens, for edits that are given by words."""
    vectors: str = "source_embedding.vectors"
    """Where the vectors of what is read pass."""

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """What the model is given: the source, if it reads one, and the target one later."""
        device = next(self.model.parameters()).device
        target = torch.tensor([[self.bos, *self.target[:-1]]], device=device)
        if isinstance(self.model, CausalModel):
            return (target,)
        return torch.tensor([self.source], device=device), target

    @property
    def read_tokens(self) -> list[str]:
        """What the decoder reads at each position."""
        first = self.decode([self.bos])[0] if self.decode else "<bos>"
        return [first, *self.target_tokens[:-1]]

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


def force_text(model: CausalModel, tokenizer: AnyTokenizer, text: str) -> Forced:
    """Make a text ready to be looked at in a decoder by itself; before it, another has ended."""
    if tokenizer.kind == "foreign":  # its makers may have a token for the beginning
        row = tokenizer.encode(text, with_specials=True)
        has_first = row[:1] == [tokenizer.specials.get("bos")]
        row = row if has_first else [tokenizer.eos, *row]
    else:
        row = [tokenizer.eos, *tokenizer.encode(text)]
    if len(row) < 2:
        raise InputError("the text needs at least one word")
    first, *written = row
    return Forced(model, [], written, first, [], tokenizer.tokens(written), tokenizer.tokens)
