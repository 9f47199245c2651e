"""From texts with summaries to a summariser: a run on pairs, with other limits and scores."""

from pathlib import Path
from typing import Any, Final, cast

from clearhead.data import PairFile
from clearhead.data.summaries import SUMMARY_LIMITS
from clearhead.tasks.pair_task import PairTask
from clearhead.tasks.summarise.evaluate import evaluate_summaries
from clearhead.tasks.summarise.plan import SummaryPlan, make_summary_plan
from clearhead.tasks.summarise.rouge import score_summaries
from clearhead.tasks.summarise.summariser import Summariser
from clearhead.tasks.train import train

__all__ = ["SUMMARISE", "train_summariser"]

SUMMARISE: Final = PairTask(
    "summarise",
    Summariser,
    SummaryPlan,
    make_summary_plan,
    lambda answers, references: score_summaries(answers, references)[-1],  # ROUGE-L
    evaluate_summaries,
    SUMMARY_LIMITS,
    is_shortening=True,
)


def train_summariser(pairs: PairFile, to: Path, **options: Any) -> Summariser:
    """Train a summariser and write it to a folder; the options are those of `tasks.train.train`."""
    return cast(Summariser, train(pairs, to, task=SUMMARISE, **options))
