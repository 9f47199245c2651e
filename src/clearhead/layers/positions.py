"""Positions: attention alone does not know the order of words, so it must be told.

    PE(pos, 2i)     = sin(pos / 10000^(2i/d_model))             Vaswani et al. 2017, §3.5
    PE(pos, 2i + 1) = cos(pos / 10000^(2i/d_model))

Sinusoidal and learned positions are added to the embeddings; rotary positions turn the queries and
keys; relative positions and ALiBi add a bias to the scores.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from clearhead.errors import ConfigError, InputError
from clearhead.layers.tap import Tap

__all__ = [
    "Alibi",
    "LearnedPositions",
    "RelativeBias",
    "Rotary",
    "RowPositions",
    "SinusoidalPositions",
    "plane_waves",
    "sinusoids",
]


def sinusoids(n_positions: int, d_model: int, *, sines_first: bool = False) -> Float[Tensor, "T D"]:
    """PE for the positions 0, 1, …, n_positions − 1; sine and cosine in turn, or all sines first.

    >>> sinusoids(2, 6)[0].tolist()
    [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]
    >>> sinusoids(2, 6, sines_first=True)[0].tolist()
    [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    """
    # In double precision: for large pos the angle itself needs more digits than a float has.
    pos = torch.arange(n_positions, dtype=torch.float64)[:, None]
    two_i = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = pos / 10000 ** (two_i / d_model)
    waves = [angle.sin(), angle.cos()]
    table = torch.cat(waves, -1) if sines_first else torch.stack(waves, -1).flatten(-2)
    return table[:, :d_model].float()


def plane_waves(n_rows: int, n_columns: int, d_model: int) -> Float[Tensor, "T D"]:
    """Waves over a plane, row by row: a half of the width for the row, a half for the column.

    The longest goes over twice the plane, the shortest over two positions. What stands side by side
    has similar vectors, as with `sinusoids` in a row.

    >>> plane_waves(7, 7, 96).shape
    torch.Size([49, 96])
    """
    halves = []
    for n in (n_rows, n_columns):
        n_waves = -(-d_model // 4)
        speeds = math.pi * torch.logspace(math.log2(1 / n), 0, n_waves, 2.0)
        angle = torch.arange(n)[:, None] * speeds
        halves.append(torch.cat([angle.sin(), angle.cos()], -1)[:, : -(-d_model // 2)])
    rows = halves[0][:, None].expand(-1, n_columns, -1)
    columns = halves[1][None].expand(n_rows, -1, -1)
    return torch.cat([rows, columns], -1).flatten(0, 1)[:, :d_model]


class SinusoidalPositions(nn.Module):
    """Fixed positions, computed once and extended on demand to any length."""

    table: Float[Tensor, "T D"]

    def __init__(self, d_model: int, *, sines_first: bool = False) -> None:
        super().__init__()
        self.d_model, self.sines_first = d_model, sines_first
        self.register_buffer("table", self._make(256), persistent=False)
        self.vectors = Tap("T D")

    def forward(self, n_positions: int, offset: int = 0) -> Float[Tensor, "T D"]:
        """Return the vectors of `n_positions` positions from `offset` on."""
        end = offset + n_positions
        if end > len(self.table):
            with torch.inference_mode(False):  # what is made here may be used in training later
                longer = self._make(max(end, 2 * len(self.table)))
                self.table = longer.to(self.table.device, self.table.dtype)
        return self.vectors(self.table[offset:end])

    def _make(self, n_positions: int) -> Float[Tensor, "T D"]:
        return sinusoids(n_positions, self.d_model, sines_first=self.sines_first)


class LearnedPositions(nn.Module):
    """One learned vector for each position up to `max_length`."""

    def __init__(self, max_length: int, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(max_length, d_model))
        nn.init.normal_(self.weight, std=0.02)
        self.vectors = Tap("T D")

    def forward(self, n_positions: int, offset: int = 0) -> Float[Tensor, "T D"]:
        """Return the vectors of `n_positions` positions from `offset` on."""
        end = offset + n_positions
        if end > len(self.weight):
            raise InputError(
                f"length {end} is longer than the {len(self.weight)} positions this model has "
                f"learned; shorten the input, or use sinusoidal positions"
            )
        return self.vectors(self.weight[offset:end])


class RowPositions(nn.Module):
    """One learned vector for each position, for rows that need not begin together.

    A decoder by itself has padding before its texts: each row counts from its first token.
    """

    def __init__(self, n_positions: int, d_model: int) -> None:
        super().__init__()
        if min(n_positions, d_model) < 1:
            raise ConfigError(f"n_positions={n_positions} and d_model={d_model} must be at least 1")
        self.weight = nn.Parameter(torch.empty(n_positions, d_model))
        nn.init.normal_(self.weight, std=0.02)
        self.vectors = Tap("B T D")

    def forward(self, places: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """Look the places up; those below 0 hold padding, and get any vector."""
        n_needed = int(places.max()) + 1
        if n_needed > len(self.weight):
            raise InputError(
                f"a text of {n_needed} tokens is longer than the {len(self.weight)} positions this "
                f"model has learned; shorten it"
            )
        return self.vectors(F.embedding(places.clamp(min=0), self.weight))


class Rotary(nn.Module):
    """Rotary positions: turn each pair of numbers of a query or key by an angle pos · θ_i.

        θ_i = base^(−2i/d_head)                                 Su et al. 2021, eq. 15

    A score then depends only on the distance of the two positions. A larger `base`, or `stretch`
    (positions are divided by it), fits a model to longer texts than it was trained on.
    Departs: the pairs are (i, i + d_head/2), the layout of Llama, not neighbours.
    """

    def __init__(self, d_head: int, base: float = 10000.0, stretch: float = 1.0) -> None:
        super().__init__()
        self.d_head = d_head
        if d_head % 2:
            raise ConfigError(f"d_head={d_head} must be even for rotary positions")
        exponent = torch.arange(0, d_head, 2, dtype=torch.float64) / d_head
        # Not a buffer: in bfloat16 the angles of far positions would be wrong.
        self.angles = base**-exponent / stretch
        self._turns = torch.empty(2, 0, d_head)

    def forward(self, x: Float[Tensor, "B H T K"], offset: int = 0) -> Float[Tensor, "B H T K"]:
        """Turn `x`, whose first position is `offset`."""
        end = offset + x.shape[-2]
        if end > self._turns.shape[1]:
            n_positions = max(end, 256, 2 * self._turns.shape[1])
            with torch.inference_mode(False):  # what is made here may be used in training later
                turn = torch.arange(n_positions, dtype=torch.float64)[:, None] * self.angles
                cos, sin = turn.cos(), turn.sin()
                both = [torch.cat([cos, cos], dim=-1), torch.cat([-sin, sin], dim=-1)]
                self._turns = torch.stack(both).float()
        if self._turns.device != x.device:
            self._turns = self._turns.to(x.device)
        cos, sin = self._turns[:, offset:end].to(x.dtype)
        return torch.addcmul(x * cos, x.roll(self.d_head // 2, dims=-1), sin)


class RelativeBias(nn.Module):
    """T5's relative positions: a learned bias for each head and distance bucket.

    Near distances have a bucket each; far ones share buckets that grow logarithmically up to
    `max_distance` (Raffel et al. 2020, §2.1).
    """

    def __init__(
        self, n_heads: int, *, n_buckets: int = 32, max_distance: int = 128, both_ways: bool
    ) -> None:
        super().__init__()
        if n_buckets < 4 or n_buckets % 2:
            raise ConfigError(f"n_buckets={n_buckets} must be even and at least 4")
        n_near = n_buckets // 4 if both_ways else n_buckets // 2
        if max_distance <= n_near:
            raise ConfigError(
                f"max_distance={max_distance} must be above {n_near}, the distances that have a "
                f"bucket of their own"
            )
        self.n_buckets, self.max_distance, self.both_ways = n_buckets, max_distance, both_ways
        self.weight = nn.Parameter(torch.empty(n_buckets, n_heads))
        nn.init.normal_(self.weight, std=0.02)
        self.bias = Tap("B H T S")

    def forward(self, n_queries: int, n_keys: int) -> Float[Tensor, "1 H T S"]:
        """Return the bias; the queries are the last positions of the keys."""
        bucket = self.buckets(_distance(n_queries, n_keys, self.weight.device))
        return self.bias(self.weight[bucket].permute(2, 0, 1)[None])

    def buckets(self, distance: Int[Tensor, "T S"]) -> Int[Tensor, "T S"]:
        """Sort distances (key − query) into buckets."""
        n_buckets, first = self.n_buckets, torch.zeros_like(distance)
        if self.both_ways:
            n_buckets //= 2
            first = (distance > 0).long() * n_buckets
            distance = distance.abs()
        else:
            distance = (-distance).clamp(min=0)
        n_near = n_buckets // 2
        growth = torch.log(distance.clamp(min=1).float() / n_near)
        growth = growth / math.log(self.max_distance / n_near) * (n_buckets - n_near)
        far = (n_near + growth.long()).clamp(max=n_buckets - 1)
        return first + torch.where(distance < n_near, distance, far)


class Alibi(nn.Module):
    """ALiBi: each head lowers its scores by a slope times the distance (Press et al. 2022, §3).

    The slopes are 2^(−8/n), 2^(−16/n), … for n heads; when n is not a power of two, the missing
    ones lie between, as in the authors' code.
    """

    def __init__(self, n_heads: int) -> None:
        super().__init__()
        if n_heads < 1:
            raise ConfigError(f"n_heads={n_heads} must be at least 1")
        power = 2 ** math.floor(math.log2(n_heads))
        slopes = [2 ** (-8 * (i + 1) / power) for i in range(power)]
        slopes += [2 ** (-4 * (2 * i + 1) / power) for i in range(n_heads - power)]
        self.slopes = tuple(slopes)  # not a buffer: in bfloat16, far distances would all be one
        self.bias = Tap("B H T S")

    def forward(
        self, n_queries: int, n_keys: int, device: torch.device | None = None
    ) -> Float[Tensor, "1 H T S"]:
        """Return the bias; the queries are the last positions of the keys."""
        distance = _distance(n_queries, n_keys, device).abs()
        slopes = torch.tensor(self.slopes, device=device)
        return self.bias(-slopes[None, :, None, None] * distance)


def _distance(n_queries: int, n_keys: int, device: torch.device | None) -> Int[Tensor, "T S"]:
    """Key position − query position, where the queries are the last positions."""
    queries = torch.arange(n_keys - n_queries, n_keys, device=device)
    return torch.arange(n_keys, device=device) - queries[:, None]
