"""Pairs kept away from training, to measure on: chosen by the source, the same in every run."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

from clearhead.config import Config
from clearhead.data.fingerprints import normalise
from clearhead.errors import ConfigError

__all__ = ["Shares", "Side", "shares_for", "side_of"]

Side = Literal["train", "validation", "test"]

LARGEST = 2000
USUAL_SHARE = 0.05
SMALL = 100
SMALL_SHARE = 0.1


@dataclass(frozen=True, kw_only=True)
class Shares(Config):
    """How much of the data is held out, as parts of 1; the rest trains."""

    validation: float
    test: float

    def __post_init__(self) -> None:
        """Both must leave something to train on."""
        super().__post_init__()
        if not (self.validation >= 0 and self.test >= 0 and self.validation + self.test < 1):
            raise ConfigError(
                f"validation={self.validation} and test={self.test} must be at least 0 and "
                "together less than 1"
            )


def shares_for(n_pairs: int) -> Shares:
    """Choose the shares: 5 % each, at most 2,000 pairs; little data gives up to 10 %, 100 pairs.

    >>> shares_for(29_000), shares_for(1_000_000)
    (Shares(validation=0.05, test=0.05), Shares(validation=0.002, test=0.002))
    """
    if n_pairs < 1:
        raise ConfigError(f"{n_pairs} pairs cannot be divided: at least one is needed")
    usual = min(USUAL_SHARE, LARGEST / n_pairs)
    small = min(SMALL_SHARE, SMALL / n_pairs)
    return Shares(validation=max(usual, small), test=max(usual, small))


def side_of(source: str, seed: int, shares: Shares) -> Side:
    """Say where a pair belongs. Only its source matters, so no source is on two sides.

    Capitals and spaces do not count: `Hello there` and `hello  there` stay together.
    """
    text = f"{seed}\n{normalise(source).casefold()}"
    digest = blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    place = int.from_bytes(digest, "little") / 2**64
    if place < shares.test:
        return "test"
    return "validation" if place < shares.test + shares.validation else "train"
