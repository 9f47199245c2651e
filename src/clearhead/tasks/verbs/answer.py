"""The commands for questions on texts."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearhead.data.questions import QuestionReport, Questions
from clearhead.engine.memory import Wanted
from clearhead.errors import InputError
from clearhead.tasks.verbs import Scored

if TYPE_CHECKING:
    from clearhead.tasks.answer.answerer import Answerer

__all__ = ["evaluate", "examine", "load", "open_data", "sizes", "takes_model", "train"]

takes_model = True


def sizes() -> Sequence[str]:
    """Of encoders."""
    from clearhead.tasks.answer.plan import SIZES

    return tuple(SIZES)


def open_data(paths: Sequence[Path], columns: tuple[str, str] | None = None) -> Questions:
    """Files of SQuAD, or JSON lines."""
    if columns is not None:
        raise InputError(
            "--columns is for pairs: questions are known by their fields context, question and "
            "answers; leave it out"
        )
    return Questions(paths)


def examine(data: Questions, test: Questions | None = None) -> QuestionReport:
    """Every answer looked for in its context."""
    return data.examine(list(test or ()))[0]


def train(data: Questions, to: Path, **options: Any) -> "Answerer":
    """A model that finds answers."""
    from clearhead.tasks.answer.train import train_answerer

    return train_answerer(data, to, **options)


def load(folder: Path, precision: Wanted = "auto") -> "Answerer":
    """A model that finds answers, from its folder."""
    from clearhead.tasks.answer.answerer import Answerer

    return Answerer.load(folder, precision)


def evaluate(folder: Path, data: Questions, **options: Any) -> Scored:
    """Exact match and F1, beside what needs no model; blank questions are left out."""
    from clearhead.tasks.answer.evaluate import score_answers

    questions = [each for each in data if each.question.strip() and each.context.strip()]
    if not questions:
        raise InputError(
            f"{', '.join(map(str, data.paths))} holds no question: nothing can be scored"
        )
    found = load(folder)([(each.question, each.context) for each in questions])
    scores = score_answers(questions, [answer.text for answer in found])
    return Scored(scores, len(questions), "questions")
