"""What is trained on, what is held out, and that the two never meet."""

from pathlib import Path

import pytest

from clearhead.data import open_pairs
from clearhead.data.phrasebook import phrasebook
from clearhead.errors import ConfigError, InputError
from clearhead.tasks.corpus import survey, write_tokens
from clearhead.tasks.plan import Facts, make_plan

PAIRS = phrasebook()[:500]


def write(path: Path, pairs: list[tuple[str, str]]) -> Path:
    path.write_text("en\thi\n" + "".join(f"{e}\t{h}\n" for e, h in pairs), encoding="utf-8")
    return path


def test_no_source_is_on_two_sides(tmp_path: Path) -> None:
    corpus = survey(open_pairs([write(tmp_path / "all.tsv", PAIRS)]))
    sides = [{pair.source for pair in side} for side in (corpus, corpus.validation, corpus.test)]
    assert sum(map(len, sides)) == len(set.union(*sides)) == 500
    assert len(sides[0]) == corpus.n_pairs
    assert min(map(len, sides)) > 20
    again = survey(open_pairs([tmp_path / "all.tsv"]))
    assert (again.fingerprint, again.test) == (corpus.fingerprint, corpus.test)


def test_given_files_are_held_out_whole_and_not_trained_on(tmp_path: Path) -> None:
    train, test = write(tmp_path / "all.tsv", PAIRS), write(tmp_path / "test.tsv", PAIRS[:40])
    corpus = survey(open_pairs([train]), test=open_pairs([test]))
    assert [(pair.source, pair.target) for pair in corpus.test] == PAIRS[:40]
    trained = {pair.source for pair in corpus} | {pair.source for pair in corpus.validation}
    assert trained == {english for english, _ in PAIRS[40:]}
    assert corpus.report.n_dropped == 40
    assert {found.kind for found in corpus.report.findings} >= {"leaked pair"}


def test_held_out_texts_are_composed_as_the_model_writes_them(tmp_path: Path) -> None:
    test = write(tmp_path / "test.tsv", [("A  big lamp", "बडा\u0958 दीप")])
    corpus = survey(open_pairs([write(tmp_path / "all.tsv", PAIRS)]), test=open_pairs([test]))
    assert corpus.test[0].source == "A big lamp"
    assert "\u0958" not in corpus.test[0].target  # NFC has no such letter, only क and a dot


def test_a_held_out_file_of_blanks_is_refused(tmp_path: Path) -> None:
    blank = tmp_path / "blank.tsv"
    blank.write_text("en\thi\n \t \n\tखाली\n", encoding="utf-8")
    with pytest.raises(InputError, match="holds no pair with both sides"):
        survey(open_pairs([write(tmp_path / "all.tsv", PAIRS)]), test=open_pairs([blank]))


def test_tokens_are_those_of_the_training_pairs(tmp_path: Path) -> None:
    corpus = survey(open_pairs([write(tmp_path / "all.tsv", PAIRS)]))
    plan, _ = make_plan(Facts(corpus.n_pairs, corpus.n_characters))
    told: list[str] = []
    tokenizer, shards = write_tokens(corpus, plan, tmp_path, lambda kind, facts: told.append(kind))
    texts = [
        (tokenizer.decode(list(s)), tokenizer.decode(list(t)))
        for s, t in (shards[row] for row in range(len(shards)))
    ]
    assert texts == [(pair.source, pair.target) for pair in corpus]
    write_tokens(corpus, plan, tmp_path, lambda kind, facts: told.append(kind))
    assert told == ["tokenizer"]  # the second time they are there


def test_copies_are_the_same_pairs_in_other_pieces(tmp_path: Path) -> None:
    corpus = survey(open_pairs([write(tmp_path / "all.tsv", PAIRS)]))
    settings = {"n_copies": 3, "subword_dropout": 0.2}
    plan, _ = make_plan(Facts(corpus.n_pairs, corpus.n_characters), settings=settings)
    tokenizer, shards = write_tokens(corpus, plan, tmp_path, lambda kind, facts: None)
    n = corpus.n_pairs
    assert len(shards) == 3 * n
    n_other = 0
    for number, pair in enumerate(corpus):
        copies = [shards[number + n * copy] for copy in range(3)]
        for source, target in copies:
            assert tokenizer.decode(source.tolist()) == pair.source
            assert tokenizer.decode(target.tolist()) == pair.target
        assert copies[0][0].tolist() == tokenizer.encode(pair.source)
        n_other += copies[1][1].tolist() != copies[2][1].tolist()
    assert n_other > n / 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_copies": 2}, "n_copies=2 and subword_dropout=0.0 belong together"),
        ({"subword_dropout": 0.1}, "n_copies=1 and subword_dropout=0.1 belong together"),
        ({"n_copies": 0}, "n_copies=0 must be at least 1"),
        (
            {"n_copies": 2, "subword_dropout": 0.1, "tokenizer": "char"},
            "subword_dropout is for bpe, not for tokenizer=char",
        ),
    ],
)
def test_copies_without_other_pieces_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make_plan(Facts(1000, 50_000), settings=settings)
