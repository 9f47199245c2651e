"""How good a summariser is on texts it has not seen, beside what needs no model."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median_low
from typing import Final

from clearhead.data import Pair
from clearhead.tasks.evaluate import Evaluation, Sample, make_samples
from clearhead.tasks.markup import escaped
from clearhead.tasks.scores import Score
from clearhead.tasks.summarise.rouge import MEASURES, score_summaries
from clearhead.tasks.summarise.summariser import Summariser
from clearhead.text.sentences import split

__all__ = ["compare_with_baselines", "evaluate_summaries", "lead_sentence"]

LEAD: Final = "the lead sentence"
N_SHOWN = 1000
"""Characters of a text that the report shows."""


def evaluate_summaries(
    summariser: Summariser, pairs: Sequence[Pair], n_beams: int = 5
) -> Evaluation:
    """Summarise the texts and compare with the references, beside three trivial summaries."""
    answers = [a.text for a in summariser([pair.source for pair in pairs], n_beams=n_beams)]
    references = [pair.target for pair in pairs]
    scores = score_summaries(answers, references)
    for name, trivial in _trivial(pairs).items():
        scores += score_summaries(trivial, references, f" of {name}")
    told = compare_with_baselines(scores)
    more = {"Beside the lead sentence": f"<p>{escaped(told)}</p>"}
    return Evaluation(scores, [_crop(sample) for sample in make_samples(pairs, answers)], more)


def compare_with_baselines(scores: Sequence[Score]) -> str:
    """Whether the model is better than the lead sentence, in one sentence."""
    values = {score.name: score.value for score in scores}
    ahead = [name for name in MEASURES if values[name] > values[f"{name} of {LEAD}"]]
    if len(ahead) == len(MEASURES):
        return "The model scores higher than the lead sentence of each text in every ROUGE."
    behind = ", ".join(name for name in MEASURES if name not in ahead)
    return f"The lead sentence of each text scores as high as this model, or higher: {behind}."


def lead_sentence(text: str) -> str:
    """The first sentence of a text.

    >>> lead_sentence("Dr. Rao left early. The others stayed.")
    'Dr. Rao left early.'
    """
    found = split(text, max_length=max(1, len(text)))
    return next((piece.text for piece in found if piece.is_sentence), text)


def _trivial(pairs: Sequence[Pair]) -> dict[str, list[str]]:
    """Summaries that need no model."""
    n_words = median_low(len(pair.target.split()) for pair in pairs)
    sources = [pair.source for pair in pairs]
    return {
        LEAD: list(map(lead_sentence, sources)),
        f"the first {n_words} words": [" ".join(text.split()[:n_words]) for text in sources],
        "the whole text": sources,
    }


def _crop(sample: Sample) -> Sample:
    is_long = len(sample.source) > N_SHOWN
    return replace(sample, source=f"{sample.source[:N_SHOWN]} …") if is_long else sample
