"""Texts with summaries: told from sentences and labels, read from lists, examined."""

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from clearhead.data import examine, open_pairs
from clearhead.data.summaries import SUMMARY_LIMITS, open_summaries
from clearhead.data.which import which_task
from clearhead.errors import InputError

WORDS = [
    "river",
    "stone",
    "bright",
    "morning",
    "letter",
    "window",
    "garden",
    "silver",
    "market",
    "bridge",
    "quiet",
    "evening",
]


def long_text(seed: int, n_words: int = 90) -> str:
    chosen = random.Random(seed)
    return " ".join(chosen.choice(WORDS) for _ in range(n_words)) + "."


def short_text(seed: int) -> str:
    return long_text(1000 + seed, 9)


def write(path: Path, rows: Sequence[tuple[str, ...]]) -> Path:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_names_of_columns_say_so(tmp_path: Path) -> None:
    rows = [("One. Two.", "One."), ("Three. Four.", "Three.")]
    for names in (("article", "highlights"), ("text", "summary"), ("abstract", "tldr")):
        assert which_task([write(tmp_path / "a.tsv", [names, *rows])]) == "summarise", names
    for names in (("en", "de"), ("source", "target"), ("question", "answer")):
        assert which_task([write(tmp_path / "a.tsv", [names, *rows])]) == "translate", names
    chosen = write(tmp_path / "b.tsv", [("id", "body", "headline"), ("1", "One. Two.", "One.")])
    assert which_task([chosen], ("body", "headline")) == "summarise"


def test_a_far_shorter_second_side_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    rows = [(long_text(n), short_text(n)) for n in range(30)]
    assert which_task([write(path, rows)]) == "summarise"
    assert which_task([write(path, [("source", "target"), *rows])]) == "summarise"
    for other in (
        [("en", "de"), *rows],  # languages
        [(long_text(n), long_text(50 + n)) for n in range(30)],  # of like length
        [(short_text(n), "the stone bridge near us") for n in range(30)],  # short texts
        [(long_text(n), f"positive review {n % 2} of it") for n in range(30)],  # labels
        [(long_text(n), "река камень утро письмо окно " + str(n)) for n in range(30)],
    ):
        assert which_task([write(path, other)]) != "summarise", other[1]


def test_lists_of_sentences_are_read(tmp_path: Path) -> None:
    path = tmp_path / "papers.jsonl"
    records = [
        {"paper_id": "x1", "source": ["One.", "Two."], "target": ["First.", "Other."], "n": [1]},
        {"paper_id": "x2", "source": [], "target": [], "n": [2]},
        {"paper_id": "x3", "source": "A text.", "target": "A sum.", "n": []},
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    file = open_summaries([path])
    assert [(p.source, p.target) for p in file] == [
        ("One. Two.", "First."), ("", ""), ("A text.", "A sum."),
    ]  # fmt: skip
    assert "source: the sentences of a list are one text" in file.assumed
    assert "target: of a list, the first text is the summary" in file.assumed
    with pytest.raises(InputError, match="has 0 text fields per record"):
        open_pairs([path])  # sentences are not joined for translating


def test_the_surest_names_come_first(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"title": "T", "abstract": "A", "tldr": "S", "source": "x"}) + "\n")
    assert open_summaries([path]).names == ("abstract", "tldr")
    assert open_summaries([path], ("source", "title")).names == ("source", "title")


def test_the_doctor_knows_what_a_summary_is(tmp_path: Path) -> None:
    rows = [(long_text(n), short_text(n)) for n in range(120)]
    rows += [
        (long_text(7, 2000), short_text(900)),  # some 13,000 characters: no sentence, but a text
        (long_text(8, 4000), short_text(901)),  # too long for a text, too
        (short_text(902), long_text(902, 12)),  # says more than the text
        ("", short_text(903)),
    ]
    file = open_summaries([write(tmp_path / "a.tsv", [("text", "summary"), *rows])])
    report = examine(file, limits=SUMMARY_LIMITS)
    dropped = {found.kind: found.places for found in report.findings if found.effect == "dropped"}
    assert dropped == {"blank": (125,), "long": (123,), "longer": (124,)}
    assert report.n_kept == 121
    assert not report.is_fatal
    assert {"long", "ratio"} & {found.kind for found in examine(file).findings}
