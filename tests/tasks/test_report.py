"""The report: true, whole with any part missing, and safe whatever the texts in it are."""

import json
import math
import os
import random
import tomllib
from dataclasses import FrozenInstanceError, asdict
from fnmatch import fnmatch
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from clearhead.data import examine, open_pairs
from clearhead.data.phrasebook import phrasebook
from clearhead.errors import InputError
from clearhead.tasks.report import Sample, write_report
from clearhead.tasks.samples import best_and_worst
from tests.house.tree import PACKAGE, ROOT

HOSTILE = [
    "</script><script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "<!-- --> ]]> &lt; &amp;nbsp;",
    "a\u2028b\u2029c",
    "\u202eabc\u2069\u2069 \u200f \u2066",
    "nul \0, escape \x1b[31m, half \ud800 a pair",
    "{card} {0} %s $x",
    "مرحبا",
    "x" * 3000,
]
VOID = {"br", "meta", "wbr"}


class Page(HTMLParser):
    """A page as its elements, texts and tables; tags must be balanced."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[tuple[str, ...], str]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), attrs
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert "svg" in self.open, f"<{tag}/> closes itself only in SVG"
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((tuple(self.open), data))

    @property
    def text(self) -> str:
        return "".join(data for path, data in self.texts if "style" not in path)

    def inside(self, tag: str) -> list[str]:
        return [data for path, data in self.texts if path and path[-1] == tag]


def journal(n_steps: int = 300) -> list[dict[str, Any]]:
    """What a run of so many steps writes."""
    lines: list[dict[str, Any]] = []
    for step in range(1, n_steps + 1):
        loss, norm = 1 + 7 * math.exp(-step / 60), 1.5
        if step in (7, 8):
            loss = norm = math.nan
            lines.append({"kind": "skipped", "step": step, "loss": math.nan, "norm": math.inf})
        facts = {"loss": loss, "rate": 1e-3 * step / n_steps, "norm": norm, "epoch": step // 50}
        lines.append({"kind": "step", "step": step, **facts, "tokens_per_second": 4000.0 + step})
        if step % 50 == 0:
            scores = {"score": step / 10, "bleu": step / 10, "loss": 9 / step + 1, "samples": []}
            lines.append({"kind": "validation", "step": step, **scores})
    lines.append({"kind": "end", "step": n_steps, "reason": f"{n_steps} steps are done"})
    return lines


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    chooser = random.Random(0)
    return [
        Sample(english, hindi, hindi[: chooser.randrange(len(hindi) + 1)], chooser.random() * 100)
        for english, hindi in phrasebook()[:100]
    ]


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("data") / "pairs.tsv"
    rows = [("en", "hi"), *phrasebook()[:600], ("", "खाली"), ("Hi there", "Hi there")]
    path.write_text("".join(f"{english}\t{hindi}\n" for english, hindi in rows))
    return {
        "task": "translate",
        "languages": ["en", "hi"],
        "n_parameters": 2_612_224,
        "data": {**examine(open_pairs([path])).to_dict(), "fingerprint": "8a9075b5"},
        "held_out": {"validation": 60, "test": 100},
        "plan": {"n_vocabulary": 1234, "training": {"n_steps": 400, "lr": 0.0015}},
        "forecast": {
            "n_parameters": 2_612_224, "n_pairs": 440, "n_batches": 50, "n_epochs": 8.0,
            "padding": 0.061, "tokens_per_second": 4200.0, "seconds": 95.0,
            "n_bytes": 1_310_000_000, "reasons": ["such data has little more to give"],
        },
        "training": {
            "step": 300, "best_step": 250, "best_score": 25.0, "reason": "300 steps are done",
            "seconds": 83.2,
        },
        "scores": [
            {"name": "BLEU", "value": 34.871, "signature": "nrefs:1|case:lc"},
            {"name": "chrF", "value": 59.2, "signature": "nrefs:1|nc:6"},
            {"name": "BLEU of copying the source", "value": 1.42, "signature": "nrefs:1|case:lc"},
        ],
    }  # fmt: skip


def write(
    folder: Path, card: dict[str, Any], lines: list[dict[str, Any]], samples: list[Sample]
) -> Page:
    path = folder / "report.html"
    write_report(path, card, lines, samples)
    page = Page(path.read_text(encoding="utf-8"))
    assert_harmless(page)
    return page


def assert_harmless(page: Page) -> None:
    """Nothing is run, loaded or linked, and no text from data became markup."""
    for tag, attributes in page.tags:
        assert tag in {
            "html", "head", "meta", "title", "style", "body", "header", "main", "section", "div",
            "span", "h1", "h2", "h3", "p", "b", "i", "ul", "li", "dl", "dt", "dd", "bdi", "code",
            "br", "wbr", "table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption",
            "svg", "g", "line", "polyline", "polygon", "circle", "rect", "text",
        }, tag  # fmt: skip
        assert not {"src", "href", "xlink:href", "srcset", "action"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
    for style in page.inside("style"):
        assert "url(" not in style
        assert "@import" not in style
    policy = [a["content"] for tag, a in page.tags if tag == "meta" and "http-equiv" in a]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


def test_the_verdict_names_what_counts(
    tmp_path: Path, card: dict[str, Any], samples: list[Sample]
) -> None:
    page = write(tmp_path, card, journal(), samples)
    assert page.inside("title")[0] == "Translator en → hi"
    assert (
        "34.9 BLEU and 59.2 chrF on 100 pairs that were held out: 2.6 million parameters, "
        "trained on 440 pairs in 1 min 23 s." in page.text
    )


def test_scores_stand_with_their_recipe_beside_the_copy(
    tmp_path: Path, card: dict[str, Any]
) -> None:
    text = write(tmp_path, card, [], []).text
    assert "BLEU34.871.42nrefs:1|case:lc\n" in text
    assert "chrF59.20–nrefs:1|nc:6\n" in text
    assert "BLEU of copying" not in text
    assert "Copying the source scores" not in text


def test_a_translator_no_better_than_a_copy_is_called_so(tmp_path: Path) -> None:
    names = ["BLEU", "BLEU of copying the source"]
    scores = [{"name": name, "value": 12.0, "signature": "s"} for name in names]
    assert "Copying the source scores as high" in write(tmp_path, {"scores": scores}, [], []).text
    scores[1]["signature"] = "another recipe"
    text = write(tmp_path, {"scores": scores}, [], []).text
    assert "BLEU of copying the source12.00" in text, "another recipe cannot be compared"
    assert "scores as high" not in text


def test_the_page_tells_what_happened(
    tmp_path: Path, card: dict[str, Any], samples: list[Sample]
) -> None:
    text = write(tmp_path, card, journal(), samples).text
    for told in (
        "a side is blank10.2%dropped602",
        "source and target are identical10.2%dropped603",
        "entries read602", "dropped2 (0.3%)", "pairs kept600", "fingerprint8a9075b5",
        "time1 min 35 s1 min 23 s", "steps400300", "passes through the data8.06.0",
        "tokens per second4,2004,150", "memory1.3 GB–", "padding in the batches6.1%–",
        "such data has little more to give", "n_vocabulary1234", "training.lr0.0015",
        "Training ended at step 300: 300 steps are done.",
        "The model holds the weights of step 250, with a validation score of 25.00.",
        "2 steps were left out", "7naninf",
        "Training: from 7.88 to 1.05. Validation: lowest at step 300, 1.03. "
        "Left out because they are not finite: 2.",
        "Highest: 30.00 at step 300.", "best: step 250", "log scale",
    ):  # fmt: skip
        assert told in text, told
    for sentence in card["data"]["assumed"]:
        assert sentence in text


@pytest.mark.parametrize("hostile", HOSTILE)
def test_texts_from_data_stay_texts(
    tmp_path: Path, card: dict[str, Any], samples: list[Sample], hostile: str
) -> None:
    usual = write(tmp_path, card, journal(), samples[:3])
    findings = [{**found, "meaning": hostile} for found in card["data"]["findings"]]
    bad_card = {
        **card,
        "data": {**card["data"], "assumed": [hostile], "paths": [hostile], "findings": findings},
        "scores": [{**score, "signature": hostile} for score in card["scores"]],
        "forecast": {**card["forecast"], "reasons": [hostile]},
        "training": {**card["training"], "reason": hostile},
        "plan": {hostile: {hostile: hostile}},
        "held_out": {"validation": 60, "test": 100, hostile: 5},
        "languages": [hostile, hostile],
    }
    bad_samples = [Sample(hostile, hostile, hostile, sample.chrf) for sample in samples[:3]]
    page = write(tmp_path, bad_card, journal(), bad_samples)
    shown = hostile.translate({0: 0x2400, 0x1B: 0x241B, 0xD800: 0xFFFD})
    n_other_texts = 18  # 2 in the title, 2 scores, 3 · 3 in samples, 5 more in the sections
    assert page.inside("bdi").count(shown) == n_other_texts + len(findings)
    assert all(a.get("dir") == "auto" for tag, a in page.tags if tag == "bdi")
    kinds = {tag for tag, _ in page.tags}
    assert kinds <= {tag for tag, _ in usual.tags}
    assert not [path for path, data in page.texts if shown in data and "svg" in path]


def test_samples_carry_their_language(tmp_path: Path, samples: list[Sample]) -> None:
    page = write(tmp_path, {"languages": ["en", "pt_BR"]}, [], samples[:1])
    languages = [a.get("lang") for tag, a in page.tags if tag == "bdi"]
    assert languages == [None, None, "en", "pt-BR", "pt-BR"]
    page = write(tmp_path, {"languages": ["source", 'x" onclick="y']}, [], samples[:1])
    assert not [a for tag, a in page.tags if tag == "bdi" and "lang" in a]


PARTS = [
    "task", "languages", "n_parameters", "data", "held_out", "plan", "forecast", "training",
    "scores",
]  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_a_missing_part_is_left_out(tmp_path: Path, card: dict[str, Any], part: str) -> None:
    rest = {name: value for name, value in card.items() if name != part}
    empty: list[Any] = [None, {}, [], "odd"]
    cards = [rest, *({**rest, part: value} for value in empty)]
    texts = [write(tmp_path, other, journal(), []).text for other in cards]
    assert len(set(texts)) == 1
    headings = {"data": "What the doctor found", "plan": "Every setting", "scores": "Scores\n"}
    if part in headings:
        assert headings[part] not in texts[0]


def test_a_part_of_a_part_may_be_missing(tmp_path: Path, card: dict[str, Any]) -> None:
    for part in ("data", "held_out", "forecast", "training"):
        for name in card[part]:
            less = {key: value for key, value in card[part].items() if key != name}
            write(tmp_path, {**card, part: less}, journal(20), [])
            write(tmp_path, {**card, part: {**card[part], name: "odd"}}, journal(20), [])


def test_nothing_at_all_is_still_a_page(tmp_path: Path) -> None:
    page = write(tmp_path, {}, [], [])
    assert page.text.split() == ["Translator", "Translator"]


def test_curves_of_a_run_that_hardly_began(tmp_path: Path) -> None:
    lines = journal(1)[:1]
    assert write(tmp_path, {}, lines, []).text.count("nothing was recorded") == 1
    lines = [{"kind": "step", "step": 1, "loss": math.nan}]
    assert write(tmp_path, {}, lines, []).text.count("nothing was recorded") == 4


def test_a_long_run_makes_a_small_page(tmp_path: Path, card: dict[str, Any]) -> None:
    write(tmp_path, card, journal(30_000), [])
    assert (tmp_path / "report.html").stat().st_size < 200_000


def test_a_journal_on_disk_gives_the_same_page(tmp_path: Path, card: dict[str, Any]) -> None:
    once = write(tmp_path, card, journal(), []).text
    data = json.loads(json.dumps([card, journal()]))
    assert write(tmp_path, data[0], data[1], []).text == once


def test_best_and_worst_never_meet_and_do_not_depend_on_the_order(samples: list[Sample]) -> None:
    for n in (1, 2, 3, 15, 16, 17, 100):
        best, worst = best_and_worst(samples[:n])
        assert len(best) == min(8, (n + 1) // 2)
        assert len(worst) == min(8, n // 2)
        ordered = sorted(samples[:n], key=lambda sample: -sample.chrf)
        assert best == ordered[: len(best)]
        assert worst == ordered[::-1][: len(worst)]
    shuffled = [
        Sample(s.source, s.reference, s.answer, 50.0 * (k % 3)) for k, s in enumerate(samples)
    ]
    chosen = best_and_worst(shuffled)
    random.Random(1).shuffle(shuffled)
    assert best_and_worst(shuffled) == chosen
    lengths = [len(sample.reference) for sample in chosen[0]]
    assert lengths == sorted(lengths, reverse=True)


def test_a_sample_without_a_score_is_the_worst(tmp_path: Path) -> None:
    some = [Sample("a", "b", "", math.nan), Sample("c", "d", "d", 100.0)]
    assert best_and_worst(some) == ([some[1]], [some[0]])
    text = write(tmp_path, {}, [], some).text
    assert "exactly the reference1 (50.0%)" in text
    assert "empty answers1 (50.0%)" in text
    assert "chrF–sourceareferencebanswerempty" in text
    assert "nan" not in text


def test_samples_are_frozen() -> None:
    sample = Sample("a", "b", "c", 1.0)
    assert asdict(sample) == {"source": "a", "reference": "b", "answer": "c", "chrf": 1.0}
    with pytest.raises(FrozenInstanceError):
        sample.chrf = 2.0  # type: ignore[misc]


def test_a_page_that_cannot_be_written_leaves_the_old_one(
    tmp_path: Path, card: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    path.write_text("the old one")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"report.html cannot be written: No space left"):
        write_report(path, card, journal(), [])
    assert path.read_text() == "the old one"
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


def test_the_style_sheet_is_shipped() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"]
    shipped = [
        f"{package.replace('.', '/')}/{pattern}"
        for package, some in patterns.items()
        for pattern in some
    ]
    assert (PACKAGE / "tasks" / "report.css").exists()
    assert any(fnmatch("clearhead/tasks/report.css", pattern) for pattern in shipped), shipped
