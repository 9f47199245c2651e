"""A model that answers questions: a question and a text in, a part of the text out.

answerer = Answerer.load("squad")
answerer("Who ran?", "In 1973 a dog ran.").text
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from clearhead.config import BertConfig, ModelConfig
from clearhead.errors import ConfigError, InputError
from clearhead.tasks.answer.reading import Read, Reader, ReadingConfig
from clearhead.tasks.answer.spans import Spans, find_spans, score_rows
from clearhead.tasks.loaded import Loaded

if TYPE_CHECKING:
    from clearhead.models import Bert

    _Base = Loaded[Bert]
else:
    _Base = Loaded

__all__ = ["Answer", "Answerer"]


@dataclass(frozen=True)
class Answer:
    """A part of a text, exactly as it stands there; empty if the text holds no answer."""

    text: str
    start: int
    """The first character in the context."""
    end: int
    """The character after the last."""
    probability: float
    """Among all parts that may be an answer, and none."""
    others: list[Answer] = field(default_factory=list)
    """Less probable answers, if they were asked for."""

    @property
    def is_found(self) -> bool:
        """Whether the text holds an answer, as the model sees it."""
        return self.end > self.start


class Answerer(_Base):
    """A trained model with its tokenizer: call it with a question and a text, or with pairs."""

    @overload
    def __call__(self, question: str, context: str, *, n_best: int = 1) -> Answer: ...
    @overload
    def __call__(
        self, question: Sequence[tuple[str, str]], context: None = None, *, n_best: int = 1
    ) -> list[Answer]: ...
    def __call__(
        self,
        question: str | Sequence[tuple[str, str]],
        context: str | None = None,
        *,
        n_best: int = 1,
    ) -> Answer | list[Answer]:
        """Answer a question from a text, or (question, text) pairs in their order.

        With `n_best` above 1, `others` has so many less one.
        """
        if not isinstance(n_best, int) or n_best < 1:
            raise ConfigError(f"n_best={n_best!r} must be a whole number of at least 1")
        if isinstance(question, str) != isinstance(context, str):
            raise InputError(
                "a question needs a text that holds its answer: give both, or a list of pairs"
            )
        pairs = [(question, context)] if isinstance(question, str) else list(question)
        answers = [_answer(*found, n_best) for found in self.look_at(pairs)]
        return answers[0] if isinstance(question, str) else answers

    def look_at(self, pairs: Sequence[Any]) -> Iterator[tuple[Read, Spans]]:
        """What was read for each (question, text), and all spans with their probabilities."""
        for pair in pairs:
            if len(pair) != 2 or not all(isinstance(text, str) and text.strip() for text in pair):
                raise InputError("both the question and the context need at least one word")
        reads = Reader(self.tokenizer, self.reading).read(pairs)
        logits = iter(score_rows(self.model, [row for read in reads for row in read.rows]))
        lengths = self.card.get("lengths") or ()
        for read in reads:
            yield read, find_spans(read, [next(logits) for _ in read.rows], self.reading, lengths)

    @property
    def reading(self) -> ReadingConfig:
        """How it reads, as its card says; a model of others reads as BERT does."""
        plan = self.card.get("plan")
        if isinstance(plan, dict) and isinstance(plan.get("reading"), dict):
            return ReadingConfig.from_dict(plan["reading"])
        n_window = min(384, self.model.config.n_positions)
        return ReadingConfig(n_window=n_window, n_overlap=n_window // 3, n_question=n_window // 6)

    @classmethod
    def _refuse(cls, config: ModelConfig, folder: str | Path) -> None:
        if not isinstance(config, BertConfig) or config.head != "span":
            raise InputError(
                f"{folder} holds no model that answers questions: `clearhead train` makes one of "
                "questions on texts"
            )


def _answer(read: Read, spans: Spans, n_best: int) -> Answer:
    """The best spans as parts of the text; that there is none takes its place among them."""
    found = [
        Answer(*read.text(first, last), probability)
        for first, last, probability in spans.best(n_best)
    ]
    if spans.refusal > 0:
        found.append(Answer("", 0, 0, spans.refusal))
    found.sort(key=lambda answer: -answer.probability)
    best, *others = found[:n_best]
    return Answer(best.text, best.start, best.end, best.probability, others)
