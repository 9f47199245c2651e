"""The data doctor: looks at every pair once, drops what would harm, and tells of all of it.

`examine` and `clean` walk the same way through the file, so that the report counts exactly what
training will not see. Texts are not held: what was met before is known by its fingerprint.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from statistics import median

from clearhead.data.fingerprints import Fingerprints, fingerprint, fingerprint_pair, normalise
from clearhead.data.pair_report import KINDS, REPEATS, Limits, PairReport
from clearhead.data.pairs import Pair, PairFile, Tally
from clearhead.data.report import list_findings
from clearhead.data.scripts import LANGUAGE_SCRIPTS, count_scripts, has_share, main_script
from clearhead.text.normal import language_of

__all__ = ["clean", "examine"]

N_SAMPLE = 5000
SHORT = 10  # characters added to both lengths: short texts vary more in length than long ones
MIN_LETTERS = 4  # a name or an abbreviation may be in any script

WORD = re.compile(r"[^\s\d!-/:-@\[-`{-~]+")  # not \w, which leaves out vowel signs
CONTROL = re.compile("[\x01-\x08\x0e-\x1f\x7f-\x9f]")


def examine(
    pairs: PairFile,
    *,
    test: Iterable[Pair] | None = None,
    limits: Limits = Limits(),  # noqa: B008
) -> PairReport:
    """Look at all pairs and report; `test` are pairs that training must not see."""
    visit = _Visit(pairs, test, limits)
    lengths = [0, 0]
    for pair in visit:
        lengths[0] += len(pair.source)
        lengths[1] += len(pair.target)
    n_kept = len(visit.pairs_seen)
    tally = visit.tally
    dropped = {kind: n for kind, n in tally.counts.items() if KINDS[kind][0] == "dropped"}
    n_read = n_kept + sum(dropped.values())
    return PairReport(
        paths=tuple(map(str, pairs.paths)),
        names=pairs.names,
        assumed=pairs.assumed,
        n_read=n_read,
        n_kept=n_kept,
        n_sources=len(visit.sources_seen),
        scripts=visit.scripts,
        mean_lengths=(lengths[0] / max(1, n_kept), lengths[1] / max(1, n_kept)),
        findings=list_findings(KINDS, tally.counts, tally.lines, n_read),
        fatal=tuple(_fatal(pairs.names, visit.scripts, n_kept, dropped, limits)),
    )


def clean(
    pairs: PairFile,
    *,
    test: Iterable[Pair] | None = None,
    limits: Limits = Limits(),  # noqa: B008
) -> Iterator[Pair]:
    """The pairs that training will use, in order, with even spaces and composed letters."""
    return iter(_Visit(pairs, test, limits))


def _fatal(
    names: tuple[str, str],
    scripts: tuple[str | None, str | None],
    n_kept: int,
    dropped: dict[str, int],
    limits: Limits,
) -> Iterator[str]:
    """What speaks against training at all, each as a part of a sentence."""
    usual = [LANGUAGE_SCRIPTS.get(language_of(name)) for name in names]
    if scripts[0] != scripts[1] and (scripts[1], scripts[0]) == (usual[0], usual[1]):
        yield (
            f"{names[0]} is written in {scripts[0]} and {names[1]} in {scripts[1]}, as if the "
            "names were swapped: correct the header, the file names or --columns"
        )
    unusable = {kind: n for kind, n in dropped.items() if kind not in REPEATS}
    n_unusable = sum(unusable.values())
    if n_unusable > limits.max_unusable * (n_kept + n_unusable):
        worst = max(unusable, key=lambda kind: unusable[kind])
        share = n_unusable / (n_kept + sum(dropped.values()))
        yield f"{share:.0%} of the rows are unusable, most of them because: {KINDS[worst][1]}"
    if n_kept == 0:
        yield "no usable pair remains"
    elif n_kept < limits.min_pairs:
        yield f"only {n_kept} distinct pairs remain, and at least {limits.min_pairs} are needed"


@dataclass
class _Visit:
    """One way through a file: yields the usable pairs and tallies everything else."""

    pairs: PairFile
    test: Iterable[Pair] | None
    limits: Limits
    tally: Tally = field(default_factory=Tally)
    scripts: tuple[str | None, str | None] = (None, None)
    usual_ratio: float = 0.0
    pairs_seen: Fingerprints = field(default_factory=Fingerprints)
    sources_seen: Fingerprints = field(default_factory=Fingerprints)
    targets_seen: Fingerprints = field(default_factory=Fingerprints)
    test_pairs: Fingerprints = field(default_factory=Fingerprints)
    test_sources: Fingerprints = field(default_factory=Fingerprints)

    def __iter__(self) -> Iterator[Pair]:
        for pair in self.test or ():
            of_source = fingerprint(normalise(pair.source))
            of_target = fingerprint(normalise(pair.target))
            self.test_sources.add(of_source)
            self.test_pairs.add(fingerprint_pair(of_source, of_target))
        stream = self.pairs.read(self.tally)
        sample = list(islice(stream, N_SAMPLE))
        self._look_at(sample)
        for line, raw_source, raw_target in chain(sample, stream):
            source, target = normalise(raw_source), normalise(raw_target)
            fault = self._fault(source, target) or self._repeat(line, source, target)
            if fault:
                self.tally.add(fault, line)
            else:
                yield Pair(line, source, target)

    def _look_at(self, sample: list[Pair]) -> None:
        """Learn from the first pairs what is usual in this file."""
        sources = [normalise(pair.source) for pair in sample]
        targets = [normalise(pair.target) for pair in sample]
        self.scripts = main_script(sources), main_script(targets)
        ratios = [_ratio(s, t) for s, t in zip(sources, targets, strict=True) if s and t]
        self.usual_ratio = median(ratios) if ratios else 0.0

    def _fault(self, source: str, target: str) -> str | None:
        """What is wrong with a pair taken by itself."""
        if not source or not target:
            return "blank"
        if not (source.isprintable() and target.isprintable()):  # quick, and nearly always enough
            if "\0" in source or "\0" in target:
                return "nul"
            if CONTROL.search(source) or CONTROL.search(target):
                return "control"
        if "\ufffd" in source or "\ufffd" in target:
            return "undecodable"
        if source == target and self.limits.drop_identical and any(map(str.isalpha, source)):
            return "identical"
        if len(source) > self.limits.max_length or len(target) > self.limits.max_length:
            return "long"
        if self.limits.must_shorten and len(target) >= len(source):
            return "longer"
        if abs(_ratio(source, target) - self.usual_ratio) > math.log(self.limits.max_ratio):
            return "ratio"
        if self._is_other_script(source, self.scripts[0], target):
            return "script"
        return "script" if self._is_other_script(target, self.scripts[1], source) else None

    def _is_other_script(self, text: str, script: str | None, other: str) -> bool:
        if script is None or (script == "Latin" and text.isascii()):
            return False
        if has_share(text, script, self.limits.min_script_share) or not self._lacks(text, script):
            return False
        # Names and code stay as they are in a translation: what both sides have does not count.
        shared = set(WORD.findall(other))
        return self._lacks(" ".join(w for w in WORD.findall(text) if w not in shared), script)

    def _lacks(self, text: str, script: str) -> bool:
        counts = count_scripts(text)
        n_letters = counts.total()
        own = counts[script]
        return n_letters >= MIN_LETTERS and own < self.limits.min_script_share * n_letters

    def _repeat(self, line: int, source: str, target: str) -> str | None:
        """Whether a pair, or its source, was met before."""
        of_source, of_target = fingerprint(source), fingerprint(target)
        of_pair = fingerprint_pair(of_source, of_target)
        if self.test is not None:
            if of_pair in self.test_pairs:
                return "leaked pair"
            if of_source in self.test_sources:
                return "leaked source"
        if not self.pairs_seen.add(of_pair):
            return "duplicate"
        if not self.sources_seen.add(of_source):
            self.tally.add("one to many", line)
        if not self.targets_seen.add(of_target):
            self.tally.add("many to one", line)
        return None


def _ratio(source: str, target: str) -> float:
    """How much longer the source is, on a scale on which twice and half are equally far."""
    return math.log((len(source) + SHORT) / (len(target) + SHORT))
