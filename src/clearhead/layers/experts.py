"""Experts: many feed-forward networks, of which each token is sent to a few.

    p       = softmax(x W_r)                                    Shazeer et al. 2017, eq. 1–3
    MoE(x)  = Σ_{e in top-k} (p_e / Σ_{top-k} p) · FFN_e(x)     Jiang et al. 2024, §2.1 (Mixtral)
    balance = E · Σ_e f_e · P_e                                 Fedus et al. 2022, eq. 4

With k = 1 the weight is p_e itself. f_e is the share of the assignments that expert e gets, P_e its
mean probability; a balance of 1 is even.
"""

import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from clearhead.config.block import GATED, Activation
from clearhead.errors import ConfigError
from clearhead.layers.feed_forward import activate, check_activation
from clearhead.layers.tap import Tap

__all__ = ["Experts", "load_balance", "within_capacity"]


class Experts(nn.Module):
    """A mixture of `n_experts` feed-forward networks; each token visits the best `n_chosen`.

    With a `capacity` factor an expert takes at most capacity · tokens · n_chosen / n_experts
    assignments, first come, first served, and what is left over adds nothing. Without one
    (dropless, the default) every assignment is served. A capacity is for training: tokens then
    compete for places, so that a token, or padding, can change what another one gets.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        n_experts: int,
        n_chosen: int = 2,
        activation: Activation = "swiglu",
        *,
        capacity: float | None = None,
    ) -> None:
        super().__init__()
        if not 1 <= n_chosen <= n_experts:
            raise ConfigError(f"n_chosen={n_chosen} must lie between 1 and n_experts={n_experts}")
        if min(d_model, d_ff) < 1:
            raise ConfigError(f"d_model={d_model} and d_ff={d_ff} must be at least 1")
        check_activation(activation)
        if capacity is not None and not capacity > 0:
            raise ConfigError(f"capacity={capacity} must be above 0, or none for no limit")
        self.n_experts, self.n_chosen = n_experts, n_chosen
        self.activation, self.capacity = activation, capacity
        n_rows = 2 * d_ff if activation in GATED else d_ff
        self.w_r = nn.Linear(d_model, n_experts, bias=False)
        self.w_1 = nn.Parameter(torch.empty(n_experts, n_rows, d_model))
        self.w_2 = nn.Parameter(torch.empty(n_experts, d_model, d_ff))
        for expert in range(n_experts):
            nn.init.xavier_uniform_(self.w_1.detach()[expert])
            nn.init.xavier_uniform_(self.w_2.detach()[expert])
        self.router = Tap("B T E")
        self.chosen, self.weights = Tap("B T C"), Tap("B T C")
        self.served = Tap("B T C")
        self.output = Tap("B T D")

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        """Send each token to its experts, and add what they return with the router's weights."""
        router = self.router(self.w_r(x))
        top, chosen = router.topk(self.n_chosen, dim=-1)
        weights = self.weights(_mixing_weights(router, top).to(x.dtype))
        chosen = self.chosen(chosen)
        if self.capacity is not None:
            n_places = math.ceil(self.capacity * chosen.numel() / self.n_experts)
            served = self.served(within_capacity(chosen, self.n_experts, n_places))
            weights = weights * served
        return self.output(self._dispatch(x, chosen, weights))

    def _dispatch(
        self,
        x: Float[Tensor, "B T D"],
        chosen: Int[Tensor, "B T C"],
        weights: Float[Tensor, "B T C"],
    ) -> Float[Tensor, "B T D"]:
        """Sort the assignments by expert, so that each expert works on one block of rows."""
        tokens = x.flatten(0, 1)
        order = chosen.flatten().argsort(stable=True)
        n_rows = chosen.flatten().bincount(minlength=self.n_experts).tolist()
        rows = tokens[order // self.n_chosen].split(n_rows)
        results = [
            F.linear(activate(F.linear(block, w_1), self.activation), w_2)
            for block, w_1, w_2 in zip(rows, self.w_1, self.w_2, strict=True)
            if len(block)
        ]
        weighted = torch.cat(results) * weights.flatten()[order, None]
        return torch.zeros_like(tokens).index_add(0, order // self.n_chosen, weighted).view_as(x)


def _mixing_weights(
    router: Float[Tensor, "B T E"], top: Float[Tensor, "B T C"]
) -> Float[Tensor, "B T C"]:
    """The probabilities of the chosen, renormalised: the softmax of their logits.

    A single choice keeps its probability as it is (Fedus et al. 2022, eq. 2): renormalised it would
    always be 1, and the router would never learn.
    """
    if top.shape[-1] > 1:
        return top.softmax(dim=-1, dtype=torch.float32)
    return (top.float() - router.float().logsumexp(dim=-1, keepdim=True)).exp()


def within_capacity(
    chosen: Int[Tensor, "B T C"], n_experts: int, n_places: int
) -> Bool[Tensor, "B T C"]:
    """Which assignments find a place: first choices before second ones, earlier tokens first."""
    in_order = chosen.flatten(0, 1).T.flatten()
    one_hot = F.one_hot(in_order, n_experts)
    rank = (one_hot.cumsum(0) - 1).gather(1, in_order[:, None])[:, 0]
    return (rank < n_places).view(chosen.shape[-1], -1).T.reshape(chosen.shape)


def load_balance(
    router: Float[Tensor, "B T E"],
    chosen: Int[Tensor, "B T C"],
    is_token: Bool[Tensor, "B T"] | None = None,
) -> Float[Tensor, ""]:
    """Return the load-balancing loss of one layer; 1 when all experts get the same share."""
    router = router.float()
    if is_token is not None:
        router, chosen = router[is_token][None], chosen[is_token][None]
    n_experts = router.shape[-1]
    share = F.one_hot(chosen, n_experts).flatten(0, -2).to(router.dtype).mean(0)
    probability = router.softmax(dim=-1).flatten(0, 1).mean(0)
    return n_experts * (share * probability).sum()
