"""What the doctor says of data of any kind: what is wrong where, and whether to train on it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

__all__ = ["Effect", "Finding", "Kinds", "Report", "describe_labels", "list_findings"]

Effect = Literal["dropped", "noted"]

Kinds = Mapping[str, tuple[Effect, str]]
"""Kind of finding → what happens to the entry, and what it means, in the order of telling."""

N_LABELS_TOLD = 12
UNEVEN = 10
"""Labels are uneven if one has so many times the entries of another."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One kind of trouble: how often, where first, and what is done about it."""

    kind: str
    meaning: str
    effect: Effect
    count: int
    share: float
    places: tuple[int | str, ...]
    """The first of them: numbers of lines or questions, or names of files."""

    def where(self, place: str = "line") -> str:
        """The first places: `line 3`, `lines 3, 8, 9 …` or `a.txt, b.txt`."""
        text = ", ".join(map(str, self.places))  # a comma inside a number would confuse
        more = " …" if self.count > len(self.places) else ""
        is_numbered = any(isinstance(each, int) for each in self.places)
        return f"{place}{'s' * (self.count > 1)} {text}{more}" if is_numbered else f"{text}{more}"


def list_findings(
    kinds: Kinds,
    counts: Mapping[str, int],
    places: Mapping[str, Sequence[int | str]],
    n_read: int,
) -> tuple[Finding, ...]:
    """The kinds that were met."""
    return tuple(
        Finding(
            kind=kind,
            meaning=meaning,
            effect=effect,
            count=counts[kind],
            share=counts[kind] / max(1, n_read),
            places=tuple(places[kind]),
        )
        for kind, (effect, meaning) in kinds.items()
        if counts.get(kind)
    )


@dataclass(frozen=True, kw_only=True)
class Report:
    """The doctor's report. `n_read` is `n_kept` and all that was dropped; `fatal` are sentences."""

    paths: tuple[str, ...]
    assumed: tuple[str, ...]
    n_read: int
    n_kept: int
    findings: tuple[Finding, ...]
    fatal: tuple[str, ...]
    unit: str
    """What is counted, in the plural."""

    place: ClassVar[str] = "line"
    """What the numbers of findings count."""

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
        return f"fit for training: {self.remains()}"

    def remains(self) -> str:
        """What there is to learn from."""
        return f"{self.n_kept:,} {self.unit} remain of {self.n_read:,}"

    def notes(self) -> list[str]:
        """More that is worth knowing before training."""
        return []

    def to_dict(self) -> dict[str, Any]:
        """Plain nested data, ready for JSON."""
        return {**asdict(self), "n_dropped": self.n_dropped, "is_fatal": self.is_fatal}

    def lines(self) -> list[str]:
        """The report as plain lines, for logs; the verdict is the last."""
        findings = [
            f"{found.effect} {found.count:,} ({found.share:.1%}): {found.meaning}, "
            f"{found.where(self.place)}"
            for found in self.findings
        ]
        return [*self.assumed, *self.notes(), *findings, self.verdict]


def describe_labels(labels: Mapping[str, int], unit: str) -> list[str]:
    """How many texts or pictures each label has, and whether that is uneven."""
    if not labels:
        return []
    ranked = sorted(labels.items(), key=lambda entry: -entry[1])
    told = ", ".join(f"{label} ({n:,})" for label, n in ranked[:N_LABELS_TOLD])
    more = f" and {len(ranked) - N_LABELS_TOLD:,} more" if len(ranked) > N_LABELS_TOLD else ""
    lines = [f"labels: {told}{more}"]
    (most, n_most), (least, n_least) = ranked[0], ranked[-1]
    if n_most >= UNEVEN * n_least:
        lines.append(
            f"uneven labels: {most} has {n_most / n_least:.0f} times as many {unit} as {least}; "
            "macro-F1 tells more than accuracy"
        )
    return lines
