"""How well questions are answered, beside what needs no model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clearhead.data.question_files import Question
from clearhead.errors import InputError
from clearhead.tasks.answer.baselines import first_sentence, word_overlap
from clearhead.tasks.answer.measure import Normal, exact_match, f1, plain_words, squad_words
from clearhead.tasks.scores import Score

__all__ = ["Mark", "mark", "mean", "score_answers"]

SQUAD = "as SQuAD's script: small letters, no punctuation, no English articles"
PLAIN = "in any language: composed small letters, no punctuation, articles stay"
BEST = "the nearest of all references"


@dataclass(frozen=True)
class Mark:
    """One question with the answer that came, and how near it is."""

    question: Question
    answer: str
    exact: float
    f1: float


def mark(
    questions: Sequence[Question], answers: Sequence[str], normal: Normal = squad_words
) -> list[Mark]:
    """Compare answers with all references; a text without letters means that there is none."""
    if len(questions) != len(answers) or not questions:
        raise InputError(
            f"{len(answers)} answers and {len(questions)} questions cannot be compared: give as "
            "many of both, and at least one"
        )
    marks = []
    for question, answer in zip(questions, answers, strict=True):
        references = [each.text for each in question.answers]
        values = (measure(answer, references, normal) for measure in (exact_match, f1))
        marks.append(Mark(question, answer, *values))
    return marks


def mean(marks: Sequence[Mark], what: str = "f1") -> float:
    """The mean of `exact` or `f1`, from 0 to 100."""
    return 100 * sum(getattr(each, what) for each in marks) / len(marks)


def score_answers(questions: Sequence[Question], answers: Sequence[str]) -> list[Score]:
    """The scores of a model, and of what needs none."""
    marks, plain = mark(questions, answers), mark(questions, answers, plain_words)
    scores = [
        *_both("", marks, f"{SQUAD}; {BEST}"),
        *_both(" in any language", plain, f"{PLAIN}; {BEST}"),
    ]
    without = [each for each in marks if not each.question.answers]
    if without:
        answered = [each for each in marks if each.question.answers]
        if answered:
            scores += _both(" where there is an answer", answered, SQUAD)
        told = "questions without an answer of which the model says so"
        scores.append(Score("right refusals", mean(without, "exact"), told))
    trivial: list[tuple[str, Callable[[Question], str], str]] = [
        ("the first sentence", lambda each: first_sentence(each.context), "of the context"),
        (
            "word overlap",
            lambda each: word_overlap(each.question, each.context),
            "names and numbers of the sentence with most words of the question",
        ),
    ]
    if without:
        trivial.append(("never answering", lambda _: "", "each question is refused"))
    for name, answer, told in trivial:
        scores += _both(f" of {name}", mark(questions, [answer(each) for each in questions]), told)
    return scores


def _both(of: str, marks: Sequence[Mark], signature: str) -> list[Score]:
    return [
        Score(f"exact match{of}", mean(marks, "exact"), signature),
        Score(f"F1{of}", mean(marks), signature),
    ]
