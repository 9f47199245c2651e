"""The trivial baselines of a text model: how well bytes are guessed from the one or two before."""

import lzma
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["bits_of_ngrams", "bits_of_packing"]

PRIOR = 5.0
"""How many sightings the shorter context is worth."""


def bits_of_ngrams(train: Sequence[str], test: Sequence[str], order: int) -> float:
    """Bits per byte of a model that sees `order` − 1 bytes, mixed with those that see fewer."""
    known, asked = _bytes(train), _bytes(test)
    p: NDArray[np.float64] = np.full(len(asked), 1 / 256)
    for n in range(1, order + 1):
        width = 256**n
        counts = np.bincount(_codes(known, n), minlength=width).astype(np.uint32)
        codes = _codes(asked, n)
        context = counts.reshape(-1, 256).sum(1)[codes // 256]
        # The first bytes have no context of this length: they keep the shorter one.
        p[n - 1 :] = (counts[codes] + PRIOR * p[n - 1 :]) / (context + PRIOR)
    return float(-np.log2(p).mean())


def bits_of_packing(train: Sequence[str], test: Sequence[str]) -> dict[str, float]:
    """Bits per byte of the test texts by gzip alone, and by xz that has read the others before."""
    before, asked = ("\n".join(texts).encode("utf-8", "replace") for texts in (train, test))
    n_bits = 8 / max(1, len(asked))
    alone = len(zlib.compress(asked, 9)) * n_bits
    both = len(lzma.compress(before + asked)) - len(lzma.compress(before))
    return {"gzip": alone, "xz": max(0, both) * n_bits}


def _bytes(texts: Sequence[str]) -> NDArray[np.int64]:
    data = "\n".join(texts).encode("utf-8", "replace")
    return np.frombuffer(data, dtype=np.uint8).astype(np.int64)


def _codes(data: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Each run of n bytes as one number, its last byte the lowest."""
    codes = np.zeros(len(data) - n + 1, dtype=np.int64)
    for i in range(n):
        codes = codes * 256 + data[i : len(data) - n + 1 + i]
    return codes
