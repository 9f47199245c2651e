"""Dropout: each number is set to zero with probability p, and the rest is scaled up.

    Dropout(x) = x ⊙ m / (1 − p),   m ~ Bernoulli(1 − p)        Srivastava et al. 2014, §4

On a CPU, torch draws the mask number by number on one thread, which can cost more than a third of
a training step. Here the mask is computed: word i of a call is a hash of the counter key + i,
where torch's generator draws `key` once per call. So it is reproducible from the seed, and it runs
vectorised on all threads.

Departs: from 16,384 numbers on, p is rounded to a multiple of 1/256, because each number looks at
one random byte; the scale uses the rounded p, so the expectation is exact. Smaller tensors go to
torch's own dropout, which is faster there.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from clearhead.errors import ConfigError

__all__ = ["Dropout", "random_words"]

# Odd 64-bit constants with well-spread bits, as signed numbers (2⁶⁴ divided by the golden ratio,
# and the two multipliers of the SplitMix64 generator, Steele et al. 2014).
_SPREAD = -0x61C8864680B583EB
_MIX_1 = -0x40A7B892E31B1A47
_MIX_2 = -0x6B2FB644ECCEEE15

# Below the first, torch's dropout is faster (fewer calls); parts of the second stay in the cache.
_SMALL = 2**14
_CHUNK = 2**18

# How far to shift a word so that each of its bytes comes to the top of a lane in turn.
_BYTE_SHIFTS = {
    torch.float32: torch.tensor([[0], [8], [16], [24]], dtype=torch.int32),
    torch.bfloat16: torch.tensor([[0], [8]], dtype=torch.int16),
}


class Dropout(nn.Module):
    """Dropout with probability `p` while training; does nothing in eval mode."""

    share: float = 1.0
    """How much of `p` is in force now: training may let it grow."""

    def __init__(self, p: float) -> None:
        super().__init__()
        if not 0 <= p < 1:
            raise ConfigError(f"dropout={p} must be at least 0 and less than 1")
        self.p = p

    def forward(self, x: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
        """Drop numbers of `x`; torch's own dropout serves small tensors and other devices."""
        p = self.p * self.share
        if not self.training or p == 0:
            return x
        n_dropped = round(p * 256)
        is_fit = x.device.type == "cpu" and x.dtype in _BYTE_SHIFTS and 0 < n_dropped < 256
        if x.numel() < _SMALL or not is_fit:
            return F.dropout(x, p)
        return _DropBytes.apply(x, n_dropped)

    def extra_repr(self) -> str:
        """Show p in the printed module tree."""
        return f"p={self.p}"


class _DropBytes(torch.autograd.Function):
    """Drop the elements whose random byte is among the `n_dropped` lowest of 256."""

    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, x: Tensor, n_dropped: int) -> Tensor:
        words = random_words(x.numel())
        ctx.save_for_backward(words)
        ctx.n_dropped = n_dropped  # type: ignore[attr-defined]
        return _drop(x, words, n_dropped)

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, grad: Tensor) -> tuple[Tensor, None]:
        (words,) = ctx.saved_tensors  # type: ignore[attr-defined]
        return _drop(grad, words, ctx.n_dropped), None  # type: ignore[attr-defined]


def random_words(n_bytes: int) -> Int[Tensor, " words"]:
    """Return 64-bit words that hold at least `n_bytes` independent random bytes."""
    key = int(torch.randint(-(2**62), 2**62, ()))
    words = torch.arange(key, key + math.ceil(n_bytes / 8))
    shifted = torch.empty_like(words)
    words.mul_(_SPREAD)
    for shift, multiplier in ((32, _MIX_1), (29, _MIX_2)):
        # An arithmetic shift makes the top bit of the result zero; the product mends that.
        torch.bitwise_right_shift(words, shift, out=shifted)
        words.bitwise_xor_(shifted).mul_(multiplier)
    return words


def _drop(x: Tensor, words: Tensor, n_dropped: int) -> Tensor:
    """x / (1 − p) where an element's byte is kept, else 0, with p = n_dropped / 256.

    Comparing bytes is slow in torch, comparing floats is not: each byte moves to the top of an
    integer as wide as an element, which then becomes a float.
    """
    shifts = _BYTE_SHIFTS[x.dtype]
    top_byte = -(2 ** (8 * x.element_size() - 8))
    bound = (n_dropped - 128.5) * -top_byte
    x = x.contiguous()
    dropped = torch.empty_like(x)
    for part, kept, bytes_ in zip(
        x.view(-1).split(_CHUNK),
        dropped.view(-1).split(_CHUNK),
        words.split(_CHUNK // 8),
        strict=True,
    ):
        lanes = torch.bitwise_left_shift(bytes_.view(shifts.dtype), shifts)
        numbers = lanes.bitwise_and_(top_byte).to(x.dtype).view(-1)[: part.numel()]
        # The gradient of a threshold is the fast selection: part where numbers > bound, else 0.
        torch.ops.aten.threshold_backward(part, numbers, bound, grad_input=kept)
        kept.mul_(256 / (256 - n_dropped))
    return dropped
