"""Span corruption: a text with gaps, and what stood in them (Raffel et al. 2020, §3.1.4).

    tokens   Thank you for inviting me to your party last week
    source   Thank you <a> me to your party <b> week
    target   <a> for inviting <b> last <c>

<a>, <b>, … are sentinels: tokens of the vocabulary that no text has. Their ids go down from the
first, as T5 has them. A model that learns to write the target learns from text alone.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clearhead.errors import ConfigError, InputError

__all__ = ["corrupt_spans", "put_spans_back"]


def corrupt_spans(
    tokens: Sequence[int],
    random: np.random.Generator,
    *,
    first_sentinel: int,
    noise: float = 0.15,
    mean_span: float = 3.0,
) -> tuple[list[int], list[int]]:
    """Take spans of tokens out, about a share `noise` of all; return source and target.

    Every way to cut the text into so many spans, with at least one token between two, is equally
    probable. No mark of the end is added.

    >>> corrupt_spans(range(1, 9), np.random.default_rng(0), first_sentinel=99, noise=0.4)
    ([1, 2, 3, 4, 5, 99], [99, 6, 7, 8, 98])
    """
    if not 0 < noise < 1 or mean_span < 1:
        raise ConfigError(
            f"noise={noise} must be above 0 and below 1, and mean_span={mean_span} at least 1"
        )
    n = len(tokens)
    if n < 2:
        raise InputError(f"a text of {n} tokens is too short to be cut: it needs 2")
    n_noise = min(max(round(n * noise), 1), n - 1)
    n_spans = min(max(round(n_noise / mean_span), 1), n - n_noise)
    if first_sentinel - n_spans < 0:
        raise ConfigError(f"first_sentinel={first_sentinel} leaves no ids for {n_spans} spans")
    if any(first_sentinel - n_spans <= token <= first_sentinel for token in tokens):
        raise InputError(f"a token is a sentinel: {first_sentinel - n_spans} to {first_sentinel}")
    source: list[int] = []
    target: list[int] = []
    begin = 0
    lengths = zip(
        _parts(n - n_noise, n_spans, random), _parts(n_noise, n_spans, random), strict=True
    )
    for number, (n_kept, n_taken) in enumerate(lengths):
        middle, end = begin + n_kept, begin + n_kept + n_taken
        source += [*tokens[begin:middle], first_sentinel - number]
        target += [first_sentinel - number, *tokens[middle:end]]
        begin = end
    return source, [*target, first_sentinel - n_spans]


def put_spans_back(source: Sequence[int], target: Sequence[int], first_sentinel: int) -> list[int]:
    """Undo `corrupt_spans`: fill the gaps of the source with what the target says.

    >>> put_spans_back([1, 2, 3, 4, 5, 99], [99, 6, 7, 8, 98], first_sentinel=99)
    [1, 2, 3, 4, 5, 6, 7, 8]
    """
    spans: list[list[int]] = []
    for token in target:
        if token == first_sentinel - len(spans):
            spans.append([])
        elif spans:
            spans[-1].append(token)
    tokens: list[int] = []
    n_gaps = 0
    for token in source:
        if token == first_sentinel - n_gaps:
            tokens += spans[n_gaps] if n_gaps < len(spans) else []
            n_gaps += 1
        else:
            tokens.append(token)
    return tokens


def _parts(n: int, n_parts: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Lengths of `n_parts` parts, each at least 1, that make up n; all ways equally probable."""
    cuts = np.sort(random.choice(n - 1, n_parts - 1, replace=False)) + 1
    return np.diff(cuts, prepend=0, append=n)
