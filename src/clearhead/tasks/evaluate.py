"""How good a translator is on pairs it has not seen, beside what copying the source would score."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sacrebleu.metrics.chrf import CHRF

from clearhead.data import Pair
from clearhead.tasks.scores import Score, score_translations
from clearhead.tasks.translate import Translator

__all__ = ["Evaluation", "Sample", "evaluate", "make_samples"]


@dataclass(frozen=True)
class Sample:
    """One sentence: what was asked, what was expected, what came, and how near it is."""

    source: str
    reference: str
    answer: str
    chrf: float


@dataclass(frozen=True)
class Evaluation:
    """The scores, the trivial baseline among them, and every sentence."""

    scores: list[Score]
    samples: list[Sample]
    more: dict[str, str] = field(default_factory=dict)
    """Sections of the report that are the task's own: heading → safe HTML."""


def evaluate(translator: Translator, pairs: Sequence[Pair], n_beams: int = 5) -> Evaluation:
    """Translate the sources and compare with the targets; copying the source is the baseline."""
    answers = [a.text for a in translator([pair.source for pair in pairs], n_beams=n_beams)]
    references = [pair.target for pair in pairs]
    scores = score_translations(answers, references)
    copied = score_translations([pair.source for pair in pairs], references)[0]
    scores.append(Score("BLEU of copying the source", copied.value, copied.signature))
    return Evaluation(scores, make_samples(pairs, answers))


def make_samples(pairs: Sequence[Pair], answers: Sequence[str]) -> list[Sample]:
    """Each answer beside what was asked and expected."""
    chrf = CHRF()
    return [
        Sample(pair.source, pair.target, answer, chrf.sentence_score(answer, [pair.target]).score)
        for pair, answer in zip(pairs, answers, strict=True)
    ]
