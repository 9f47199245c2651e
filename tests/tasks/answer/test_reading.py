"""Windows, labels and spans: whatever the text, the marked span is the answer itself."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from clearhead.config import BertConfig
from clearhead.data.question_files import Span
from clearhead.errors import ConfigError, InputError
from clearhead.models import Bert
from clearhead.tasks.answer.reading import Read, Reader, ReadingConfig
from clearhead.tasks.answer.spans import find_spans, score_rows
from clearhead.text import Tokenizer

SMALL = ReadingConfig(n_window=32, n_overlap=10, n_question=8, n_longest=5, n_hints=3)
TOKENIZER = Tokenizer.train(["the cat sat on the mat नमस्ते दुनिया", "where is it"] * 4, "bpe", 512)
LETTERS = st.text(st.sampled_from("ab the cat.é e\u0301न\u093cते 😀\n"), min_size=1, max_size=60)


def read(context: str, config: ReadingConfig = SMALL, question: str = "where is the cat") -> Read:
    return Reader(TOKENIZER, config).read([(question, context)])[0]


@given(LETTERS, st.data())
def test_labels_give_the_answer_back(context: str, data: st.DataObject) -> None:
    found = read(context)
    first = data.draw(st.integers(0, len(found.placed.tokens) - 1))
    last = data.draw(st.integers(first, len(found.placed.tokens) - 1))
    text, start, end = found.text(first, last)
    assert context[start:end] == text
    if not text or text != text.strip():  # a token of white space is no end of a span
        return
    inside = 0
    for row, begin in zip(Reader(TOKENIZER, SMALL).label(found, Span(text, start)), found.begins,
                          strict=True):  # fmt: skip
        if row.labels != (0, 0):
            inside += 1
            a, b = (place - found.n_before + begin for place in row.labels)
            assert found.text(a, b)[0] == text
    if last - first < SMALL.n_overlap - 6:  # the bytes of the letters at both ends belong to it
        assert inside, "a short answer is whole in one window at least"


@given(LETTERS)
def test_windows_cover_everything_and_overlap(context: str) -> None:
    found = read(context)
    covered: list[int] = []
    for window, (begin, row) in enumerate(zip(found.begins, found.rows, strict=True)):
        n = found.n_context(window)
        assert list(row.tokens[found.n_before : -1]) == found.placed.tokens[begin : begin + n]
        assert len(row.tokens) <= SMALL.n_window
        assert len(row.segments or ()) == len(row.tokens)
        covered += range(begin, begin + n)
    assert set(covered) == set(range(len(found.placed.tokens)))
    for before, after in zip(found.begins, found.begins[1:], strict=False):
        assert before + found.n_context(found.begins.index(before)) - after == SMALL.n_overlap


def test_hints_tell_what_the_question_shares() -> None:
    found = read("A mat sat. The cat is on it 2.", ReadingConfig(n_hints=3))
    named = dict(zip(TOKENIZER.tokens(found.rows[0].tokens), found.rows[0].segments or (),
                     strict=True))  # fmt: skip
    assert named["▁cat"] == 7
    assert [n for piece, n in named.items() if piece.endswith("2") or piece == "<0x32>"] == [6]
    assert named["▁on"] == 3
    assert named["▁mat"] == 1
    assert set(read("the cat sat", ReadingConfig()).rows[0].segments or ()) == {0, 1}


def brute(
    found: Read, tables: list[np.ndarray], n_longest: int, lengths: list[float]
) -> dict[tuple[int, int], float]:
    """All spans of all windows, one by one."""
    best: dict[tuple[int, int], float] = {}
    blank = [a >= b for a, b in zip(found.placed.starts, found.placed.ends, strict=True)]
    for window, begin in enumerate(found.begins):
        n = found.n_context(window)
        for i in range(n):
            for j in range(i, min(n, i + n_longest)):
                if blank[begin + i] or blank[begin + j]:
                    continue
                value = (
                    tables[window][found.n_before + i, 0] + tables[window][found.n_before + j, 1]
                )
                value += np.log(lengths[j - i])
                key = begin + i, begin + j
                best[key] = max(best.get(key, -np.inf), value)
    return best


@pytest.mark.parametrize("has_refusals", [False, True])
def test_spans_are_those_of_a_slow_search(has_refusals: bool) -> None:
    config = SMALL.override({"has_refusals": has_refusals})
    found = read(
        "the cat sat on the mat where it sat \n and the mat is on the cat नमस्ते " * 2, config
    )
    assert len(found.rows) > 2
    draw = np.random.default_rng(0)
    tables = [draw.normal(size=(len(row.tokens), 2)) * 3 for row in found.rows]
    lengths = [0.4, 0.3, 0.1, 0.15, 0.05]
    spans = find_spans(found, tables, config, lengths)
    expected = brute(found, tables, config.n_longest, lengths)
    refusal = min(float(table[0].sum()) for table in tables)
    total = sum(np.exp(value) for value in expected.values()) + has_refusals * np.exp(refusal)
    assert spans.refusal == pytest.approx(has_refusals * np.exp(refusal) / total)
    order = sorted(expected, key=lambda key: -expected[key])
    for (first, last, probability), key in zip(spans.best(10), order, strict=False):
        assert (first, last) == key
        assert probability == pytest.approx(np.exp(expected[key]) / total)
        assert first <= last < first + config.n_longest
    assert spans.starts.sum() + spans.refusal == pytest.approx(1)
    assert spans.ends.sum() + spans.refusal == pytest.approx(1)
    assert spans.ends[order[0][1]] == pytest.approx(
        sum(np.exp(v) for (_, last), v in expected.items() if last == order[0][1]) / total
    )


def test_rows_are_scored_as_one_by_one() -> None:
    torch.manual_seed(0)
    sizes: Any = {"n_layers": 1, "d_model": 16, "d_ff": 32, "n_heads": 2, "n_positions": 32}
    model = Bert(BertConfig(n_tokens=TOKENIZER.n_tokens, n_segments=8, head="span", **sizes)).eval()
    rows = read("the cat sat on the mat and on it sat a dog").rows + read("the mat").rows
    together = score_rows(model, rows)
    for row, table in zip(rows, together, strict=True):
        alone = model(torch.tensor([row.tokens]), torch.tensor([row.segments]))[0]
        np.testing.assert_allclose(table, alone.detach().numpy(), atol=1e-5)


def test_nothing_to_read_is_refused() -> None:
    for question, context in (("", "the cat"), ("where", "")):
        with pytest.raises(InputError, match="need at least one word"):
            read(context, question=question)


def test_windows_that_do_not_get_on_are_refused() -> None:
    with pytest.raises(ConfigError, match="n_window=100 leaves no room for the context"):
        ReadingConfig(n_window=100)
    with pytest.raises(ConfigError, match="n_hints=-1 must be at least 0"):
        ReadingConfig(n_hints=-1)
    with pytest.raises(ConfigError, match="n_longest=0 must be at least 1"):
        ReadingConfig(n_longest=0)
