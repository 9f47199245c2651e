"""Questions on texts: what is read, mended, left out and told; answers are always in place."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearhead.data.question_files import Question, Span, looks_like_questions
from clearhead.data.questions import LEAST, Questions, _mend
from clearhead.data.which import which_task
from clearhead.errors import InputError

CONTEXT = "Anna is a baker. Ben is a tailor."


def asked(question: str, *answers: tuple[str, int], **more: Any) -> dict[str, Any]:
    listed = [{"text": text, "answer_start": start} for text, start in answers]
    return {"question": question, "id": question, "answers": listed, **more}


def squad(path: Path, *paragraphs: tuple[str, list[dict[str, Any]]]) -> Path:
    listed = [{"context": context, "qas": qas} for context, qas in paragraphs]
    text = json.dumps({"version": "1.1", "data": [{"title": "t", "paragraphs": listed}]})
    packed = gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode()
    path.write_bytes(packed)
    return path


def examine(path: Path, held_out: list[Question] | None = None) -> tuple[Any, list[Question]]:
    return Questions([path]).examine(held_out or [])


def test_both_forms_say_the_same(tmp_path: Path) -> None:
    first = squad(tmp_path / "a.json.gz", (CONTEXT, [asked("Who bakes?", ("Anna", 0))]))
    flat = {"text": ["Anna"], "answer_start": [0]}
    lines = tmp_path / "b.jsonl"
    record = {"context": CONTEXT, "question": "Who bakes?", "answers": flat}
    lines.write_text(f"{json.dumps(record)}\n\n{json.dumps(record)}\n", encoding="utf-16")
    expected = Question(1, "Who bakes?", CONTEXT, (Span("Anna", 0),))
    assert list(Questions([first])) == [expected]
    both = list(Questions([first, lines]))
    assert [each.number for each in both] == [1, 2, 3]
    assert {(each.question, each.context, each.answers) for each in both} == {
        ("Who bakes?", CONTEXT, (Span("Anna", 0),))
    }


def test_every_answer_is_looked_for(tmp_path: Path) -> None:
    path = squad(
        tmp_path / "a.json",
        (
            CONTEXT,
            [
                asked("right", ("baker", 10)),
                asked("moved", ("is a", 19)),  # it stands at 5 and at 21
                asked("spaces", (" Anna ", 0)),
                asked("lost", ("cook", 3)),
                asked("partly", ("cook", 3), ("tailor", 26)),
                asked(" ", ("Anna", 0)),
                asked("right", ("baker", 10)),
                asked("RIGHT", ("Anna", 0)),
                asked("missing", is_impossible=False),
                asked("no answer", ("Anna", 0), is_impossible=True),
            ],
        ),
        (" ", [asked("on nothing", ("a", 0))]),
    )
    report, kept = examine(path)
    assert [(each.question, each.answers) for each in kept] == [
        ("right", (Span("baker", 10),)),
        ("moved", (Span("is a", 21),)),
        ("spaces", (Span("Anna", 0),)),
        ("partly", (Span("tailor", 26),)),
        ("no answer", ()),
    ]
    assert {found.kind: found.places for found in report.findings} == {
        "blank question": (6,), "blank context": (11,), "missing": (9,), "lost": (4,),
        "duplicate": (7,), "contradiction": (8,), "moved": (2, 3), "partly lost": (5,),
        "unanswerable": (10,),
    }  # fmt: skip
    assert (report.n_read, report.n_kept, report.to_dict()["n_dropped"]) == (11, 5, 6)
    assert report.is_fatal
    assert report.verdict == (
        f"not fit for training: 5 questions are too few to learn from: give at least {LEAST}"
    )


@given(st.text(min_size=1, max_size=30), st.data())
def test_kept_answers_stand_where_they_say(context: str, data: st.DataObject) -> None:
    """Whatever the context is made of, and wherever answers claim to be."""
    start = data.draw(st.integers(0, len(context) - 1))
    end = data.draw(st.integers(start + 1, len(context)))
    claimed = data.draw(st.integers(-3, 40))
    given_span = Span(context[start:end], claimed)
    mended, kinds = _mend(Question(1, "?", context, (given_span,)))
    if "lost" in kinds or "blank context" in kinds:
        assert not context[start:end].strip()
        return
    (answer,) = mended.answers
    assert context[answer.start : answer.end] == answer.text == context[start:end].strip()


def test_what_is_held_out_is_not_trained_on(tmp_path: Path) -> None:
    qas = [asked("one", ("Anna", 0)), asked("two", ("Ben", 17))]
    path = squad(tmp_path / "a.json", (CONTEXT, qas), ("Carl sings.", [asked("q", ("Carl", 0))]))
    report, kept = examine(path, [Question(1, "ONE", CONTEXT.upper(), ())])
    assert [each.question for each in kept] == ["q"]
    assert {found.kind: found.places for found in report.findings} == {
        "leaked question": (1,),
        "leaked context": (2,),
    }


def test_long_contexts_and_data_without_answers_are_told(tmp_path: Path) -> None:
    long = "Anna is a baker. " * 100
    qas = [asked(f"Who is number {n}?", is_impossible=True) for n in range(LEAST)]
    report, kept = examine(squad(tmp_path / "a.json", (long, qas)))
    assert len(kept) == LEAST
    assert report.verdict == "not fit for training: no question has an answer"
    assert {found.kind for found in report.findings} == {"unanswerable", "long"}
    assert report.lines()[0].startswith("task: answer")


def test_the_data_says_that_it_is_questions(tmp_path: Path) -> None:
    path = squad(tmp_path / "a.json.gz", (CONTEXT, [asked("q", ("Anna", 0))]))
    assert which_task([path]) == "answer"
    assert looks_like_questions([path, path])
    assert not looks_like_questions([path], ("question", "context"))
    lines = tmp_path / "b.jsonl"
    lines.write_text(json.dumps({"context": "c", "question": "q", "answers": []}) + "\n")
    assert which_task([lines]) == "answer"
    lines.write_text(json.dumps({"en": "a dog", "de": "ein Hund"}) + "\n")
    assert which_task([lines]) == "translate"
    assert not looks_like_questions([tmp_path / "nothing.json"])
    assert not looks_like_questions([])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty: there is no question in it"),
        ('{"data": [{"paragraphs": [', "line 1 of .* is not JSON"),
        ('{"data": 3}', "data holds 3, not a list"),
        ('{"data": [3]}', "article 1 of .* holds 3, not an object"),
        ('{"data": [{"paragraphs": [{"qas": []}]}]}', "paragraph 1 of article 1 .* no 'context'"),
        (
            '{"data": [{"paragraphs": [{"context": "c", "qas": [{"id": "7"}]}]}]}',
            "question 1 of paragraph 1 of article 1 of .* has no 'question'; its fields are id",
        ),
        ('{"context": "c", "question": 5, "answers": []}', "question is 5, not text"),
        ('{"context": "c", "question": "q"}', "has no 'answers'"),
        ('{"context": "c", "question": "q", "answers": "c"}', "holds 'c', not a list"),
        (
            '{"context": "c", "question": "q", "answers": {"text": ["c"], "answer_start": []}}',
            "1 texts of answers and 0 places",
        ),
        (
            '{"context": "c", "question": "q", "answers": [{"text": "c", "answer_start": "0"}]}',
            "answer_start is '0', not a number",
        ),
    ],
)
def test_broken_files_are_told_in_one_sentence(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(InputError, match=told):
        list(Questions([path]))


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        Questions([tmp_path / "nothing.json"])
    with pytest.raises(InputError, match="is a folder: give a file of questions"):
        list(Questions([tmp_path]))
    (tmp_path / "a.json").write_bytes(b'{"a": "\xff\xfe"}')
    with pytest.raises(InputError, match="is not Unicode text"):
        list(Questions([tmp_path / "a.json"]))
