"""Feed-forward: every position is worked on by itself, with the same weights.

FFN(x)    = max(0, x W_1 + b_1) W_2 + b_2                   Vaswani et al. 2017, eq. 2
GELU      : GELU(x W_1 + b_1) W_2 + b_2                     Hendrycks & Gimpel 2016
GELU tanh : GELU(x) ≈ ½ x (1 + tanh(√(2/π) (x + 0.044715 x³)))        the same, §2
swish     : swish(x W_1 + b_1) W_2 + b_2, swish(x) = x σ(x)  Ramachandran et al. 2017
SwiGLU(x) = (swish(x W_g) ⊙ x W_1) W_2                      Shazeer 2020, eq. 6
GEGLU(x)  = (GELU(x W_g) ⊙ x W_1) W_2                       ibid.

Departs: the GELU of GEGLU is the approximation by tanh, which T5 was trained with.
"""

from typing import get_args

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from clearhead.config.block import GATED, Activation
from clearhead.errors import ConfigError
from clearhead.layers.dropout import Dropout
from clearhead.layers.tap import Tap

__all__ = ["FeedForward", "activate", "check_activation"]


class FeedForward(nn.Module):
    """Two linear maps with an activation between; the rows of a gate come first in w_1."""

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        activation: Activation = "relu",
        *,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if min(d_model, d_ff) < 1:
            raise ConfigError(f"d_model={d_model} and d_ff={d_ff} must be at least 1")
        check_activation(activation)
        self.activation = activation
        n_rows = 2 * d_ff if activation in GATED else d_ff
        self.w_1 = nn.Linear(d_model, n_rows, bias=bias)
        self.w_2 = nn.Linear(d_ff, d_model, bias=bias)
        for linear in (self.w_1, self.w_2):
            nn.init.xavier_uniform_(linear.weight)
            if bias:
                nn.init.zeros_(linear.bias)
        self.dropout = Dropout(dropout)
        self.hidden = Tap("B T F")
        self.output = Tap("B T D")

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        """Work on each position."""
        hidden = self.hidden(activate(self.w_1(x), self.activation))
        return self.output(self.w_2(self.dropout(hidden)))


def activate(x: Float[Tensor, "*axes _"], activation: Activation) -> Float[Tensor, "*axes _"]:
    """Apply the activation to the result of W_1; a gated one halves the width."""
    if activation == "relu":
        return F.relu(x)
    if activation == "gelu":
        return F.gelu(x)
    if activation == "gelu_tanh":
        return F.gelu(x, approximate="tanh")
    if activation == "swish":
        return F.silu(x)
    gate, value = x.chunk(2, dim=-1)
    return (F.silu(gate) if activation == "swiglu" else F.gelu(gate, approximate="tanh")) * value


def check_activation(activation: str) -> None:
    """Refuse an activation that is not known."""
    if activation not in get_args(Activation):
        allowed = ", ".join(get_args(Activation))
        raise ConfigError(f"activation={activation!r} is not allowed: choose one of {allowed}")
