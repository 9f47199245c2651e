"""The files in which questions on texts come: SQuAD's JSON, versions 1.1 and 2, and JSON lines.

    {"data": [{"paragraphs": [{"context": …, "qas": [{"question": …, "answers": […]}]}]}]}
    {"context": …, "question": …, "answers": {"text": […], "answer_start": […]}}

Both may be packed with gzip, and the answers of both may be written in the way of the other.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearhead.data.encoding import open_bytes, read_head
from clearhead.errors import InputError

__all__ = ["Question", "Span", "looks_like_questions", "read_questions"]

ENDINGS = (".json", ".jsonl", ".ndjson")
FIELDS = ("context", "question", "answers")
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Span:
    """An answer, and at which character of the context it begins."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """The character after the last."""
        return self.start + len(self.text)


@dataclass(frozen=True)
class Question:
    """A question on a text; without answers it is one that the text does not answer."""

    number: int
    """The how-manieth question of all that were read, from 1."""
    question: str
    context: str
    answers: tuple[Span, ...]
    is_missing: bool = False
    """Whether there should be an answer, and is none."""


def looks_like_questions(paths: Sequence[Path], columns: tuple[str, str] | None = None) -> bool:
    """Whether files hold questions on texts, by their first megabyte."""
    return columns is None and bool(paths) and all(map(_looks_like, paths))


def _looks_like(path: Path) -> bool:
    if not path.is_file() or not path.name.removesuffix(".gz").endswith(ENDINGS):
        return False
    try:
        head = read_head(path)
        text = head.decode(json.detect_encoding(head), "replace")
    except InputError:
        return False
    if '"paragraphs"' in text and '"context"' in text:
        return True
    try:
        first = json.loads(next(line for line in text.splitlines() if line.strip()))
    except ValueError:
        return False
    return isinstance(first, dict) and first.keys() >= set(FIELDS)


def read_questions(path: Path, n_before: int = 0) -> Iterator[Question]:
    """All questions of a file, in their order; `n_before` were counted already."""
    if path.is_dir():
        raise InputError(f"{path} is a folder: give a file of questions in it")
    with open_bytes(path) as file:
        data = file.read()
    try:
        text = data.decode(json.detect_encoding(data)).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not Unicode text ({error.reason}): save it as UTF-8") from None
    if not text.strip():
        raise InputError(f"{path} is empty: there is no question in it")
    for number, (where, record) in enumerate(_records(path, text), n_before + 1):
        yield _question(number, where, record)


def _records(path: Path, text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Where each question stands, in words, and its fields, the context among them."""
    try:
        whole = json.loads(text)
    except ValueError:
        yield from _lines(path, text)
        return
    except RecursionError:
        raise InputError(f"{path} is JSON nested too deeply") from None
    if isinstance(whole, dict) and "data" not in whole:
        yield f"{path}", whole
        return
    articles = whole["data"] if isinstance(whole, dict) else whole
    for a, article in enumerate(_listed(articles, f"{path}: data"), 1):
        if isinstance(article, dict) and "paragraphs" not in article:
            yield f"record {a:,} of {path}", article
            continue
        where = f"article {a:,} of {path}"
        for p, paragraph in enumerate(_listed(_field(article, "paragraphs", where), where), 1):
            at = f"paragraph {p:,} of {where}"
            context = _field(paragraph, "context", at)
            for q, record in enumerate(_listed(_field(paragraph, "qas", at), at), 1):
                place = f"question {q:,} of {at}"
                _field(record, "question", place)
                yield place, {**record, "context": context}


def _lines(path: Path, text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"line {number:,} of {path}"
        try:
            yield where, json.loads(line)
        except ValueError as error:
            reason = getattr(error, "msg", error)
            raise InputError(
                f"{where} is not JSON ({reason}): give a file of SQuAD, or one JSON object per line"
            ) from None
        except RecursionError:
            raise InputError(f"{where} is JSON nested too deeply") from None


def _question(number: int, where: str, record: Mapping[str, Any]) -> Question:
    question, context = (_text(record, name, where) for name in ("question", "context"))
    is_impossible = record.get("is_impossible") if isinstance(record, dict) else None
    answers = () if is_impossible is True else tuple(_answers(record, where))
    is_missing = not answers and is_impossible is False
    return Question(number, question, context, answers, is_missing)


def _answers(record: Mapping[str, Any], where: str) -> Iterator[Span]:
    """The answers, as a list of pairs or as a pair of lists."""
    given = _field(record, "answers", where)
    if isinstance(given, dict):
        texts = _listed(_field(given, "text", where), where)
        starts = _listed(given.get("answer_start", [None] * len(texts)), where)
        if len(texts) != len(starts):
            raise InputError(
                f"{where} has {len(texts)} texts of answers and {len(starts)} places: "
                "give as many of both"
            )
        given = [
            {"text": text, "answer_start": start} for text, start in zip(texts, starts, strict=True)
        ]
    for answer in _listed(given, where):
        text, start = _text(answer, "text", where), answer.get("answer_start")
        if start is not None and (not isinstance(start, int) or isinstance(start, bool)):
            raise InputError(f"{where}: answer_start is {start!r:.40}, not a number of characters")
        yield Span(text, -1 if start is None else start)


def _field(record: Any, name: str, where: str) -> Any:
    if not isinstance(record, dict):
        raise InputError(f"{where} holds {record!r:.40}, not an object with fields")
    if name not in record:
        fields = ", ".join(map(str, record)) or "none"
        raise InputError(f"{where} has no {name!r}; its fields are {fields:.200}")
    return record[name]


def _text(record: Any, name: str, where: str) -> str:
    value = _field(record, name, where)
    if not isinstance(value, str):
        raise InputError(f"{where}: {name} is {value!r:.40}, not text")
    return value if value.isascii() else LONE_SURROGATE.sub("\ufffd", value)


def _listed(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f"{where} holds {value!r:.40}, not a list")
    return value
