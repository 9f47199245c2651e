"""What a usable pair is, what can be wrong with one, and what the doctor says of a file of them."""

from dataclasses import dataclass
from typing import Final

from clearhead.config import Config
from clearhead.data.report import Kinds, Report
from clearhead.errors import ConfigError

__all__ = ["KINDS", "REPEATS", "Limits", "PairReport"]

KINDS: Final[Kinds] = {
    "fuzzy": ("dropped", "translations marked as fuzzy"),
    "untranslated": ("dropped", "messages without a translation"),
    "incomplete": ("dropped", "units without both languages"),
    "blank": ("dropped", "a side is blank"),
    "nul": ("dropped", "NUL characters"),
    "control": ("dropped", "control characters"),
    "undecodable": ("dropped", "bytes that cannot be decoded"),
    "identical": ("dropped", "source and target are identical"),
    "long": ("dropped", "over-long"),
    "longer": ("dropped", "the target is not shorter than the source"),
    "ratio": ("dropped", "lengths of the sides do not fit"),
    "script": ("dropped", "mostly in another script than the column"),
    "leaked pair": ("dropped", "pair is also in the test file"),
    "leaked source": ("dropped", "source is also in the test file"),
    "duplicate": ("dropped", "duplicate of an earlier pair"),
    "ragged": ("noted", "row has more or fewer cells than usual"),
    "one to many": ("noted", "source came before with another target"),
    "many to one": ("noted", "target came before with another source"),
}
"""Kind of finding → what happens to the pair, and what it means. A dropped pair has one kind."""

REPEATS = ("fuzzy", "untranslated", "incomplete", "leaked pair", "leaked source", "duplicate")
"""Kinds that say nothing against the quality of a file."""


@dataclass(frozen=True, kw_only=True)
class Limits(Config):
    """What a usable pair is. Lengths are in characters, after spaces are evened out."""

    max_length: int = 2000
    max_ratio: float = 3.0
    """How far the ratio of a pair's lengths may be from the usual ratio of the file."""
    min_script_share: float = 0.3
    """How much of a side's letters must be in the column's own script."""
    drop_identical: bool = True
    must_shorten: bool = False
    """Whether a target has to be shorter than its source, as a summary is."""
    min_pairs: int = 100
    max_unusable: float = 0.5

    def __post_init__(self) -> None:
        """Refuse limits that no pair could meet."""
        super().__post_init__()
        if self.max_length < 1:
            raise ConfigError(f"max_length={self.max_length} must be at least 1")
        if not self.max_ratio > 1:
            raise ConfigError(f"max_ratio={self.max_ratio} must be greater than 1")
        for name in ("min_script_share", "max_unusable"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be from 0 to 1")


@dataclass(frozen=True, kw_only=True)
class PairReport(Report):
    """What was found in pairs."""

    names: tuple[str, str]
    n_sources: int
    scripts: tuple[str | None, str | None]
    mean_lengths: tuple[float, float]
    unit: str = "pairs"

    def remains(self) -> str:
        """How many pairs, and how many sources."""
        return (
            f"{self.n_kept:,} distinct pairs remain of {self.n_read:,}, "
            f"with {self.n_sources:,} different sources"
        )

    def notes(self) -> list[str]:
        """How much was read, and how long the sides are."""
        source, target = self.mean_lengths
        return [
            f"read: {self.n_read:,} entries, on average {source:.0f} → {target:.0f} characters in "
            "what is kept"
        ]
