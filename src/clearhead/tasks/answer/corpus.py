"""From questions to rows of tokens: what is held out, the vocabulary, and one row per window."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from clearhead.data.holdout import shares_for, side_of
from clearhead.data.question_files import Question, Span
from clearhead.data.questions import QuestionReport, Questions
from clearhead.data.rows import Row
from clearhead.errors import InputError
from clearhead.tasks.answer.plan import AnswerPlan
from clearhead.tasks.answer.reading import Reader
from clearhead.tasks.job import Tell
from clearhead.text import Tokenizer

__all__ = ["QuestionCorpus", "count_lengths", "label_rows", "learn_tokens", "survey_questions"]


@dataclass(frozen=True)
class QuestionCorpus:
    """The questions of a run."""

    report: QuestionReport
    train: tuple[Question, ...]
    validation: tuple[Question, ...]
    test: tuple[Question, ...]
    fingerprint: str

    @property
    def n_characters(self) -> int:
        """Of the contexts to train on, each once, and their questions."""
        contexts = {question.context for question in self.train}
        return sum(map(len, contexts)) + sum(len(each.question) for each in self.train)


def survey_questions(
    questions: Questions, validation: Questions | None, test: Questions | None, tell: Tell
) -> QuestionCorpus:
    """Let the doctor look, and hold out what is not given; no context is on two sides."""
    given = {
        "validation": tuple(validation.examine()[1]) if validation else (),
        "test": tuple(test.examine()[1]) if test else (),
    }
    for side, data in (("validation", validation), ("test", test)):
        if data and not given[side]:
            raise InputError(f"{', '.join(map(str, data.paths))} holds no usable question")
    report, kept = questions.examine([*given["validation"], *given["test"]])
    tell("report", {"report": report})
    if report.is_fatal:
        raise InputError(f"{', '.join(report.paths)}: {report.verdict}")
    wanted = [side for side in ("validation", "test") if not given[side]]
    sides = _hold_out(kept, report.n_contexts, wanted)
    sides |= {side: some for side, some in given.items() if some}
    digest = blake2b(digest_size=16)
    for side, some in sides.items():
        for each in some:
            digest.update(f"{side}\n{each!r}\n".encode("utf-8", "replace"))
    return QuestionCorpus(report=report, fingerprint=digest.hexdigest(), **sides)


def _hold_out(
    questions: Sequence[Question], n_contexts: int, wanted: Sequence[str]
) -> dict[str, tuple[Question, ...]]:
    """Whole contexts, with all of their questions."""
    shares = shares_for(n_contexts)
    drawn = [(side_of(each.context, 0, shares), each) for each in questions]
    sides = {side: tuple(each for where, each in drawn if where == side) for side in wanted}
    sides["train"] = tuple(each for where, each in drawn if where not in wanted)
    for side in ("train", *wanted):
        if not any(each.answers for each in sides[side]):
            raise InputError(
                f"{n_contexts:,} different contexts leave none for {side}: give more contexts"
                + (f", or --{side} FILE" if side != "train" else "")
            )
    return sides


def learn_tokens(corpus: QuestionCorpus, plan: AnswerPlan, folder: Path, tell: Tell) -> Tokenizer:
    """Learn the vocabulary from questions and contexts, unless that is done already."""
    path = folder / "tokens" / "tokenizer.json"
    if not path.exists():
        n_questions = len(corpus.train)
        facts = {"n_pairs": n_questions, "n_tokens": plan.n_vocabulary, "unit": "questions"}
        tell("tokenizer", facts)
        contexts = dict.fromkeys(each.context for each in corpus.train)
        texts = [*contexts, *(each.question for each in corpus.train)]
        assert plan.tokenizer is not None
        n_tokens = None if plan.tokenizer == "char" else plan.n_vocabulary
        tokenizer = Tokenizer.train(texts, plan.tokenizer, n_tokens)
        path.parent.mkdir(parents=True, exist_ok=True)
        tokenizer.save(path)
    return Tokenizer.load(path)


def label_rows(reader: Reader, questions: Sequence[Question]) -> list[Row]:
    """A row for each window of each question, with the answer that most people gave."""
    reads = reader.read([(each.question, each.context) for each in questions])
    return [
        row
        for each, read in zip(questions, reads, strict=True)
        for row in reader.label(read, _usual(each.answers))
    ]


def count_lengths(rows: Sequence[Row], n_longest: int) -> list[float]:
    """Which share of answers has one token, two, and so on; none is impossible.

    >>> count_lengths([Row([1, 7, 2, 8, 8, 2], (3, 3)), Row([1, 7, 2, 8, 8, 2], (3, 4))], 2)
    [0.5, 0.5]
    """
    counts = Counter(row.labels[1] - row.labels[0] for row in rows if row.labels[0])
    n = sum(counts[more] for more in range(n_longest)) + n_longest
    return [(counts[more] + 1) / n for more in range(n_longest)]


def _usual(answers: Sequence[Span]) -> Span | None:
    return Counter(answers).most_common(1)[0][0] if answers else None
