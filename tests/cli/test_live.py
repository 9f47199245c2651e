"""The display of a training run, fed with what a run would tell."""

import io
import time
import unicodedata
from dataclasses import replace

import pytest
from rich.console import Console

from clearhead.cli.live import Live
from tests.cli.told_run import FORECAST, HINDI, REPORT, events, make_plan, n_cells, step, validation


class Clock:
    """A clock that is set by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def console(width: int, is_terminal: bool) -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    made = Console(
        file=file,
        width=width,
        height=50,
        force_terminal=is_terminal,
        force_interactive=is_terminal,
        highlight=False,
        _environ={},
    )
    return made, file


def shown(live: Live, width: int) -> str:
    """The live region as it is drawn now."""
    to = Console(file=io.StringIO(), width=width, record=True, highlight=False, _environ={})
    to.print(live._draw())
    return to.export_text()


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_whole_run(width: int, is_terminal: bool) -> None:
    to, file = console(width, is_terminal)
    with Live(to) as live:
        for kind, facts in events():
            live(kind, facts)
    text = file.getvalue()
    for fact in (
        "data/en[hi].tsv",
        "a side is blank",
        "900 distinct pairs remain of 1,000",
        "2,612,224",
        "about 23 min",
        "at most 1.2 GB",
        "training.lr",
        "0.0015",
        "9,500 pairs fill [tiny]",
        "step 70 was left out",
        "BLEU 31.25",
        "best so far",
        "best is 31.25 at step 100",
        "[bold]आप[/bold] [/] कैसे",
        "finished at step 200: 200 steps are done",
        "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.5.1",
        "models/en hi[1]/report.html",
        "clearhead run 'models/en hi[1]' \"How are you?\"",
        "clearhead evaluate 'models/en hi[1]' FILE",
        "clearhead show 'models/en hi[1]'",
    ):
        assert fact in text, fact
    assert "\x1b[31mred" not in text


@pytest.mark.parametrize("width", [10, 40])
def test_a_narrow_terminal(width: int) -> None:
    with Live(console(width, is_terminal=True)[0]) as live:
        for kind, facts in events():
            live(kind, facts)
            if kind in ("probe", "validation"):
                assert max(map(n_cells, shown(live, width).splitlines())) <= width


def test_a_terminal_without_our_letters() -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii", errors="replace")
    to = Console(file=file, width=80, force_terminal=True, force_interactive=True, _environ={})
    with Live(to) as live:
        for kind, facts in events():
            live(kind, facts)
            if kind == "validation" and live._region is not None:
                live._region.refresh()
    file.flush()
    assert b"nats per token ? learning rate" in raw.getvalue()  # no row of question marks


def test_plain_lines_hold_no_control_characters() -> None:
    to, file = console(80, is_terminal=False)
    with Live(to) as live:
        for kind, facts in events():
            live(kind, facts)
    lines = file.getvalue().split("\n")
    assert not [line for line in lines if any(unicodedata.category(c) == "Cc" for c in line)]
    assert not [line for line in lines if line != line.rstrip() and "answer  " not in line]
    assert "learning a vocabulary of 8,000 tokens from 9,500 pairs" in lines
    assert f"    reference  {HINDI}" in lines  # whole, however long
    assert sum("source     How are you?" in line for line in lines) == 4


@pytest.mark.parametrize("width", [80, 120])
def test_the_live_region(width: int) -> None:
    clock = Clock()
    live = Live(console(width, is_terminal=True)[0], clock)
    assert "examining the data" in shown(live, width)
    live("tokenizer", {"n_pairs": 9500, "n_tokens": 8000})
    assert "learning a vocabulary of 8,000 tokens" in shown(live, width)
    live("plan", {"plan": make_plan(), "forecast": FORECAST})
    for number in range(1, 101):
        clock.now += 2.0
        live("step", step(number, 9 / number))
    live("validation", validation(100, 31.25))
    text = shown(live, width)
    for fact in (
        "50%  step 100 of 200",
        "3 min 20 s left",
        "3 min 18 s gone",
        "epoch 2",
        "6,000 tokens/s",
        "learning rate 0.0007",
        "validation score 31.25 at step 100",
        "source     How are you?",
        "answer     [bold]आप[/bold] [/] कैसे",
        "Ctrl-C saves and stops",
    ):
        assert fact in text, fact
    assert "█" in text
    assert max(map(n_cells, text.splitlines())) <= width
    assert len(text.splitlines()) <= 20


@pytest.mark.parametrize("is_terminal", [True, False])
def test_first_models_and_the_last(is_terminal: bool) -> None:
    clock, (to, file) = Clock(), console(80, is_terminal)
    live = Live(to, clock)
    plan = replace(make_plan(200), n_first_steps=100)
    live("plan", {"plan": plan, "forecast": replace(FORECAST, seconds=800.0)})
    begun = {"number": 1, "n_models": 2, "languages": "en → hi", "n_steps": 100, "n_after": 300}
    live("first_model", begun)
    live("step", step(1))
    if is_terminal:
        assert "step 1 of 100" in shown(live, 80)
        assert "13 min left" in shown(live, 80)  # of all three, at two seconds a step
    live("validation", validation(50, 31.25))
    live("first_model", {**begun, "number": 2, "languages": "hi → en", "n_after": 200})
    live("step", step(1))
    live("translating", {"n_done": 4096, "n_pairs": 9500})
    if is_terminal:
        assert "the first models translate the pairs (4,096 of 9,500)" in shown(live, 80)
    live("last_model", {"n_pairs": 28_000, "n_steps": 200, "n_after": 0})
    live("validation", validation(20, 11.5))
    text = file.getvalue()
    for fact in (
        "first models",
        "first model 1 of 2: en → hi",
        "first model 2 of 2: hi → en",
        "the last model learns from 28,000 pairs, old and new",
    ):
        assert fact in text, fact
    assert text.rstrip().count("best so far") == 2  # the score of another model is no bar


def test_a_step_takes_twice_as_long_where_two_models_learn_beside_each_other() -> None:
    live = Live(console(80, True)[0], Clock())
    plan = replace(make_plan(200), n_first_steps=100)
    live("plan", {"plan": plan, "forecast": replace(FORECAST, seconds=800.0)})
    begun = {"number": 1, "n_models": 2, "languages": "en → hi", "n_steps": 100}
    live("first_model", {**begun, "n_after": 100, "n_at_once": 2})
    live("step", step(1))
    assert "13 min left" in shown(live, 80)  # four seconds a step, for half as many of the last one
    live("last_model", {"n_pairs": 28_000, "n_steps": 200, "n_after": 0})
    live("step", step(1))
    assert "6 min 38 s left" in shown(live, 80)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_steps_are_cheap(is_terminal: bool) -> None:
    with Live(console(80, is_terminal)[0]) as live:
        live("plan", {"plan": make_plan(100_000), "forecast": FORECAST})
        live("validation", validation(0, 1.0))
        start = time.perf_counter()
        for number in range(1, 2001):
            live("step", step(number))
        assert time.perf_counter() - start < 1.0


def test_plain_progress_is_rare() -> None:
    clock = Clock()
    to, file = console(80, is_terminal=False)
    with Live(to, clock) as live:
        live("plan", {"plan": make_plan(1000), "forecast": FORECAST})
        for number in range(1, 1001):
            clock.now += 0.25 if number <= 500 else 10.0
            live("step", step(number))
    found = [
        int(line.split()[1]) for line in file.getvalue().splitlines() if line.startswith("step ")
    ]
    # Every 30 seconds at first, when the steps are fast; then every 50 steps of 1,000.
    assert found == [1, 121, 241, 361, 481, *range(531, 1001, 50)]


def test_the_best_score_of_an_earlier_process() -> None:
    to, file = console(120, is_terminal=False)
    with Live(to) as live:
        live("plan", {"plan": make_plan(), "forecast": FORECAST})
        live("resume", {"step": 100, "n_steps": 200, "best_score": 35.0, "best_step": 80})
        live("validation", validation(150, 30.0))
    assert "going on from step 100 of 200" in file.getvalue()
    assert "best is 35.00 at step 80" in file.getvalue()
    to, file = console(120, is_terminal=False)
    with Live(to) as live:  # when it is not told, no more is claimed than is known
        live("resume", {"step": 100, "n_steps": 200})
        live("validation", validation(150, 30.0))
        live("validation", validation(160, 29.0))
    assert "best since step 100\n" in file.getvalue()
    assert "best since step 100 is 30.00 at step 150\n" in file.getvalue()
    assert "so far" not in file.getvalue()


def test_who_trains_knows_best() -> None:
    to, file = console(120, is_terminal=False)
    with Live(to) as live:
        live("resume", {"step": 100, "n_steps": 200})
        live("validation", validation(150, 30.0) | {"best_score": 40.0, "best_step": 80})
        live("validation", validation(160, 30.0) | {"best_score": 30.0, "best_step": 160})
    found = [line for line in file.getvalue().splitlines() if "BLEU" in line]
    assert [line.rpartition(" · ")[2] for line in found] == [
        "best is 40.00 at step 80",
        "best so far",
    ]


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_run_that_breaks_off_says_where(is_terminal: bool) -> None:
    to, file = console(120, is_terminal)
    live = Live(to)

    def train() -> None:
        with live:
            live("plan", {"plan": make_plan(), "forecast": FORECAST})
            for number in range(1, 6):
                live("step", step(number))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train()
    last = file.getvalue().splitlines()[-1]
    assert "step 5 of 200 (2%)" in last
    assert "loss 3.000" in last
    if is_terminal:
        assert "\x1b[?25h" in file.getvalue()  # the cursor is back


def test_the_verdict_of_unfit_data_is_left_to_the_error() -> None:
    to, file = console(80, is_terminal=False)
    with Live(to) as live:
        live("report", {"report": replace(REPORT, fatal=("only 5 pairs",))})
    assert "a side is blank" in file.getvalue()
    assert "only 5 pairs" not in file.getvalue()


def test_what_is_not_known_is_not_shown() -> None:
    to, file = console(80, is_terminal=False)
    with Live(to) as live:
        live("moon", {"phase": "full"})
    assert file.getvalue() == ""


def test_a_spike_is_not_called_infinite() -> None:
    to, file = console(80, is_terminal=False)
    with Live(to) as live:
        live("skipped", {"step": 7, "loss": 90.0, "norm": 1e9})
    assert "jumped up (loss 90, gradient norm 1e+09)" in file.getvalue()


def test_a_long_source_is_no_example() -> None:
    to, file = console(80, is_terminal=False)
    with Live(to) as live:
        *_, (kind, facts) = events()
        live(kind, facts)
    assert "clearhead run 'models/en hi[1]' \"…\"" in file.getvalue()


def test_a_model_of_pictures_is_tried_with_one() -> None:
    to, file = console(80, is_terminal=False)
    with Live(to) as live:
        of_pictures = replace(FORECAST, unit="pictures", counted="pictures", guessed="picture")
        live("plan", {"plan": make_plan(), "forecast": of_pictures})
        *_, (kind, facts) = events()
        live(kind, facts)
    assert "clearhead run 'models/en hi[1]' picture.png" in file.getvalue()


def test_what_comes_next_can_be_left_out() -> None:
    to, file = console(80, is_terminal=False)
    with Live(to, names_next=False) as live:
        *_, (kind, facts) = events()
        live(kind, facts)
    assert "report.html" in file.getvalue()
    assert "Try next" not in file.getvalue()
