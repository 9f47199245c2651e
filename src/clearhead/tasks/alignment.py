"""Which source token each token of an answer reads most.

The model reads the source again and writes the answer that was found, while its cross-attention is
watched. The weights are those of the last block but one, as a mean over its heads: in models of six
blocks, these come nearest to alignments made by people (Garg et al. 2019).
"""

from typing import cast

import torch
from torch import Tensor

from clearhead.layers.tap import Tap, listen
from clearhead.models import Transformer
from clearhead.tasks.translation import Alignment
from clearhead.text import Tokenizer

__all__ = ["align"]


@torch.no_grad()
def align(
    model: Transformer, tokenizer: Tokenizer, source: list[int], answer: list[int]
) -> Alignment:
    """Align an answer with its source, which ends with `<eos>`.

    `<eos>` is never the token that is read most: heads that have nothing to read rest there.
    """
    names = tokenizer.tokens(source[:-1])
    if not answer:
        return Alignment(names, [], [])
    block = max(0, len(model.decoder.blocks) - 2)
    tap = cast(Tap, model.get_submodule(f"decoder.blocks.{block}.cross_attention.weights"))
    seen: list[Tensor] = []

    def keep(weights: Tensor) -> Tensor:
        seen.append(weights)
        return weights

    device = next(model.parameters()).device
    with listen({tap: keep}):
        model.read(
            torch.tensor([source], device=device),
            torch.tensor([[tokenizer.bos, *answer[:-1]]], device=device),
        )
    weights, places = seen[0][0].mean(0)[:, :-1].max(-1)
    return Alignment(names, places.tolist(), weights.tolist())
