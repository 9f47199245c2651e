"""From texts with labels to a classifier: doctor → plan → tokens → training → scores."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import functional as F

from clearhead.data.labelled import LabelledTexts
from clearhead.data.rows import Row, RowBatch, RowBatches
from clearhead.layers import SpelledEmbedding
from clearhead.models import Bert, Model
from clearhead.tasks.classify.classifier import Classifier, label_logits
from clearhead.tasks.classify.corpus import LabelCorpus, Reader, even_text, survey_labels
from clearhead.tasks.classify.counting import beliefs_of_others
from clearhead.tasks.classify.evaluate import baselines, confuse, score_labels
from clearhead.tasks.classify.plan import ClassifyPlan, LabelFacts, make_plan
from clearhead.tasks.encoder import (
    Encoder,
    freeze_body,
    freeze_embedding,
    open_encoder,
    put_body,
)
from clearhead.tasks.folder import ModelFolder, save_folder
from clearhead.tasks.job import BatchesOf, Job, Tell, Wish, carry_out, claim, nothing_left_behind
from clearhead.tasks.report import write_report
from clearhead.tasks.steps import Speed
from clearhead.text import AnyTokenizer, Tokenizer, load_tokenizer
from clearhead.text.framing import Framing
from clearhead.text.spelling import shared_parts
from clearhead.training.checkpoint import read_checkpoint, write_checkpoint
from clearhead.training.device import Device

__all__ = ["train_classifier"]

N_VALIDATED = 1000
"""Validation texts that are followed in training."""
N_SAMPLES = 3
QUIET = 0.01
"""How large the vectors of words are at the start, beside the usual.

A norm follows them, which makes the random vector of a word that was seen once as large as that of
any other. Beginning small beside the positions, a word says nothing until something was learned.
"""


def train_classifier(
    data: LabelledTexts,
    to: Path,
    *,
    validation: LabelledTexts | None = None,
    test: LabelledTexts | None = None,
    start: Path | None = None,
    size: str | None = None,
    seconds: float | None = None,
    settings: dict[str, Any] | None = None,
    device: Device = "auto",
    tell: Tell = lambda *_: None,
) -> Classifier:
    """Train a model on `data` and write it to the folder `to`; resumes what was begun there.

    `start` is a model folder of kind bert, made by `clearhead convert`, to begin with.
    """
    wish = Wish(size, seconds, settings or {})
    given = None if start is None else open_encoder(start)
    config = None if given is None else given.config
    facts = LabelFacts(1000, 2, 100_000, 100, given=config)
    make_plan(facts, size=size, settings=wish.settings)  # wrong names fail here
    training = claim(to)
    with nothing_left_behind(training, to):
        corpus = survey_labels(data, validation, test, tell)
    job = _Classifying(corpus, given)
    result = carry_out(job, to, training, wish, device, tell)
    model = cast(Bert, result.model)
    if isinstance(model.embedding, SpelledEmbedding):
        model.embedding = model.embedding.fold()
    card = {
        "task": "classify",
        "labels": corpus.labels,
        "n_parameters": model.n_parameters,
        "data": {**corpus.report.to_dict(), "fingerprint": corpus.fingerprint},
        "held_out": {
            "validation": len(corpus.validation),
            "test": len(corpus.test),
            "unit": "texts",
        },
        "plan": result.plan.to_dict(),
        "forecast": asdict(result.forecast),
        "training": asdict(result.outcome),
        **({} if start is None else {"began_with": str(start)}),
    }
    classifier = Classifier(model, job.tokenizer, card)
    said = [each.label for each in classifier([each.text for each in corpus.test])]
    found = confuse([each.label for each in corpus.test], said, corpus.labels)
    scores = [*score_labels(found), *baselines(corpus.train, corpus.validation, corpus.test)]
    card |= {"scores": [asdict(each) for each in scores], "confusion": found.to_dict()}
    save_folder(to, ModelFolder(model, job.tokenizer, card))
    report = to / "report.html"
    write_report(
        report, card, result.journal, [], {"Which label was taken for which": found.html()}
    )
    tell("scores", {"scores": scores, "outcome": result.outcome, "folder": to, "report": report})
    return classifier


class _Classifying(Job[ClassifyPlan, RowBatch]):
    """What is to be known of a run on texts with labels."""

    unit = counted = "texts"
    guessed = "text"

    def __init__(self, corpus: LabelCorpus, given: Encoder | None) -> None:
        self.corpus, self.given, self.n_examples = corpus, given, len(corpus.train)
        self.tokenizer: AnyTokenizer
        self.rows: Sequence[Row]
        self.validated: Sequence[Row]
        self.beliefs: Tensor
        lengths = sorted(len(each.text) for each in corpus.train)
        self.facts = LabelFacts(
            n_texts=len(lengths),
            n_labels=len(corpus.labels),
            n_characters=sum(lengths),
            longest=lengths[int(0.99 * (len(lengths) - 1))],
            given=None if given is None else given.config,
        )

    @property
    def fingerprint(self) -> str:
        """Of all texts and labels, of what is held out, and of the model to begin with."""
        if self.given is None:
            return self.corpus.fingerprint
        both = self.corpus.fingerprint + self.given.fingerprint
        return blake2b(both.encode(), digest_size=16).hexdigest()

    def read_plan(self, data: dict[str, Any]) -> ClassifyPlan:
        """Refuses what a plan does not have."""
        return ClassifyPlan.from_dict(data)

    def plan(self, wish: Wish, speed: Speed | None) -> tuple[ClassifyPlan, tuple[str, ...]]:
        """From the number and the length of the texts."""
        seconds = None if speed is None else wish.seconds
        return make_plan(
            self.facts, size=wish.size, seconds=seconds, speed=speed, settings=wish.settings
        )

    def prepare(self, plan: ClassifyPlan, folder: Path, tell: Tell) -> None:
        """The vocabulary, and the rows of all texts, in memory."""
        path = folder / "tokenizer.json"
        if self.given is not None:
            self.tokenizer = self.given.tokenizer
        else:
            if not path.exists():
                n_pairs, n_tokens = len(self.corpus.train), plan.n_vocabulary
                tell("tokenizer", {"n_pairs": n_pairs, "n_tokens": n_tokens, "unit": "texts"})
                _learn_tokens(self.corpus, plan).save(path)
            self.tokenizer = load_tokenizer(path)
            self.facts = replace(self.facts, n_tokens=self.tokenizer.n_tokens)
        labels = self.corpus.labels
        reader = Reader(self.tokenizer, plan.context, plan.is_lower_cased)
        self.rows = reader.rows(self.corpus.train, labels)
        some = _spread(self.corpus.validation, N_VALIDATED)
        known = [each for each in some if each.label in labels]
        self.validated = reader.rows(known, labels)
        self.samples = _spread(known, N_SAMPLES)
        if plan.taught:
            self.beliefs = self._ask_counting(folder / "counting.safetensors", tell)

    def _ask_counting(self, path: Path, tell: Tell) -> Tensor:
        """What counting words believes; asked once, so that a run that goes on hears the same."""
        if not path.exists():
            tell("counting", {"n_texts": len(self.corpus.train)})
            beliefs = torch.from_numpy(beliefs_of_others(self.corpus.train, self.corpus.labels))
            write_checkpoint(path, {"beliefs": beliefs}, {})
        return read_checkpoint(path)[0]["beliefs"]

    def batches(self, plan: ClassifyPlan) -> BatchesOf[RowBatch]:
        """Texts of about the same length together."""
        found = RowBatches(self.rows, plan.n_batch_tokens, plan.model.pad, plan.training.seed)
        self.facts = replace(self.facts, n_batches=found.n_batches(0))
        return found

    def build(self, plan: ClassifyPlan) -> Bert:
        """An encoder with scores of the labels; all but these is that of a given model."""
        model = Bert(plan.model)
        if self.given is not None:
            put_body(model, self.given, with_head=False)
        else:
            if plan.is_spelled:
                model.embedding = self._spelled(plan)
            for weight in model.embedding.parameters():
                weight.data.mul_(QUIET)
        if not plan.is_embedding_trained:
            freeze_embedding(model)
        if not plan.is_body_trained:
            freeze_body(model)
        return model

    def _spelled(self, plan: ClassifyPlan) -> SpelledEmbedding:
        """Tokens that stand for no text have no parts."""
        n_specials = cast(Tokenizer, self.tokenizer).n_specials
        words = self.tokenizer.tokens(range(n_specials, self.tokenizer.n_tokens))
        parts, n_parts = shared_parts([word.removeprefix("▁") for word in words])
        none: list[list[int]] = [[]] * n_specials
        return SpelledEmbedding([*none, *parts], n_parts, plan.model.d_model, scale=1.0)

    def loss(
        self, model: Model, plan: ClassifyPlan
    ) -> Callable[[RowBatch], tuple[Tensor, Tensor, int]]:
        """Cross-entropy of the label, while some tokens are hidden."""
        bert, device = cast(Bert, model), next(model.parameters()).device
        framing, pad = Framing.of(self.tokenizer), plan.model.pad
        kept = torch.tensor([framing.first, framing.last, pad], device=device)
        unknown = self.tokenizer.unk

        def loss(batch: RowBatch) -> tuple[Tensor, Tensor, int]:
            batch = batch.to(device)
            tokens, labels = batch.tokens, batch.labels[:, 0]
            if plan.word_dropout:
                is_drawn = torch.rand(tokens.shape, device=device) < plan.word_dropout
                tokens = tokens.where(torch.isin(tokens, kept) | ~is_drawn, unknown)
            # A body that is not trained stays as it is used: without dropout.
            logits = bert.train(plan.is_body_trained)(tokens).float()
            total = F.cross_entropy(logits, self._target(batch, plan), reduction="sum")
            plain = F.cross_entropy(logits.detach(), labels, reduction="sum")
            return total, plain, len(labels)

        return loss

    def _target(self, batch: RowBatch, plan: ClassifyPlan) -> Tensor:
        """How probable each label of a text should be: smoothed, and as counting words believes."""
        n_labels = plan.model.n_labels
        label = F.one_hot(batch.labels[:, 0], n_labels).float()
        target = label.mul_(1 - plan.smoothing).add_(plan.smoothing / n_labels)
        return (
            target.lerp(self.beliefs[batch.rows].to(target), plan.taught) if plan.taught else target
        )

    def validate(self, model: Model, plan: ClassifyPlan) -> dict[str, Any]:
        """The share of validation texts whose label is right, and some of them to look at."""
        start = time.perf_counter()
        bert, labels = cast(Bert, model), self.corpus.labels
        logits = label_logits(bert, self.validated)
        truth = torch.tensor([row.labels[0] for row in self.validated])
        accuracy = 100 * float((logits.argmax(-1) == truth).float().mean())
        classifier = Classifier(bert, self.tokenizer, {"labels": labels, "plan": plan.to_dict()})
        answers = classifier([each.text for each in self.samples])
        return {
            "score": accuracy,
            "measure": "accuracy",
            "told": f"accuracy {accuracy:.2f}",
            "loss": float(F.cross_entropy(logits, truth)),
            "samples": [
                {"source": each.text, "reference": each.label, "answer": answer.label}
                for each, answer in zip(self.samples, answers, strict=True)
            ],
            "seconds": time.perf_counter() - start,
        }


def _learn_tokens(corpus: LabelCorpus, plan: ClassifyPlan) -> Tokenizer:
    """The vocabulary of the training texts."""
    texts = (even_text(each.text, plan.is_lower_cased) for each in corpus.train)
    kind = plan.tokenizer or "word"
    n_tokens = None if kind == "char" else plan.n_vocabulary
    return Tokenizer.train(texts, kind, n_tokens)


def _spread(some: Sequence[Any], n: int) -> list[Any]:
    """n of them, or all if they are fewer, from all over.

    >>> _spread("abcde", 3), _spread("ab", 3)
    (['a', 'b', 'd'], ['a', 'b'])
    """
    n = min(n, len(some))
    return [some[k * len(some) // n] for k in range(n)]
