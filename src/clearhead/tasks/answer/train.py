"""From questions on texts to a model that answers them: doctor → plan → rows → training → scores.

The model is an encoder that gives each position two logits, for the start and the end of an answer.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from clearhead.data.question_files import Question
from clearhead.data.questions import Questions
from clearhead.data.rows import Row, RowBatch, RowBatches
from clearhead.models import Bert, Model
from clearhead.tasks.answer.answerer import Answerer
from clearhead.tasks.answer.corpus import (
    QuestionCorpus,
    count_lengths,
    label_rows,
    learn_tokens,
    survey_questions,
)
from clearhead.tasks.answer.evaluate import Mark, mark, mean, score_answers
from clearhead.tasks.answer.plan import AnswerPlan, QuestionFacts, make_plan
from clearhead.tasks.answer.reading import Reader
from clearhead.tasks.encoder import (
    Encoder,
    freeze_body,
    open_encoder,
    put_body,
    refuse_other_shape,
)
from clearhead.tasks.folder import ModelFolder, save_folder
from clearhead.tasks.job import BatchesOf, Job, Tell, Wish, carry_out, claim, nothing_left_behind
from clearhead.tasks.markup import isolate, table
from clearhead.tasks.report import write_report
from clearhead.tasks.steps import Speed
from clearhead.text import AnyTokenizer
from clearhead.training.device import Device

__all__ = ["train_answerer"]

SOME = QuestionFacts(1000, 1_000_000)
N_VALIDATED = 500
"""Validation questions that are followed in training."""
N_SAMPLES = 3
N_SEEN = 60
"""Characters of a context that are shown with a sample."""
N_SHOWN = 12
"""Test questions in the report."""


def train_answerer(
    questions: Questions,
    to: Path,
    *,
    validation: Questions | None = None,
    test: Questions | None = None,
    size: str | None = None,
    seconds: float | None = None,
    settings: dict[str, Any] | None = None,
    device: Device = "auto",
    tell: Tell = lambda *_: None,
    start: Path | None = None,
) -> Answerer:
    """Train a model on `questions` and write it to the folder `to`; resumes what was begun there.

    `start` is the folder of an encoder to begin with.
    """
    wish = Wish(size, seconds, settings or {})
    encoder = None
    if start is not None:
        refuse_other_shape(start, size, wish.settings)
        encoder = open_encoder(start)
    body = encoder.config_for("span") if encoder else None
    make_plan(SOME, size=size, settings=wish.settings, body=body)  # wrong names fail here
    training = claim(to)
    with nothing_left_behind(training, to):
        corpus = survey_questions(questions, validation, test, tell)
    job = _Answering(corpus, encoder)
    result = carry_out(job, to, training, wish, device, tell)
    model = cast(Bert, result.model)
    card: dict[str, Any] = {
        "task": "answer",
        "n_parameters": model.n_parameters,
        "data": {**corpus.report.to_dict(), "fingerprint": corpus.fingerprint},
        "held_out": {
            "validation": len(corpus.validation),
            "test": len(corpus.test),
            "unit": "questions",
        },
        "plan": result.plan.to_dict(),
        "forecast": asdict(result.forecast),
        "training": asdict(result.outcome),
    }
    card["lengths"] = job.lengths
    if start is not None:
        card["began_with"] = str(start)
    answerer = Answerer(model, job.tokenizer, card)
    answers = _answers(answerer, corpus.test)
    scores = score_answers(corpus.test, answers)
    card["scores"] = [asdict(each) for each in scores]
    save_folder(to, ModelFolder(model, job.tokenizer, card))
    report = to / "report.html"
    more = {"Some answers": _table(mark(corpus.test, answers))}
    write_report(report, card, result.journal, [], more)
    facts = {"scores": scores, "outcome": result.outcome, "folder": to, "report": report}
    tell("scores", facts)
    return answerer


def _answers(answerer: Answerer, questions: Sequence[Question]) -> list[str]:
    return [found.text for found in answerer([(q.question, q.context) for q in questions])]


def _table(marks: Sequence[Mark]) -> str:
    """Some test questions, spread over the whole, as HTML."""
    step = max(1, len(marks) // N_SHOWN)
    rows = [
        (
            isolate(each.question.question),
            isolate(each.answer) or "–",
            "<br>".join(isolate(text) for text in _references(each.question)) or "–",
            f"{100 * each.f1:.0f}",
        )
        for each in marks[::step][:N_SHOWN]
    ]
    return table(("question", "answer", "references", "#F1"), rows)


def _references(question: Question) -> list[str]:
    return list(dict.fromkeys(answer.text for answer in question.answers))


class _Answering(Job[AnswerPlan, RowBatch]):
    """What is to be known of a run on questions."""

    unit, guessed = "questions", "question"

    def __init__(self, corpus: QuestionCorpus, encoder: Encoder | None) -> None:
        self.corpus, self.encoder, self.n_examples = corpus, encoder, len(corpus.train)
        self.tokenizer: AnyTokenizer
        self.rows: list[Row] = []
        self.validated: list[Row] = []
        self.lengths: list[float] = []
        has_refusals = any(not each.answers for each in corpus.train)
        self.facts = QuestionFacts(len(corpus.train), corpus.n_characters, has_refusals)

    @cached_property
    def fingerprint(self) -> str:
        """Of all questions, of what is held out, and of the encoder to begin with."""
        weights = f"-{self.encoder.fingerprint}" if self.encoder else ""
        return self.corpus.fingerprint + weights

    def read_plan(self, data: dict[str, Any]) -> AnswerPlan:
        """Refuses what a plan does not have."""
        return AnswerPlan.from_dict(data)

    def plan(self, wish: Wish, speed: Speed | None) -> tuple[AnswerPlan, tuple[str, ...]]:
        """From the number of questions, or from the encoder to begin with."""
        return make_plan(
            self.facts,
            size=wish.size,
            seconds=None if speed is None else wish.seconds,
            speed=speed,
            settings=wish.settings,
            body=self.encoder.config_for("span") if self.encoder else None,
        )

    def prepare(self, plan: AnswerPlan, folder: Path, tell: Tell) -> None:
        """The vocabulary, and a row for each window."""
        if self.encoder is None:
            self.tokenizer = learn_tokens(self.corpus, plan, folder, tell)
            self.facts = replace(self.facts, n_tokens=self.tokenizer.n_tokens)
        else:
            self.tokenizer = self.encoder.tokenizer
        reader = Reader(self.tokenizer, plan.reading)
        self.rows = label_rows(reader, self.corpus.train)
        self.lengths = count_lengths(self.rows, plan.reading.n_longest)
        self.validated = label_rows(reader, self.corpus.validation[:N_VALIDATED])

    def batches(self, plan: AnswerPlan) -> BatchesOf[RowBatch]:
        """Windows of about the same length together."""
        found = RowBatches(self.rows, plan.n_batch_tokens, plan.model.pad, plan.training.seed)
        self.facts = replace(self.facts, n_batches=found.n_batches(0))
        return found

    def build(self, plan: AnswerPlan) -> Bert:
        """An encoder with two logits for each position; its body may be trained already."""
        model = Bert(plan.model)
        if self.encoder is not None:
            put_body(model, self.encoder)
        if not plan.is_body_trained:
            freeze_body(model)
        return model

    def loss(
        self, model: Model, plan: AnswerPlan
    ) -> Callable[[RowBatch], tuple[Tensor, Tensor, int]]:
        """The mean of the cross-entropies of start and end, for each row."""
        bert, device = cast(Bert, model), next(model.parameters()).device

        def loss(batch: RowBatch) -> tuple[Tensor, Tensor, int]:
            nats = _nats(bert, batch.to(device))
            total = nats.mean() * batch.n_tokens  # so that the trainer tells nats for each row
            return total, total.detach(), batch.n_tokens

        return loss

    @torch.no_grad()
    def validate(self, model: Model, plan: AnswerPlan) -> dict[str, Any]:
        """F1 of the validation questions, and three answers to look at."""
        start = time.perf_counter()
        questions = self.corpus.validation[:N_VALIDATED]
        bert, device = cast(Bert, model), next(model.parameters()).device
        answerer = Answerer(bert, self.tokenizer, {"plan": plan.to_dict(), "lengths": self.lengths})
        marks = mark(questions, _answers(answerer, questions))
        batches = RowBatches(self.validated, plan.n_batch_tokens, plan.model.pad)
        nats = torch.cat([_nats(bert, b.to(device)).cpu() for b in batches.in_length_order()])
        return {
            "score": mean(marks),
            "measure": "F1",
            "told": f"F1 {mean(marks):.2f} · exact match {mean(marks, 'exact'):.2f}",
            "loss": float(nats.mean()),
            "samples": [
                {
                    "source": f"{each.question.question} ({each.question.context[:N_SEEN]}…)",
                    "reference": " / ".join(_references(each.question)) or "–",
                    "answer": each.answer or "–",
                }
                for each in marks[:: max(1, len(marks) // N_SAMPLES)][:N_SAMPLES]
            ],
            "seconds": time.perf_counter() - start,
        }


def _nats(model: Bert, batch: RowBatch) -> Tensor:
    """The loss of each row: an answer begins and ends in the context, or at the first token."""
    logits = model(batch.tokens, batch.segments).float()
    may_be = batch.segments > 0
    may_be[:, 0] = True
    log_probs = logits.masked_fill(~may_be[..., None], float("-inf")).log_softmax(1)
    return -log_probs.gather(1, batch.labels[:, None, :]).mean((1, 2))
