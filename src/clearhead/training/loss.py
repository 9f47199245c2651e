"""The loss: how far the model's probabilities are from the right next token.

    loss = −Σ_v q(v) · log p(v),   q(v) = (1 − ε) · [v is right] + ε / V

Label smoothing with ε: Szegedy et al. 2016, §7; Vaswani et al. 2017, §5.4 use ε = 0.1.

The logits of a batch are by far its largest tensor, and most of the work of a small model. Here
they are made some rows at a time, from real tokens only, together with their gradient, and never
kept: the result is the same, in less time and memory.
"""

from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

__all__ = ["smoothed_loss"]

# Rows of logits made at once: few enough to stay in the cache, enough for efficient products.
_CHUNK_ROWS = 256
_CHUNK_NUMBERS = 1 << 17
"""A small vocabulary has more rows at once: so many numbers are few in any case."""


def smoothed_loss(
    x: Float[Tensor, "B T D"],
    weight: Float[Tensor, "V D"],
    target_out: Int[Tensor, "B T"],
    is_token: Bool[Tensor, "B T"],
    smoothing: float = 0.0,
    bias: Float[Tensor, " V"] | None = None,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Sum the loss over the real tokens; beside it the same without smoothing, for reports.

    `x` are the vectors before the output, and `weight` its matrix: logits are x Wᵀ + b. Under
    autocast all products with W are in its precision, as those of other matrices are.
    """
    rows, device = x[is_token], x.device.type
    if torch.is_autocast_enabled(device):
        rows = rows.to(torch.get_autocast_dtype(device))
    return _ChunkedLoss.apply(rows, weight, bias, target_out[is_token], smoothing)


class _ChunkedLoss(torch.autograd.Function):
    """Loss and gradient in one pass over chunks of rows."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        n_tokens = len(weight)
        n_rows = max(_CHUNK_ROWS, _CHUNK_NUMBERS // n_tokens)
        needs_gradient = any(ctx.needs_input_grad[:3])
        w = weight.to(x.dtype)
        grad_x = torch.empty_like(x) if needs_gradient else x
        grad_w = torch.zeros_like(w) if needs_gradient else None
        grad_b = None if bias is None else torch.zeros_like(bias, dtype=torch.float32)
        smoothed = torch.zeros((), dtype=torch.float32, device=x.device)
        plain = torch.zeros_like(smoothed)
        # All chunks are made in the same places: new memory costs more than some of the passes.
        products = x.new_empty(min(n_rows, len(x)), n_tokens)
        probs = torch.empty_like(products, dtype=torch.float32)
        values = products if x.dtype == torch.float32 else torch.empty_like(probs)
        for rows, right, grad in zip(
            x.split(n_rows), target.split(n_rows), grad_x.split(n_rows), strict=True
        ):
            product = torch.mm(rows, w.T, out=products[: len(rows)])
            logits = values[: len(rows)].copy_(product)
            if bias is not None:
                logits += bias
            of_right = logits.gather(1, right[:, None])
            mean = logits.mean(dim=1, keepdim=True) if smoothing else of_right
            largest = logits.amax(dim=1, keepdim=True)
            p = torch.softmax(logits, 1, out=probs[: len(rows)])
            log_norm = largest - p.amax(dim=1, keepdim=True).log()  # of the largest: never log 0
            plain += (log_norm - of_right).sum()
            smoothed += (log_norm - (1 - smoothing) * of_right - smoothing * mean).sum()
            if grad_w is None:
                continue
            p_minus_q = p.sub_(smoothing / n_tokens)  # d loss / d logits
            p_minus_q[torch.arange(len(right), device=x.device), right] -= 1 - smoothing
            if grad_b is not None:
                grad_b += p_minus_q.sum(0)
            p_minus_q = product.copy_(p_minus_q)
            torch.mm(p_minus_q, w, out=grad)
            grad_w.addmm_(p_minus_q.T, rows)
        ctx.save_for_backward(grad_x, grad_w, grad_b)
        ctx.mark_non_differentiable(plain)
        return smoothed, plain

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        grad_x, grad_w, grad_b = ctx.saved_tensors
        of_bias = None if grad_b is None else grad_b * grads[0]
        return grad_x * grads[0], grad_w.float().mul_(grads[0]), of_bias, None, None
