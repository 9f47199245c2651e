"""Answers to look at: the best and the worst of a test, and how the others lie between them."""

import math
from collections.abc import Sequence
from statistics import median

from clearhead.tasks.charts import draw_histogram, is_number
from clearhead.tasks.evaluate import Sample
from clearhead.tasks.markup import isolate, pairs, say_share

__all__ = ["best_and_worst", "show_samples"]

N_SAMPLES = 8


def best_and_worst(
    samples: Sequence[Sample], n_samples: int = N_SAMPLES
) -> tuple[list[Sample], list[Sample]]:
    """At most `n_samples` each, none in both, best first and worst first.

    Among equals the longest come first, because they say more; the same samples in another order
    give the same choice.
    """
    ordered = sorted(samples, key=lambda s: (-_chrf(s), *_longest_first(s)))
    n_worst = min(n_samples, len(ordered) // 2)
    best = ordered[: min(n_samples, len(ordered) - n_worst)]
    rest = ordered[len(best) :]
    return best, sorted(rest, key=lambda s: (_chrf(s), *_longest_first(s)))[:n_worst]


def show_samples(samples: Sequence[Sample], languages: tuple[str, str] = ("", "")) -> str:
    """The samples as HTML; `languages` are codes, or empty."""
    if not samples:
        return ""
    title = "chrF of each test sentence"
    histogram = draw_histogram(title, [sample.chrf for sample in samples], unit="chrF")
    text = f'<div class="charts">{histogram}{_counts(samples)}</div>\n'
    for name, some in zip(("Best", "Worst"), best_and_worst(samples), strict=True):
        if some:
            entries = "".join(_entry(sample, languages) for sample in some)
            text += f'<h3>{name} by chrF</h3>\n<div class="samples">{entries}</div>\n'
    return text


def _chrf(sample: Sample) -> float:
    return sample.chrf if is_number(sample.chrf) else -1.0


def _longest_first(sample: Sample) -> tuple[int, str, str, str]:
    return -len(sample.reference), sample.source, sample.reference, sample.answer


def _counts(samples: Sequence[Sample]) -> str:
    known = [sample.chrf for sample in samples if is_number(sample.chrf)]
    n_exact = sum(sample.answer == sample.reference for sample in samples)
    n_empty = sum(not sample.answer.strip() for sample in samples)
    rows = [
        ("test sentences", f"{len(samples):,}"),
        ("exactly the reference", f"{n_exact:,} ({say_share(n_exact / len(samples))})"),
        ("empty answers", f"{n_empty:,} ({say_share(n_empty / len(samples))})"),
    ]
    if known:
        rows.append(("mean chrF", f"{math.fsum(known) / len(known):.1f}"))
        rows.append(("median chrF", f"{median(known):.1f}"))
    return f'<dl class="facts">{pairs(rows)}</dl>'


def _entry(sample: Sample, languages: tuple[str, str]) -> str:
    source, target = languages
    score = f"{sample.chrf:.1f}" if is_number(sample.chrf) else "–"
    nothing = '<i class="unit">empty</i>'
    rows = [
        ("chrF", f"<b>{score}</b>"),
        ("source", isolate(sample.source, source)),
        ("reference", isolate(sample.reference, target)),
        ("answer", isolate(sample.answer, target) if sample.answer.strip() else nothing),
    ]
    return f'<dl class="sample">{pairs(rows)}</dl>\n'
