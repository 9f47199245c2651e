"""What all runs on plain texts have in common, whatever is learned from them."""

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from clearhead.tasks.folder import ModelFolder, save_folder
from clearhead.tasks.job import AnyPlan, Job, Result, Tell
from clearhead.tasks.report import write_report
from clearhead.tasks.scores import Score
from clearhead.tasks.text_corpus import TextCorpus
from clearhead.text import AnyTokenizer

__all__ = ["TextJob", "keep_text_model"]

P = TypeVar("P", bound=AnyPlan)
B = TypeVar("B")


class TextJob(Job[P, B], ABC):
    """A run on texts, which `prepare` makes one row of tokens."""

    unit = "texts"

    def __init__(self, corpus: TextCorpus) -> None:
        self.corpus, self.n_examples = corpus, len(corpus.train)
        self.tokenizer: AnyTokenizer
        self.tokens: NDArray[np.integer]

    @property
    def fingerprint(self) -> str:
        """Of all texts, and of what is held out."""
        return self.corpus.fingerprint


def keep_text_model(
    task: str,
    job: TextJob[P, B],
    result: Result[P],
    scores: Sequence[Score],
    to: Path,
    tell: Tell,
    more: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Write the folder of a model and its report, tell the scores, and return the card."""
    corpus = job.corpus
    card = {
        "task": task,
        "n_parameters": result.model.n_parameters,
        "data": {**corpus.report.to_dict(), "fingerprint": job.fingerprint},
        "held_out": {
            "validation": sum(map(len, corpus.validation)),
            "test": sum(map(len, corpus.test)),
            "unit": "characters",
        },
        "plan": result.plan.to_dict(),
        "forecast": asdict(result.forecast),
        "training": asdict(result.outcome),
        "scores": [asdict(each) for each in scores],
    }
    save_folder(to, ModelFolder(result.model, job.tokenizer, card))
    report = to / "report.html"
    write_report(report, card, result.journal, [], more)
    tell("scores", {"scores": scores, "outcome": result.outcome, "folder": to, "report": report})
    return card
