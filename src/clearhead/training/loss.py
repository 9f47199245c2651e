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
_TINY = 1e-30


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
    """Loss and gradient in one pass over chunks of rows.

    With ε the loss has two more terms, which are linear in the logits. Their sums and gradients
    need no logits: Σ_v x·w_v is x·Σ_v w_v.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        n_tokens = len(weight)
        n_rows = max(_CHUNK_ROWS, _CHUNK_NUMBERS // n_tokens)
        needs_gradient = any(ctx.needs_input_grad[:3])
        is_float = x.dtype == torch.float32
        w = weight.to(x.dtype)
        grad_x = torch.empty_like(x) if needs_gradient else x
        grad_w = torch.zeros_like(w) if needs_gradient else None
        grad_b = None if bias is None else torch.zeros_like(bias, dtype=torch.float32)
        log_p, of_right = (x.new_empty(len(x), dtype=torch.float32) for _ in range(2))
        # All chunks are made in the same places: new memory costs more than some of the passes.
        products = x.new_empty(min(n_rows, len(x)), n_tokens)
        values = products if is_float else torch.empty_like(products, dtype=torch.float32)
        probs = torch.empty_like(values)
        begin = 0
        for rows, right in zip(x.split(n_rows), target.split(n_rows), strict=True):
            chunk = slice(begin, begin := begin + len(rows))
            places = torch.arange(len(rows), device=x.device), right
            product = torch.mm(rows, w.T, out=products[: len(rows)])
            logits = product if is_float else values[: len(rows)].copy_(product)
            if bias is not None:
                logits += bias
            p = torch.softmax(logits, 1, out=probs[: len(rows)])
            of_right[chunk], log_p[chunk] = logits[places], _log(p[places], logits, right)
            if grad_w is None:
                continue
            p[places] -= 1 - smoothing  # d loss / d logits, but for ε / V
            if grad_b is not None:
                grad_b += p.sum(0)
            p = p if is_float else product.copy_(p)
            torch.mm(p, w, out=grad_x[chunk])
            grad_w.addmm_(p.T, rows)
        plain = -log_p.sum()
        share, x_sum, w_sum = smoothing / n_tokens, x.float().sum(0), w.float().sum(0)
        of_all = (x_sum * w_sum).sum() + (0 if bias is None else len(x) * bias.sum())
        smoothed = plain + smoothing * of_right.sum() - share * of_all
        if grad_w is not None:
            grad_x -= (share * w_sum).to(x.dtype)
            grad_w -= (share * x_sum).to(x.dtype)
        if grad_b is not None:
            grad_b -= share * len(x)
        ctx.save_for_backward(grad_x, grad_w, grad_b)
        ctx.mark_non_differentiable(plain)
        return smoothed, plain

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        grad_x, grad_w, grad_b = ctx.saved_tensors
        of_bias = None if grad_b is None else grad_b * grads[0]
        return grad_x * grads[0], grad_w.float().mul_(grads[0]), of_bias, None, None


def _log(
    p: Float[Tensor, " rows"], logits: Float[Tensor, "rows V"], right: Int[Tensor, " rows"]
) -> Float[Tensor, " rows"]:
    """log p of the right tokens; from the logits where p is too small to be a precise number."""
    log_p, is_tiny = p.log(), p < _TINY
    if is_tiny.any():
        some = logits[is_tiny]
        right = right[is_tiny, None]
        log_p[is_tiny] = some.gather(1, right)[:, 0] - some.logsumexp(1)
    return log_p
