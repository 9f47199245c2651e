"""What a training run tells, and what it would look like, for the tests of its display."""

import math
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.cells import cell_len

from clearhead.data import Finding, PairReport
from clearhead.models import TransformerConfig
from clearhead.tasks.plan import Forecast, Plan
from clearhead.tasks.scores import Score
from clearhead.training import Outcome, TrainingConfig

__all__ = [
    "FORECAST",
    "HINDI",
    "REPORT",
    "SAMPLES",
    "events",
    "make_plan",
    "n_cells",
    "step",
    "validation",
]

HINDI = "नीली कमीज़ पहने एक आदमी सीढ़ी पर खड़ा होकर खिड़की साफ़ कर रहा है जबकि दूसरे नीचे से देख रहे हैं।"
SAMPLES = [
    {"source": "How are you?", "reference": "आप कैसे हैं?", "answer": "[bold]आप[/bold] [/] कैसे"},
    {
        "source": "A man stands on a ladder; " * 4 + "that is all.",
        "reference": HINDI,
        "answer": HINDI[:40],
    },
    {"source": "no \x1b[31mred\nand one line", "reference": "日本語" * 30, "answer": ""},
]
REPORT = PairReport(
    paths=("data/en[hi].tsv",),
    names=("en", "hi"),
    assumed=("encoding: UTF-8",),
    n_read=1000,
    n_kept=900,
    n_sources=890,
    scripts=("Latin", "Devanagari"),
    mean_lengths=(32.0, 33.0),
    findings=(
        Finding(
            kind="blank",
            meaning="a side is blank",
            effect="dropped",
            count=100,
            share=0.1,
            places=(3, 8),
        ),
    ),
    fatal=(),
)
FORECAST = Forecast(
    n_parameters=2_612_224,
    n_pairs=9_500,
    n_batches=212,
    n_epochs=38.5,
    padding=0.041,
    tokens_per_second=6123.4,
    seconds=1400.0,
    n_bytes=1_234_000_000,
    reasons=("9,500 pairs fill [tiny]", "float32 is " + "faster here, " * 12),
)
SCORES = [
    Score("BLEU", 33.1, "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.5.1"),
    Score("BLEU of copying the source", 0.25, "nrefs:1|case:lc|version:2.5.1"),
]


def make_plan(n_steps: int = 200) -> Plan:
    """A plan for a tiny model."""
    return Plan(
        n_vocabulary=8000,
        n_batch_tokens=2048,
        model=TransformerConfig.preset("tiny", 7990),
        training=TrainingConfig(n_steps=n_steps, lr=0.0015, warm_up=20, validate_every=50),
    )


def step(number: int, loss: float = 3.0, speed: float = 6000.0) -> dict[str, Any]:
    """The facts of one step."""
    return {
        "step": number,
        "loss": loss,
        "rate": 0.0007,
        "norm": 1.0,
        "tokens_per_second": speed,
        "epoch": number // 100,
    }


def validation(number: int, score: float, loss: float = 2.125) -> dict[str, Any]:
    """The facts of one validation."""
    return {
        "step": number,
        "score": score,
        "bleu": score,
        "loss": loss,
        "samples": SAMPLES,
        "seconds": 12.2,
    }


def events(n_steps: int = 200) -> Iterator[tuple[str, dict[str, Any]]]:
    """All that a run tells, in its order."""
    yield "report", {"report": REPORT}
    yield "tokenizer", {"n_pairs": 9500, "n_tokens": 8000}
    yield "probe", {"name": "128 wide"}
    yield "plan", {"plan": make_plan(n_steps), "forecast": FORECAST}
    yield "resume", {"step": 0, "n_steps": n_steps, "best_score": -math.inf, "best_step": 0}
    scores = iter([12.5, 31.25, 30.5, 33.0])
    for number in range(1, n_steps + 1):
        if number == 70:
            yield "skipped", {"step": number, "loss": math.nan, "norm": math.inf}
        yield "step", step(number, math.nan if number == 70 else 9 * number**-0.3)
        if number % (n_steps // 4) == 0:
            yield "validation", validation(number, next(scores))
    yield "end", {"step": n_steps, "reason": f"{n_steps} steps are done"}
    outcome = Outcome(n_steps, n_steps, 33.0, "done", 1432.0)
    folder = Path("models/en hi[1]")
    yield (
        "scores",
        {
            "scores": SCORES,
            "outcome": outcome,
            "folder": folder,
            "report": folder / "report.html",
        },
    )


def n_cells(line: str) -> int:
    """The width of a line where vowel signs take a cell, as they do in some terminals."""
    return sum(
        0 if unicodedata.category(c) in ("Mn", "Me") else max(1, cell_len(c)) for c in line.rstrip()
    )
