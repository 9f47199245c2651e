"""Attention: every position reads from the positions it may see.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V                 Vaswani et al. 2017, eq. 1
    MultiHead(x, m)    = Concat(head_1, …, head_H) W_O          ibid. §3.2.2
    head_i             = Attention(x W_Q^i, m W_K^i, m W_V^i)

Grouped queries (Ainslie et al. 2023, §2.2): the H query heads share G key/value heads.
G = H is the paper's multi-head attention; G = 1 is multi-query attention.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from clearhead.config.block import check_heads
from clearhead.errors import ConfigError, InputError
from clearhead.layers.cache import KeyValueCache
from clearhead.layers.dropout import Dropout
from clearhead.layers.positions import Rotary
from clearhead.layers.tap import Tap, anybody_listens

__all__ = [
    "KeysValues",
    "MultiHeadAttention",
    "attention_bias",
    "attention_scores",
    "attention_weights",
    "fused_attention",
    "is_fused_faster",
    "merge_heads",
    "split_heads",
    "weighted_values",
]

# Where the fused kernel beats plain products on a CPU (`benchmarks/layers.py --crossover`): for few
# numbers, because it is one call, and for many keys; between, its backward pass is the slow part.
_FEW_NUMBERS = 2**14
_MANY_KEYS = 64
_MANY_KEYS_WITH_GRADIENTS = 192


class KeysValues(NamedTuple):
    """The keys and values of a memory, projected once and read at many steps."""

    k: Float[Tensor, "B G S K"]
    v: Float[Tensor, "B G S K"]


class MultiHeadAttention(nn.Module):
    """Multi-head attention from `x` (queries) to a memory (keys and values), or to `x` itself.

    W_Q, W_K and W_V are the rows of one matrix, so that self-attention needs one product.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        n_kv_heads: int | None = None,
        *,
        d_head: int | None = None,
        bias: bool = False,
        dropout: float = 0.0,
        scale: float | None = None,
        rotary: Rotary | None = None,
    ) -> None:
        super().__init__()
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        check_heads(d_model, n_heads, n_kv_heads, d_head)
        d_head = d_model // n_heads if d_head is None else d_head
        if rotary is not None and rotary.d_head != d_head:
            raise ConfigError(f"rotary positions of {rotary.d_head} do not fit heads of {d_head}")
        self.n_heads, self.n_kv_heads, self.d_head = n_heads, n_kv_heads, d_head
        self.scale = d_head**-0.5 if scale is None else scale
        self.rotary = rotary
        self.dropout = Dropout(dropout)

        n_rows = (n_heads + 2 * n_kv_heads) * d_head
        self.w_qkv = nn.Parameter(torch.empty(n_rows, d_model))
        self.b_qkv = nn.Parameter(torch.zeros(n_rows)) if bias else None
        self.w_o = nn.Linear(n_heads * d_head, d_model, bias=bias)
        for weight in (self.w_q, self.w_k, self.w_v, self.w_o.weight):
            nn.init.xavier_uniform_(weight.detach())
        if bias:
            nn.init.zeros_(self.w_o.bias)

        self.q, self.k, self.v = Tap("B H T K"), Tap("B G S K"), Tap("B G S K")
        self.scores, self.scaled, self.masked = Tap("B H T S"), Tap("B H T S"), Tap("B H T S")
        self.weights = Tap("B H T S")
        self.heads = Tap("B H T K")
        self.output = Tap("B T D")

    @property
    def w_q(self) -> Float[Tensor, "HK D"]:
        """W_Q: the first rows of the joint matrix (a view)."""
        return self.w_qkv.split(self._rows)[0]

    @property
    def w_k(self) -> Float[Tensor, "GK D"]:
        """W_K: the rows after W_Q (a view)."""
        return self.w_qkv.split(self._rows)[1]

    @property
    def w_v(self) -> Float[Tensor, "GK D"]:
        """W_V: the last rows (a view)."""
        return self.w_qkv.split(self._rows)[2]

    @property
    def _rows(self) -> list[int]:
        d_kv = self.n_kv_heads * self.d_head
        return [self.n_heads * self.d_head, d_kv, d_kv]

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        memory: Float[Tensor, "B S D"] | KeysValues | None = None,
        may_attend: Bool[Tensor, "#B 1 #T S"] | None = None,
        *,
        bias: Float[Tensor, "#B H #T S"] | None = None,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "B T D"]:
        """Read `memory` from `x`, or `x` itself.

        Rotary positions and the cache, which holds the keys and values before `x`, belong to
        self-attention; a memory is projected as it is.
        """
        if may_attend is not None and may_attend.dtype != torch.bool:
            raise InputError(
                f"may_attend is {may_attend.dtype}; it must be boolean, True where a query may read"
            )
        if memory is None:
            q, k, v = self._project_all(x, cache)
        else:
            q = self.q(self._project_queries(x))
            k, v = memory if isinstance(memory, KeysValues) else self.keys_values(memory)
        k, v = self.k(k), self.v(v)
        if self._must_be_explicit(q, k):
            heads = self._explicit(q, k, v, may_attend, bias)
        else:
            heads = fused_attention(q, k, v, may_attend, bias, self.scale)
        return self.output(self.w_o(merge_heads(self.heads(heads))))

    def keys_values(self, memory: Float[Tensor, "B S D"]) -> KeysValues:
        """Project a memory once, to be read at many steps."""
        k, v = F.linear(memory, *self._weights_of(1)).chunk(2, dim=-1)
        return KeysValues(split_heads(k, self.n_kv_heads), split_heads(v, self.n_kv_heads))

    def _project_queries(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B H T K"]:
        return split_heads(F.linear(x, *self._weights_of(0)), self.n_heads)

    def _weights_of(self, part: int) -> tuple[Tensor, Tensor | None]:
        """Weight and bias that make the queries (0), or keys and values together (1)."""
        n_q, n_k, n_v = self._rows
        parts = [n_q, n_k + n_v]
        bias = None if self.b_qkv is None else self.b_qkv.split(parts)[part]
        return self.w_qkv.split(parts)[part], bias

    def _project_all(
        self, x: Float[Tensor, "B T D"], cache: KeyValueCache | None
    ) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B G S K"], Float[Tensor, "B G S K"]]:
        """Make Q, K and V of `x` in one product; K and V join the earlier ones."""
        n_heads = [self.n_heads, self.n_kv_heads, self.n_kv_heads]
        all_heads = split_heads(F.linear(x, self.w_qkv, self.b_qkv), sum(n_heads))
        q, k, v = all_heads.split(n_heads, dim=1)
        if self.rotary is not None:  # queries and keys are turned alike, and so together
            offset = 0 if cache is None else cache.length
            turned = self.rotary(all_heads[:, : -self.n_kv_heads], offset)
            q, k = turned.split(n_heads[:2], dim=1)
        if cache is not None:
            k, v = cache.append(k, v)
        return self.q(q), k, v

    def _must_be_explicit(self, q: Tensor, k: Tensor) -> bool:
        """Whether to form the weights: somebody looks at them, or it is faster."""
        if anybody_listens() and any(
            t.is_watched for t in (self.scores, self.scaled, self.masked, self.weights)
        ):
            return True
        if self.training and self.dropout.p > 0:
            return True
        return not is_fused_faster(q, k)

    def _explicit(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B G S K"],
        v: Float[Tensor, "B G S K"],
        may_attend: Bool[Tensor, "#B 1 #T S"] | None,
        bias: Float[Tensor, "#B H #T S"] | None,
    ) -> Float[Tensor, "B H T K"]:
        """Equation 1 step by step, each step observable."""
        scores = self.scores(attention_scores(q, k))
        scaled = self.scaled(scores * self.scale)
        forbidden = attention_bias(may_attend, bias, scaled.dtype)
        masked = self.masked(scaled if forbidden is None else scaled + forbidden)
        weights = self.weights(attention_weights(masked, may_attend))
        return weighted_values(self.dropout(weights), v)


def attention_scores(
    q: Float[Tensor, "B H T K"], k: Float[Tensor, "B G S K"]
) -> Float[Tensor, "B H T S"]:
    """Q Kᵀ. The query heads of one group are stacked, so that the shared keys are not copied."""
    B, H, T, K = q.shape
    grouped = q.reshape(B, k.shape[1], -1, K)
    return torch.matmul(grouped, k.transpose(-2, -1)).view(B, H, T, -1)


def attention_bias(
    may_attend: Bool[Tensor, "#B 1 #T S"] | None,
    bias: Float[Tensor, "#B H #T S"] | None,
    dtype: torch.dtype,
) -> Float[Tensor, "#B #H #T S"] | None:
    """What is added to the scaled scores: −∞ where a query may not read, else the bias.

    A query that may read nothing gets no −∞ here (softmax would give NaN, and so would its
    gradient); `attention_weights` sets its weights to zero.
    """
    if may_attend is None:
        return None if bias is None else bias.to(dtype)
    reads_something = may_attend.any(-1, keepdim=True)
    forbidden = ~may_attend if reads_something.all() else ~may_attend & reads_something
    start = (
        torch.zeros((), dtype=dtype, device=may_attend.device) if bias is None else bias.to(dtype)
    )
    return start.masked_fill(forbidden, float("-inf"))


def attention_weights(
    masked: Float[Tensor, "B H T S"], may_attend: Bool[Tensor, "#B 1 #T S"] | None = None
) -> Float[Tensor, "B H T S"]:
    """softmax over the keys; a query that may read nothing gets zeros."""
    weights = masked.softmax(dim=-1)
    if may_attend is None:
        return weights
    reads_something = may_attend.any(-1, keepdim=True)
    return weights if reads_something.all() else weights * reads_something.to(weights.dtype)


def weighted_values(
    weights: Float[Tensor, "B H T S"], v: Float[Tensor, "B G S K"]
) -> Float[Tensor, "B H T K"]:
    """Sum the values with these weights; the heads of a group read the same values."""
    B, H, T, S = weights.shape
    return torch.matmul(weights.reshape(B, v.shape[1], -1, S), v).view(B, H, T, -1)


def fused_attention(
    q: Float[Tensor, "B H T K"],
    k: Float[Tensor, "B G S K"],
    v: Float[Tensor, "B G S K"],
    may_attend: Bool[Tensor, "#B 1 #T S"] | None,
    bias: Float[Tensor, "#B H #T S"] | None,
    scale: float,
) -> Float[Tensor, "B H T K"]:
    """Equation 1 in torch's fused kernel, which never forms the weights."""
    allowed = may_attend
    if bias is not None:
        allowed = attention_bias(may_attend, bias, q.dtype)
    is_grouped = q.shape[1] != k.shape[1]
    heads = F.scaled_dot_product_attention(
        q, k, v, attn_mask=allowed, scale=scale, enable_gqa=is_grouped
    )
    if may_attend is not None and bias is not None:
        heads = heads * may_attend.any(-1, keepdim=True).to(heads.dtype)
    return heads


def is_fused_faster(q: Float[Tensor, "B H T K"], k: Float[Tensor, "B G S K"]) -> bool:
    """Whether `fused_attention` is faster here than plain products."""
    if q.device.type != "cpu" or q.numel() <= _FEW_NUMBERS:
        return True
    has_gradients = torch.is_grad_enabled() and (q.requires_grad or k.requires_grad)
    return k.shape[-2] >= (_MANY_KEYS_WITH_GRADIENTS if has_gradients else _MANY_KEYS)


def split_heads(x: Float[Tensor, "B T HK"], n_heads: int) -> Float[Tensor, "B H T K"]:
    """Cut the width into heads, and bring the head axis forward."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def merge_heads(x: Float[Tensor, "B H T K"]) -> Float[Tensor, "B T HK"]:
    """Undo `split_heads`: Concat(head_1, …, head_H)."""
    return x.transpose(1, 2).flatten(-2)
