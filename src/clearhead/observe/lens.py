"""The logit lens: what a decoder would write if it ended after each of its blocks.

The vector after a block goes through the last norm and the output (nostalgebraist 2020). An encoder
has an output, and so a lens, only if it fills gaps.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from clearhead.models.causal import CausalModel
from clearhead.observe.forced import Forced
from clearhead.observe.reading import Reading
from clearhead.observe.watch import watch

__all__ = ["Lens", "gap_lens", "logit_lens"]


@dataclass(frozen=True)
class Lens:
    """Log-probabilities after each block: of the next token at each position, or of each gap."""

    log_probs: Float[Tensor, "L T V"]

    def best(self) -> tuple[Tensor, Tensor]:
        """The most probable token after each block at each position, and its probability."""
        values, tokens = self.log_probs.max(-1)
        return tokens, values.exp()

    def rank_of(self, tokens: list[int]) -> Tensor:
        """The rank of the token that is written, after each block at each position; 0 is best."""
        chosen = self.log_probs[:, torch.arange(len(tokens)), tokens]
        return (self.log_probs > chosen[..., None]).sum(-1)


@torch.no_grad()
def logit_lens(pair: Forced) -> Lens:
    """Look after each block of the decoder."""
    model = pair.model
    # Decoders by themselves all have their norms before.
    is_pre_norm = isinstance(model, CausalModel) or model.config.block.norm == "pre"
    place = "sum" if is_pre_norm else "norm.output"
    n_blocks = len(model.decoder.blocks)
    names = [f"decoder.blocks.{n}.feed_forward_residual.{place}" for n in range(n_blocks)]
    with watch(model, *names) as seen:
        pair.log_probs()
    device = next(model.parameters()).device
    found = []
    for name in names:
        x = seen.steps(name)[0].tensor[None].to(device)
        found.append(model.output(model.decoder.norm(x))[0].float().log_softmax(-1).cpu())
    return Lens(torch.stack(found))


@torch.no_grad()
def gap_lens(reading: Reading, places: list[int]) -> Lens:
    """Look after each block of an encoder, at the places of gaps."""
    model = reading.model
    n_blocks = model.config.n_layers
    names = [f"encoder.blocks.{n}.feed_forward_residual.norm.output" for n in range(n_blocks)]
    with watch(model, *names) as seen:
        reading.read()
    device = next(model.parameters()).device
    levels = torch.stack([seen.steps(name)[0].tensor[places] for name in names])
    return Lens(model.output(levels.to(device)).float().log_softmax(-1).cpu())
