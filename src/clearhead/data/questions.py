"""Questions on texts, and what is wrong with them: every answer is looked for in its context.

An answer that stands elsewhere than it says is mended, one that stands nowhere is left out;
contexts and questions are never changed, because answers are places in them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from clearhead.data.fingerprints import normalise
from clearhead.data.question_files import Question, Span, read_questions
from clearhead.data.report import Kinds, Report, list_findings
from clearhead.errors import InputError

__all__ = ["QuestionReport", "Questions", "context_key"]

KINDS: Final[Kinds] = {
    "blank question": ("dropped", "the question is blank"),
    "blank context": ("dropped", "the context is blank"),
    "missing": ("dropped", "there should be an answer, and none is given"),
    "lost": ("dropped", "no answer stands in the context"),
    "leaked question": ("dropped", "the same question on the same context is held out"),
    "leaked context": ("dropped", "the context is also held out"),
    "duplicate": ("dropped", "duplicate of an earlier question"),
    "contradiction": ("dropped", "the same question on the same context came with other answers"),
    "moved": ("noted", "an answer stands elsewhere in the context than it says; mended"),
    "partly lost": ("noted", "one of several answers is not in the context; it is left out"),
    "unanswerable": ("noted", "no answer is in the context; the model learns to say so"),
    "long": ("noted", "contexts above 1,500 characters; they are read in overlapping windows"),
    "undecodable": ("noted", "characters that could not be decoded"),
}
N_LONG = 1500
N_NUMBERED = 5
LEAST = 100
"""Questions below which nothing can be learned."""


@dataclass(frozen=True, kw_only=True)
class QuestionReport(Report):
    """What was found in questions on texts."""

    n_contexts: int
    n_unanswerable: int
    n_characters: int
    """Of all contexts, each once, and the questions."""
    assumed: tuple[str, ...] = (
        "task: answer, because these are questions on texts with their answers",
    )
    unit: str = "questions"
    place = "question"

    def remains(self) -> str:
        """How many questions, on how many contexts, and how many have no answer."""
        without = f", {self.n_unanswerable:,} without an answer" if self.n_unanswerable else ""
        return f"{super().remains()}, on {self.n_contexts:,} contexts{without}"


class Questions:
    """The questions of some files; they are read when asked for."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = tuple(paths)
        for path in self.paths:
            if not path.exists():
                raise InputError(f"{path} does not exist: check the name and the folder")

    def __iter__(self) -> Iterator[Question]:
        """All of them as they are, the files one after the other."""
        n = 0
        for path in self.paths:
            for question in read_questions(path, n):
                n = question.number
                yield question

    def examine(self, held_out: Sequence[Question] = ()) -> tuple[QuestionReport, list[Question]]:
        """What is wrong with which question, and those that are left, their answers in place."""
        found: dict[str, list[int]] = {}
        kept: list[Question] = []
        seen: dict[tuple[str, str], frozenset[str]] = {}
        banned = {_key(question) for question in held_out}
        contexts = {context for context, _ in banned}
        n_read = 0
        for question in self:
            n_read += 1
            mended, kinds = _mend(question)
            key = _key(mended)
            texts = frozenset(normalise(answer.text) for answer in mended.answers)
            if not _is_dropped(kinds):
                kinds += ["leaked question"] if key in banned else []
                kinds += ["leaked context"] if key not in banned and key[0] in contexts else []
            if not _is_dropped(kinds):
                if key in seen:
                    kinds.append("duplicate" if seen[key] == texts else "contradiction")
                seen.setdefault(key, texts)
            for kind in kinds:
                found.setdefault(kind, []).append(question.number)
            if not _is_dropped(kinds):
                kept.append(mended)
        return self._report(found, kept, n_read), kept

    def _report(
        self, found: dict[str, list[int]], kept: Sequence[Question], n_read: int
    ) -> QuestionReport:
        contexts = {question.context for question in kept}
        n_without = sum(not question.answers for question in kept)
        fatal = []
        if len(kept) < LEAST:
            fatal.append(
                f"{len(kept):,} questions are too few to learn from: give at least {LEAST:,}"
            )
        elif n_without == len(kept):
            fatal.append("no question has an answer")
        return QuestionReport(
            paths=tuple(map(str, self.paths)),
            n_read=n_read,
            n_kept=len(kept),
            n_contexts=len(contexts),
            n_unanswerable=n_without,
            n_characters=sum(map(len, contexts)) + sum(len(each.question) for each in kept),
            findings=list_findings(
                KINDS,
                {kind: len(numbers) for kind, numbers in found.items()},
                {kind: numbers[:N_NUMBERED] for kind, numbers in found.items()},
                n_read,
            ),
            fatal=tuple(fatal),
        )


def context_key(context: str) -> str:
    """What two contexts that are the same have in common: capitals and spaces do not count."""
    return normalise(context).casefold()


def _key(question: Question) -> tuple[str, str]:
    return context_key(question.context), context_key(question.question)


def _is_dropped(kinds: Sequence[str]) -> bool:
    return any(KINDS[kind][0] == "dropped" for kind in kinds)


def _mend(question: Question) -> tuple[Question, list[str]]:
    """The question with its answers where they stand, and what is wrong with it."""
    for name in ("question", "context"):
        if not getattr(question, name).strip():
            return question, [f"blank {name}"]
    if question.is_missing:
        return question, ["missing"]
    context = question.context
    places = [_find(answer, context) for answer in question.answers]
    answers = tuple(place for place in places if place is not None)
    if question.answers and not answers:
        return question, ["lost"]
    kinds = ["long"] if len(context) > N_LONG else []
    kinds += ["undecodable"] if "\ufffd" in context + question.question else []
    kinds += ["unanswerable"] if not answers else []
    kinds += ["partly lost"] if None in places else []
    pairs = zip(question.answers, places, strict=True)
    if any(found is not None and found.start != _start(given) for given, found in pairs):
        kinds.append("moved")
    return replace(question, answers=answers), kinds


def _find(answer: Span, context: str) -> Span | None:
    """The answer where it stands: at its place, or else where it stands nearest to that."""
    text = answer.text.strip()
    if not text:
        return None
    start = _start(answer)
    if start >= 0 and context.startswith(text, start):
        return Span(text, start)
    places = []
    place = context.find(text)
    while place >= 0:
        places.append(place)
        place = context.find(text, place + 1)
    if not places:
        return None
    return Span(text, min(places, key=lambda place: abs(place - start)))


def _start(answer: Span) -> int:
    """Where an answer begins, without the white space before it."""
    return answer.start + len(answer.text) - len(answer.text.lstrip())
