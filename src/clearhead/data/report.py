"""What the doctor found: how many pairs, what is wrong with which, and whether to train at all."""

from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from clearhead.config import Config
from clearhead.errors import ConfigError

__all__ = ["KINDS", "REPEATS", "Effect", "Finding", "Limits", "Report", "describe_lines"]

Effect = Literal["dropped", "noted"]

KINDS: Final[dict[str, tuple[Effect, str]]] = {
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
class Finding:
    """One kind of trouble: how often, on which lines first, and what is done about it."""

    kind: str
    meaning: str
    effect: Effect
    count: int
    share: float
    lines: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Report:
    """The doctor's report. `n_read` is `n_kept` and all that was dropped; `fatal` are sentences."""

    paths: tuple[str, ...]
    names: tuple[str, str]
    assumed: tuple[str, ...]
    n_read: int
    n_kept: int
    n_sources: int
    scripts: tuple[str | None, str | None]
    mean_lengths: tuple[float, float]
    findings: tuple[Finding, ...]
    fatal: tuple[str, ...]

    @property
    def is_fatal(self) -> bool:
        """Whether this data should not be trained on."""
        return bool(self.fatal)

    @property
    def n_dropped(self) -> int:
        """How many entries training will not see."""
        return self.n_read - self.n_kept

    @property
    def verdict(self) -> str:
        """The result in one line."""
        if self.fatal:
            return "not fit for training: " + "; ".join(self.fatal)
        return (
            f"fit for training: {self.n_kept:,} distinct pairs remain of {self.n_read:,}, "
            f"with {self.n_sources:,} different sources"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain nested data, ready for JSON."""
        return {**asdict(self), "n_dropped": self.n_dropped, "is_fatal": self.is_fatal}

    def lines(self) -> list[str]:
        """The report as plain lines, for logs and for terminals without tables."""
        findings = [
            f"{found.effect} {found.count:,} ({found.share:.1%}): {found.meaning}, "
            f"{describe_lines(found)}"
            for found in self.findings
        ]
        return [*self.assumed, *findings, self.verdict]


def describe_lines(found: Finding) -> str:
    """The first line numbers of a finding: `line 3` or `lines 3, 8, 9 …`."""
    text = ", ".join(map(str, found.lines))  # a comma inside a number would confuse
    more = " …" if found.count > len(found.lines) else ""
    return f"line{'s' * (found.count > 1)} {text}{more}"
