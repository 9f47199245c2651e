"""The doctor: each kind of trouble is found on its line, and nothing is dropped silently."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearhead.data import Limits, PairReport, clean, examine, open_pairs
from clearhead.data.fingerprints import Fingerprints, fingerprint, fingerprint_pair, normalise
from clearhead.data.pair_report import KINDS
from clearhead.data.scripts import count_scripts, has_share, main_script
from clearhead.errors import ConfigError
from tests.data.writing import many_pairs, write_tsv

GOOD = many_pairs(200)
AT = len(GOOD) + 1  # the line after the good ones


def report_on(path: Path, extra: list[tuple[str, str]], limits: Limits = Limits()) -> PairReport:  # noqa: B008
    """Examine the good pairs and some others after them."""
    return examine(open_pairs([write_tsv(path / "en-hi.tsv", GOOD + extra)]), limits=limits)


@pytest.mark.parametrize(
    ("kind", "pair"),
    [
        ("blank", ("", "कुछ नहीं")),
        ("blank", ("nothing", " \u00a0 ")),
        ("nul", ("a\0b is here", "यह यहाँ है")),
        ("control", ("a bell\x07 rings", "घंटी बजती है")),
        ("control", ("a dash\x96", "एक रेखा")),
        ("undecodable", ("caf\ufffd is open", "कैफ़े खुला है")),
        ("identical", ("Keep me as I am", "Keep me as I am")),
        ("long", ("word " * 500, "शब्द " * 500)),
        ("ratio", ("Short.", "बहुत लंबा वाक्य " * 9)),
        ("script", ("A sentence in English", "Another sentence")),
        ("script", ("हिंदी में एक वाक्य", "एक और वाक्य यहाँ")),
        ("duplicate", GOOD[7]),
        ("duplicate", (f"  {GOOD[7][0]}", f"{GOOD[7][1]}  ")),
        ("one to many", (GOOD[3][0], "कुछ और ही बात है")),
        ("many to one", ("Something else entirely.", GOOD[3][1])),
    ],
)
def test_each_kind_is_found_on_its_line(tmp_path: Path, kind: str, pair: tuple[str, str]) -> None:
    report = report_on(tmp_path, [pair])
    (found,) = report.findings
    assert (found.kind, found.count, found.places) == (kind, 1, (AT,))
    assert found.share == pytest.approx(1 / 201)
    assert report.n_kept == 200 + (found.effect == "noted")
    assert not report.is_fatal


@pytest.mark.parametrize(
    "pair",
    [
        ("Thanks", "धन्यवाद"),
        ("5 + 5", "5 + 5"),
        ("GNOME", "गनोम"),
        ("Audacity Log", "Audacity लॉग"),
        ("tab\u200dless", "जोड़\u200dहीन"),
        ("OK", "ठीक"),
    ],
)
def test_what_is_well_is_kept(tmp_path: Path, pair: tuple[str, str]) -> None:
    assert report_on(tmp_path, [pair]).findings == ()


def test_limits_are_obeyed(tmp_path: Path) -> None:
    extra = [("Keep me as I am", "Keep me as I am"), ("Short.", "बहुत लंबा वाक्य " * 9)]
    limits = Limits(drop_identical=False, max_ratio=100.0, min_script_share=0.0)
    assert report_on(tmp_path, extra, limits).n_kept == 202
    assert report_on(tmp_path, extra, Limits(max_length=10)).n_kept == 0
    for wrong in ({"max_length": 0}, {"max_ratio": 1.0}, {"max_unusable": 2.0}):
        with pytest.raises(ConfigError):
            Limits().override(wrong)


def test_only_the_first_lines_are_shown(tmp_path: Path) -> None:
    (found,) = report_on(tmp_path, [("", "x")] * 7).findings
    assert found.count == 7
    assert found.places == tuple(range(AT, AT + 5))


def test_leaks_from_the_test_file_are_dropped(tmp_path: Path) -> None:
    train = open_pairs([write_tsv(tmp_path / "train.tsv", GOOD)])
    held_out = [GOOD[0], (GOOD[1][0], "एक और अनुवाद"), ("New sentence.", "नया वाक्य।")]
    test = open_pairs([write_tsv(tmp_path / "test.tsv", held_out)])
    report = examine(train, test=test)
    assert {f.kind: f.places for f in report.findings} == {
        "leaked pair": (1,),
        "leaked source": (2,),
    }
    assert [pair.line for pair in clean(train, test=test)] == list(range(3, 201))


def test_reader_tallies_are_in_the_report(tmp_path: Path) -> None:
    path = tmp_path / "hi.po"
    good = "".join(f'msgid "{s}"\nmsgstr "{t}"\n\n' for s, t in GOOD)
    path.write_text(good + '#, fuzzy\nmsgid "a"\nmsgstr "b"\n' * 500, encoding="utf-8")
    report = examine(open_pairs([path]))
    assert (report.n_read, report.n_kept) == (700, 200)
    assert not report.is_fatal  # unfinished work says nothing against what is finished


def test_fatal_data(tmp_path: Path) -> None:
    def fatal(pairs: list[tuple[str, str]], name: str = "a.tsv") -> str:
        report = examine(open_pairs([write_tsv(tmp_path / name, pairs)]))
        assert report.is_fatal == bool(report.fatal)
        return report.verdict

    assert "only 99 distinct pairs" in fatal(many_pairs(99) * 3)
    assert "no usable pair" in fatal([("a", ""), ("b", "")])
    assert "60% of the rows are unusable" in fatal(GOOD + [("a", "")] * 300)
    assert "swapped" in fatal([(target, source) for source, target in GOOD], "en-hi.tsv")
    assert "fit for training: 200 distinct pairs remain of 800" in fatal(GOOD * 4)


def test_the_report_is_json_and_plain_lines(tmp_path: Path) -> None:
    report = report_on(tmp_path, [("", "x"), GOOD[0]])
    data = json.loads(json.dumps(report.to_dict()))
    assert data["n_read"] == 202
    assert data["n_kept"] == 200
    assert data["scripts"] == ["Latin", "Devanagari"]
    assert [found["kind"] for found in data["findings"]] == ["blank", "duplicate"]
    assert f"dropped 1 (0.5%): a side is blank, line {AT}" in report.lines()


Sides = st.sampled_from(
    ["", " ", "a", "b c", "A B", "क ख", "a\0", "\x07", "\ufffd", "x" * 99, "b  c"]
)


@given(
    rows=st.lists(st.tuples(Sides | st.text(max_size=9), Sides), min_size=1, max_size=30),
    held_out=st.lists(st.tuples(Sides, Sides), max_size=3),
)
def test_examine_and_clean_agree(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str]],
    held_out: list[tuple[str, str]],
) -> None:
    path = tmp_path_factory.mktemp("any") / "a.jsonl"
    rows = [("start", "anfang"), *rows]
    path.write_text(
        "".join(json.dumps({"source": s, "target": t}) + "\n" for s, t in rows), encoding="utf-8"
    )
    pairs = open_pairs([path])
    test = [next(iter(pairs))._replace(source=s, target=t) for s, t in held_out]
    report, kept = examine(pairs, test=test), list(clean(pairs, test=test))
    assert report.n_kept == len(kept) == len({pair[1:] for pair in kept})
    assert report.n_read == len(rows)
    dropped = sum(found.count for found in report.findings if found.effect == "dropped")
    assert report.n_dropped == dropped
    assert report.n_sources == len({pair.source for pair in kept})
    assert [pair.line for pair in kept] == sorted({pair.line for pair in kept})
    assert {found.kind for found in report.findings} <= set(KINDS)


@given(st.lists(st.integers(1, 50) | st.integers(1, 2**64 - 1), max_size=2000))
def test_fingerprints_are_a_set(values: list[int]) -> None:
    ours, oracle = Fingerprints(), set[int]()
    for value in values:
        assert ours.add(value) == (value not in oracle)
        oracle.add(value)
    assert len(ours) == len(oracle)
    assert all(value in ours for value in oracle)


def test_fingerprints_grow() -> None:
    ours = Fingerprints()
    assert all(ours.add(fingerprint(str(i))) for i in range(5000))
    assert not any(ours.add(fingerprint(str(i))) for i in range(5000))
    assert fingerprint_pair(1, 2) != fingerprint_pair(2, 1)


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(st.sampled_from("aéя漢कि𝒜 5\u0301")), st.sampled_from([0.0, 0.3, 0.7, 1.0]))
def test_the_quick_look_at_scripts_is_certain(text: str, share: float) -> None:
    for script in ("Latin", "Cyrillic", "East Asian", "Devanagari", "Unknown"):
        if has_share(text, script, share):
            assert count_scripts(text)[script] >= share * len(text)


def test_scripts() -> None:
    assert main_script(["日本語です", "カタカナ", "漢字"]) == "East Asian"
    assert main_script(["Привет", "мир", "OK"]) is None
    assert main_script(["123", "?"]) is None
