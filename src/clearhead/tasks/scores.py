"""Scores of translations, each with the exact recipe by which it was computed.

BLEU and chrF are sacreBLEU's, with its signature. The older figure of many papers, BLEU on
lower-cased tokens, is given beside them under its own name: the two differ by several points.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from clearhead.errors import InputError

__all__ = ["Score", "score_translations"]


@dataclass(frozen=True)
class Score:
    """A figure, what it is called, and how to get the same one."""

    name: str
    value: float
    signature: str


def score_translations(answers: Sequence[str], references: Sequence[str]) -> list[Score]:
    """Compare answers with one reference each."""
    if len(answers) != len(references) or not answers:
        raise InputError(
            f"{len(answers)} answers and {len(references)} references cannot be compared: "
            f"give as many of both, and at least one"
        )
    scores = []
    for name, metric in (
        ("BLEU", BLEU()),
        ("chrF", CHRF()),
        ("BLEU, lower-cased and tokenised", BLEU(lowercase=True)),
    ):
        value = metric.corpus_score(list(answers), [list(references)]).score
        scores.append(Score(name, value, str(metric.get_signature())))
    return scores
