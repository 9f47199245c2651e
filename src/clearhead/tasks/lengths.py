"""How long the sentences of the training data were, and what follows for those of use."""

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from clearhead.data.shards import Shards, Swapped

__all__ = [
    "describe_lengths",
    "longest_in",
    "longest_target_in",
    "max_length_for",
    "ratio_in",
]

USUAL_LONGEST: Final = 60
"""For the models whose card does not say how long their sentences were."""
SOME: Final = 10
"""So many tokens are always allowed: the lengths of short sentences say little about each other."""


def describe_lengths(
    shards: "Shards | Swapped", n_pairs: int, *, with_targets: bool = False
) -> dict[str, int | float]:
    """Lengths of the first pairs in tokens, for the card; copies in other pieces come after them.

    Of the sources, 95 % are not longer than `p95`, and none than `longest`. Of the targets, 99.9 %
    are not longer than `ratio` times their source and 10 tokens; nor than `target` tokens, which
    is told if it is asked for.
    """
    sources, targets = shards.lengths[:n_pairs, 0], shards.lengths[:n_pairs, 1]
    ratio = np.percentile((targets - SOME) / np.maximum(sources, 1), 99.9)
    described = {
        "p95": int(np.percentile(sources, 95)),
        "longest": int(sources.max()),
        "ratio": round(max(1.0, float(ratio)), 3),
    }
    return described | ({"target": int(np.percentile(targets, 99.9))} if with_targets else {})


def longest_in(card: dict[str, Any], usual: int = USUAL_LONGEST) -> int:
    """The longest source that a model has learned from, in tokens; `usual` if nothing is known.

    >>> longest_in({"data": {"lengths": {"p95": 31, "longest": 44}}}), longest_in({})
    (44, 60)
    """
    return _count(card, "longest") or usual


def longest_target_in(card: dict[str, Any]) -> int | None:
    """The longest target but for a few, in tokens; nothing if the card does not say so."""
    return _count(card, "target")


def ratio_in(card: dict[str, Any]) -> float | None:
    """How many times as long as their sources targets were; nothing if the card does not say so."""
    ratio = _lengths(card).get("ratio")
    return float(ratio) if isinstance(ratio, int | float) and ratio >= 1 else None


def max_length_for(n_source: int, ratio: float | None = None) -> int:
    """The longest answer that is allowed: generous, but an end that never comes is cut off.

    A quarter more than nearly all training pairs have. The search for the best answer ends sooner
    if none can be very long, because a longer one could always be better.

    >>> max_length_for(20, 1.2), max_length_for(20)
    (40, 60)
    """
    return 2 * (n_source + SOME) if ratio is None else math.ceil(1.25 * ratio * n_source) + SOME


def _count(card: dict[str, Any], name: str) -> int | None:
    count = _lengths(card).get(name)
    return count if isinstance(count, int) and count > 0 else None


def _lengths(card: dict[str, Any]) -> dict[str, Any]:
    data = card.get("data")
    lengths = data.get("lengths") if isinstance(data, dict) else None
    return lengths if isinstance(lengths, dict) else {}
