"""From a file of pairs to a translator: doctor → plan → tokenizer → training → scores."""

from collections.abc import Callable
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from clearhead.data import PairFile
from clearhead.data.batches import Batch, Batches
from clearhead.data.shards import Shards
from clearhead.models import Model, Transformer
from clearhead.tasks.alignment import choose_aligner
from clearhead.tasks.corpus import Corpus, survey, write_tokens
from clearhead.tasks.diversify import Diversifier, given_last
from clearhead.tasks.evaluate import evaluate
from clearhead.tasks.folder import ModelFolder, save_folder
from clearhead.tasks.job import (
    BatchesOf,
    Before,
    Job,
    Tell,
    Wish,
    carry_out,
    claim,
    nothing_left_behind,
)
from clearhead.tasks.pair_task import PairTask, pair_loss, validate_pairs
from clearhead.tasks.plan import Facts, Forecast, Plan, make_plan, smaller_size, usual_size
from clearhead.tasks.report import write_report
from clearhead.tasks.scores import score_translations
from clearhead.tasks.steps import Speed
from clearhead.tasks.translate import Translator
from clearhead.text import Tokenizer
from clearhead.training.device import Device

__all__ = ["TRANSLATE", "train"]

N_FOR_WORDS = 2000
"""Training pairs from which it is learned which words belong together."""


TRANSLATE = PairTask(
    "translate",
    Translator,
    Plan,
    make_plan,
    lambda answers, references: score_translations(answers, references)[0],
    evaluate,
)


def train(
    pairs: PairFile,
    to: Path,
    *,
    validation: PairFile | None = None,
    test: PairFile | None = None,
    size: str | None = None,
    seconds: float | None = None,
    settings: dict[str, Any] | None = None,
    device: Device = "auto",
    tell: Tell = lambda *_: None,
    task: PairTask = TRANSLATE,
) -> Translator:
    """Train a translator on `pairs`, or a model for another task, and write it to the folder `to`.

    A run that was begun there goes on. What is not given is chosen: held-out pairs, size, time, and
    every setting of the plan. `tell` hears what happens: report, tokenizer, probe, plan,
    first_model, translating, last_model, resume, step, validation, end, scores.
    """
    wish = Wish(size, seconds, settings or {})
    known = Facts(10_000, 1_000_000)
    task.make_plan(known, size=size, settings=wish.settings)  # wrong names fail here
    training = claim(to)
    with nothing_left_behind(training, to):
        corpus = survey(pairs, validation, test, tell=tell, limits=task.limits)
    job = _Pairs(task, corpus)
    result = carry_out(job, to, training, wish, device, tell)
    model, tokenizer = cast(Transformer, result.model), job.tokenizer
    card = _begin_card(job, result.plan, result.forecast)
    translator = task.kind(model, tokenizer, card)
    evaluation = task.evaluate(translator, corpus.test)
    more = list(islice(corpus, N_FOR_WORDS))
    aligner = choose_aligner(model, tokenizer, corpus.validation, more, translator.max_source)
    card["aligner"] = asdict(aligner)
    card["training"] = asdict(result.outcome)
    card["scores"] = [asdict(each) for each in evaluation.scores]
    save_folder(to, ModelFolder(model, tokenizer, card))
    report = to / "report.html"
    write_report(report, card, result.journal, evaluation.samples, evaluation.more)
    facts = {"scores": evaluation.scores, "outcome": result.outcome, "folder": to, "report": report}
    tell("scores", facts)
    return translator


class _Pairs(Job[Plan, Batch]):
    """What is to be known of a run on pairs."""

    def __init__(self, task: PairTask, corpus: Corpus) -> None:
        self.task, self.corpus, self.n_examples = task, corpus, corpus.n_pairs
        self.tokenizer: Tokenizer
        self.shards: Shards
        self.more: Shards | None = None
        self.facts = Facts(corpus.n_pairs, corpus.n_characters)

    @property
    def fingerprint(self) -> str:
        """Of all pairs, and of who is held out."""
        return self.corpus.fingerprint

    def read_plan(self, data: dict[str, Any]) -> Plan:
        """Refuses what a plan does not have."""
        return self.task.plan.from_dict(data)

    def plan(self, wish: Wish, speed: Speed | None) -> tuple[Plan, tuple[str, ...]]:
        """Without a wish, the size that so many pairs can fill."""
        size = wish.size or usual_size(self.facts.n_pairs)
        seconds = None if speed is None else wish.seconds
        return self.task.make_plan(
            self.facts, size=size, seconds=seconds, speed=speed, settings=wish.settings
        )

    def smaller(self, plan: Plan, wish: Wish) -> Wish | None:
        """A size that was asked for stays."""
        if wish.size and not self._is_made_smaller:
            return None
        size = smaller_size(plan, wish.size or usual_size(self.facts.n_pairs), self.facts)
        self._is_made_smaller = True
        return None if size is None else replace(wish, size=size)

    _is_made_smaller = False

    def prepare(self, plan: Plan, folder: Path, tell: Tell) -> None:
        """The vocabulary, and the pairs as tokens on disk."""
        self.tokenizer, self.shards = write_tokens(self.corpus, plan, folder, tell)
        self.facts = replace(self.facts, n_tokens=self.tokenizer.n_tokens)

    def run_before(self, plan: Plan, folder: Path, device: torch.device, tell: Tell) -> float:
        """First models translate the pairs, so that there are more to learn from."""
        if not plan.n_first_steps:
            return 0.0
        corpus, tokenizer, shards = self.corpus, self.tokenizer, self.shards
        more = Diversifier(self.task, corpus, tokenizer, shards, plan, folder, device, tell)
        self.more, seconds = more.run()
        return seconds

    def before(self, plan: Plan) -> Before:
        """All first models; each adds every pair once more, with one side in other words."""
        return Before(plan.n_first_models, plan.n_steps_before, 1 + plan.n_first_models)

    def batches(self, plan: Plan) -> BatchesOf[Batch]:
        """Pairs of like length together."""
        found = Batches(self.shards, plan.n_batch_tokens, plan.training.seed)
        self.facts = replace(self.facts, n_batches=self.n_batches(found, plan))
        return found if self.more is None else given_last(self.more, found, plan.training)

    def n_batches(self, batches: BatchesOf[Batch], plan: Plan) -> int:
        """Each pair may be there several times."""
        return max(1, batches.n_batches(0) // plan.n_copies)

    def build(self, plan: Plan) -> Transformer:
        """An encoder–decoder."""
        return Transformer(plan.model)

    def loss(self, model: Model, plan: Plan) -> Callable[[Batch], tuple[Tensor, Tensor, int]]:
        """Smoothed cross-entropy of the target."""
        return pair_loss(cast(Transformer, model), plan.smoothing)

    def validate(self, model: Model, plan: Plan) -> dict[str, Any]:
        """The score of some pairs, answered greedily, and the loss of all."""
        card = self.task.about(self.corpus, self.shards)
        translator = self.task.kind(cast(Transformer, model), self.tokenizer, card)
        return validate_pairs(self.task, translator, self.corpus.validation, plan)


def _begin_card(job: _Pairs, plan: Plan, forecast: Forecast) -> dict[str, Any]:
    """What is known before the first step; how it went comes at the end."""
    corpus = job.corpus
    about = job.task.about(corpus, job.shards)
    data = {**corpus.report.to_dict(), "fingerprint": corpus.fingerprint}
    return {
        **about,
        "n_parameters": forecast.n_parameters,
        "data": {**data, **about["data"]},
        "held_out": {"validation": len(corpus.validation), "test": len(corpus.test)},
        "plan": plan.to_dict(),
        "forecast": asdict(forecast),
    }
