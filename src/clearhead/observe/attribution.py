"""Attribution: how much each token that is read matters for each one that is written, or a label.

    input × gradient      x_s · ∂ log p_t / ∂ x_s
    integrated gradients  x_s · mean over α of ∂ log p_t / ∂ x_s at α x    Sundararajan et al. 2017
    value zeroing         what is lost without a token's values            Mohebbi et al. 2023

x_s is the vector of a token that is read, before its position is added. Integrated gradients add up
to the difference of log p_t with the tokens and without them (all their vectors zero). A label is
one t.
"""

from collections.abc import Callable
from typing import cast

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from clearhead.errors import InputError
from clearhead.layers.tap import listen, taps
from clearhead.models import Model
from clearhead.observe.edit import edit, zero
from clearhead.observe.forced import Forced
from clearhead.observe.reading import Reading
from clearhead.observe.watch import watch

__all__ = ["input_x_gradient", "integrate_gradients", "integrated_gradients", "value_zeroing"]


def input_x_gradient(pair: Forced | Reading) -> Float[Tensor, "T S"]:
    """One backward pass for each token that is written."""
    vectors, gradients = _gradients(pair.model, pair.vectors, pair.log_probs, lambda x: x)
    return (vectors * gradients).sum(-1)


def integrated_gradients(pair: Forced | Reading, n_steps: int = 32) -> Float[Tensor, "T S"]:
    """The same along the way from zero to the vectors, at the middles of `n_steps` stretches."""
    return integrate_gradients(pair.model, pair.vectors, pair.log_probs, n_steps)


def integrate_gradients(
    model: Model, point: str, log_probs: Callable[[], Tensor], n_steps: int = 32
) -> Float[Tensor, "T S"]:
    """How much the vectors that pass a place matter for each of some log-probabilities.

    `log_probs` runs the model on one row.
    """
    if n_steps < 1:
        raise InputError(f"n_steps={n_steps} must be at least 1")
    total: Tensor | float = 0.0
    for step in range(n_steps):
        share = (step + 0.5) / n_steps
        vectors, gradients = _gradients(
            model,
            point,
            log_probs,
            lambda x, share=share: x * share,  # type: ignore[misc]
        )
        total = total + (vectors * gradients).sum(-1)
    return cast(Tensor, total) / n_steps


def _gradients(
    model: Model,
    point: str,
    log_probs: Callable[[], Tensor],
    change: Callable[[Tensor], Tensor],
) -> tuple[Float[Tensor, "S D"], Float[Tensor, "T S D"]]:
    """The vectors of a place, and the gradient of each log-probability at the changed ones."""
    tap = taps(model)[point]
    held: list[Tensor] = []

    def hear(x: Tensor) -> Tensor:
        changed = change(x.detach()).requires_grad_()
        held.extend([x.detach(), changed])
        return changed

    with torch.enable_grad(), listen({tap: hear}, after_others=True):
        found = log_probs()
        vectors, changed = held
        gradients = [
            torch.autograd.grad(log_prob, changed, retain_graph=True)[0][0] for log_prob in found
        ]
    return vectors[0], torch.stack(gradients)


@torch.no_grad()
def value_zeroing(pair: Forced, block: int) -> Float[Tensor, "S S"]:
    """How far each vector after an encoder block turns when a token's values are zero there.

    Rows are positions, columns the tokens whose values are taken away; each row sums to 1.
    """
    stack = pair.model.encoder.blocks
    if not 0 <= block < len(stack):
        raise InputError(f"block={block} is outside the encoder: it has {len(stack)}")
    after = f"encoder.blocks.{block}.feed_forward_residual"
    after += ".norm.output" if pair.model.config.block.norm == "post" else ".sum"
    source, _ = pair.inputs

    def run() -> Tensor:
        with watch(pair.model, after) as seen:
            pair.model.encode(source)
        return seen.steps(after)[0].tensor.float()

    whole, columns = run(), []
    for place in range(len(pair.source)):
        with edit(pair.model, {f"encoder.blocks.{block}.self_attention.v": zero(key=place)}):
            columns.append(1 - F.cosine_similarity(whole, run(), dim=-1))
    distances = torch.stack(columns, dim=1).clamp(min=0)
    return distances / distances.sum(1, keepdim=True)
