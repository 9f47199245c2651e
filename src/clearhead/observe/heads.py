"""What each head does, over many pairs: where it looks, how decided, what is lost without it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

import torch
from torch import Tensor

from clearhead.errors import InputError
from clearhead.observe.alignment import agreements
from clearhead.observe.edit import edit, zero
from clearhead.observe.forced import Forced
from clearhead.observe.lexicon import Lexicon
from clearhead.observe.watch import watch

__all__ = ["PLACES", "Head", "Kind", "describe_heads", "head_statistics"]

Kind = Literal["encoder", "decoder", "cross"]
_Facts = tuple[float, float, float, float, float, float]
PLACES: Final[dict[Kind, str]] = {
    "encoder": "encoder.blocks.{}.self_attention.weights",
    "decoder": "decoder.blocks.{}.self_attention.weights",
    "cross": "decoder.blocks.{}.cross_attention.weights",
}


@dataclass(frozen=True)
class Head:
    """One head, as means over all queries of all pairs; the end is not a query."""

    kind: Kind
    block: int
    head: int
    entropy: float
    """In nats: 0 if each query reads one key, log n if it reads n keys alike."""
    largest: float
    """The weight of the key that is read most."""
    on_self: float
    on_previous: float
    on_next: float
    """Weights of the key at the query's own position, the one before and the one after."""
    on_end: float
    """The weight of the last key, on which heads rest that have nothing to read."""
    alignment: float | None = None
    """In which share of words it reads most the one that belongs there, by a lexicon."""
    effect: float | None = None
    """How much the mean log-probability of the target falls when the head is switched off."""

    @property
    def point(self) -> str:
        """Where its weights pass."""
        return PLACES[self.kind].format(self.block)


@torch.no_grad()
def head_statistics(
    pairs: Sequence[Forced], *, lexicon: Lexicon | None = None, with_effects: bool = False
) -> list[Head]:
    """All heads of a model, as means over pairs.

    With a lexicon, those of cross-attention have an alignment. With their effects, the pairs are
    run once more for each head.
    """
    if not pairs:
        raise InputError("heads are described on pairs: give at least one")
    model = pairs[0].model
    found: dict[tuple[Kind, int], list[Tensor]] = {}
    points = model.points()
    names: dict[tuple[Kind, int], str] = {
        (kind, block): place.format(block)
        for kind, place in PLACES.items()  # a decoder by itself has one kind
        for block in range(len(points))
        if place.format(block) in points
    }
    for pair in pairs:
        with watch(model, *names.values()) as seen:
            pair.log_probs()
        for key, name in names.items():
            found.setdefault(key, []).append(_facts(seen.steps(name)[0].tensor))
    whole = _mean_log_prob(pairs) if with_effects else 0.0
    aligned = agreements(pairs, lexicon)[0].tolist() if lexicon else None
    heads = []
    for (kind, block), facts in found.items():
        for head, row in enumerate(torch.stack(facts).mean(0).tolist()):
            effect = None
            if with_effects:
                with edit(model, {names[kind, block]: zero(head=head)}):
                    effect = whole - _mean_log_prob(pairs)
            alignment = aligned[block][head] if aligned and kind == "cross" else None
            heads.append(Head(kind, block, head, *cast(_Facts, tuple(row)), alignment, effect))
    return heads


def describe_heads(kind: Kind, tables: Sequence[Tensor]) -> list[Head]:
    """All heads from their weights on one text, a table (head, query, key) for each block."""
    return [
        Head(kind, block, head, *cast(_Facts, tuple(row)))
        for block, weights in enumerate(tables)
        for head, row in enumerate(_facts(weights).tolist())
    ]


def _facts(weights: Tensor) -> Tensor:
    """Of each head (rows) the numbers of `Head`, from its weights (head, query, key)."""
    weights = weights.float()
    rows = weights[:, : max(1, weights.shape[1] - 1)]
    entropy = -(rows * rows.clamp(min=1e-12).log()).sum(-1).mean(-1)
    end = rows[..., -1].mean(-1)
    near = [_diagonal(rows, offset) for offset in (0, -1, 1)]
    return torch.stack([entropy, rows.amax(-1).mean(-1), *near, end], dim=1)


def _diagonal(rows: Tensor, offset: int) -> Tensor:
    """The mean weight at the key that stands `offset` after the query, over all queries."""
    return rows.diagonal(offset, dim1=1, dim2=2).sum(-1) / rows.shape[1]


def _mean_log_prob(pairs: Sequence[Forced]) -> float:
    total = sum(float(pair.log_probs().sum()) for pair in pairs)
    return total / sum(len(pair.target) for pair in pairs)
