"""Counting neighbours by hand, what is hidden in a test, and BERT's own answers."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from click.testing import CliRunner

from clearhead.cli import main
from clearhead.config import BertConfig
from clearhead.errors import InputError
from clearhead.models import Bert
from clearhead.observe.reading import Reading
from clearhead.tasks.fill.counts import BOTH_SIDES, LEFT_SIDE, NO_SIDE, PRIOR, Counts
from clearhead.tasks.fill.evaluate import guess_gaps, hide_tokens, score_gaps
from clearhead.tasks.fill.filler import Filler
from clearhead.tasks.fill.first_weights import look_around
from clearhead.tasks.folder import task_of
from clearhead.tasks.text_corpus import encode_texts
from clearhead.text import Tokenizer

ROW = np.array([3, 4, 5, 3, 4, 5, 3, 5, 5])


def test_counts_by_hand() -> None:
    """4 stands between 3 and 5 twice, 5 once; seven tokens, each seen once more."""
    (alone,) = Counts(ROW, 7, NO_SIDE).guess(ROW, np.array([1]))
    assert alone.tolist() == pytest.approx([n / 16 for n in (1, 1, 1, 4, 3, 5, 1)])
    asked = np.array([3, 0, 5])
    right = np.array([0, 0, 0, 0, 3, 2, 0])  # before 5: 4, 4, and after them 3 → 5 5
    (both,) = Counts(ROW, 7, BOTH_SIDES).guess(asked, np.array([1]))
    before_5 = np.bincount(ROW[:-1][ROW[1:] == 5], minlength=7)
    after_3 = np.bincount(ROW[1:][ROW[:-1] == 3], minlength=7)
    inside = np.array([0, 0, 0, 0, 2, 1, 0])
    p = alone
    for counts in (before_5, after_3, inside):
        p = (counts + PRIOR * p) / (counts.sum() + PRIOR)
    assert both.tolist() == pytest.approx(p.tolist())
    assert right.sum() == 5
    assert both.sum() == pytest.approx(1.0)
    # A neighbour that is hidden tells nothing.
    (left,) = Counts(ROW, 7, LEFT_SIDE).guess(np.array([0, 0, 0]), np.array([1]))
    assert left.tolist() == pytest.approx(alone.tolist())


def small(text: str) -> tuple[Bert, Tokenizer]:
    torch.manual_seed(0)
    tokenizer = Tokenizer.train([text], "char", has_mask=True)
    sizes: dict[str, Any] = {
        "n_positions": 12, "n_layers": 1, "d_model": 16, "d_ff": 32, "n_heads": 2,
    }  # fmt: skip
    return Bert(BertConfig(n_tokens=tokenizer.n_tokens, **sizes)).eval(), tokenizer


def test_every_token_is_hidden_once_and_never_seen() -> None:
    text = "abcdefgh" * 9
    model, tokenizer = small(text)
    hidden = hide_tokens(tokenizer, [text])
    assert np.stack(hidden.rounds).sum(0).tolist() == [1] * len(text) + [0]  # but for the end
    assert hidden.n_hidden == len(text)
    assert sorted(hidden.targets()) == sorted(tokenizer.encode(text))
    one = hide_tokens(tokenizer, [text], n_rounds=1)
    assert np.array_equal(one.rounds[0], hidden.rounds[0])
    found = guess_gaps(model, tokenizer, one, context=12)
    # By hand: windows of ten tokens between <bos> and <eos>, all hidden ones replaced.
    row = encode_texts(tokenizer, [text]).astype(np.int64)
    log_probs = []
    for begin in range(0, len(row), 10):
        gaps = one.rounds[0][begin : begin + 10]
        shown = np.where(gaps, tokenizer.mask, row[begin : begin + 10])
        with torch.no_grad():
            logits = model(torch.tensor([[1, *shown.tolist(), 2]]))[0, 1:-1].log_softmax(-1)
        log_probs += [float(logits[n, row[begin + n]]) for n in np.flatnonzero(gaps)]
    assert sorted(found.log_probs.tolist()) == pytest.approx(sorted(log_probs), abs=1e-5)
    assert found.perplexity == pytest.approx(math.exp(-np.mean(log_probs)), rel=1e-5)
    with pytest.raises(InputError, match="no text in which"):
        hide_tokens(tokenizer, [""])


def test_the_first_heads_look_at_neighbours() -> None:
    """Each gives one neighbour more than any other token, and the second block is as it was."""
    torch.manual_seed(0)
    config = BertConfig(n_tokens=50, n_positions=40, n_layers=2, d_model=128, d_ff=64, n_heads=4)
    model = Bert(config).eval()
    before = model.get_parameter("encoder.blocks.1.self_attention.w_qkv").clone()
    look_around(model)
    tokens = torch.randint(5, 50, (40,)).tolist()
    weights = Reading(model, tokens, [str(token) for token in tokens]).attention()
    for head, offset in enumerate((-1, 1, -2, 2)):
        means = [float(weights[0, head].diagonal(n).mean()) for n in range(-6, 7)]
        assert max(means) == means[offset + 6] > 0.4
        assert sorted(means)[-2] < 0.1
    assert torch.equal(model.get_parameter("encoder.blocks.1.self_attention.w_qkv"), before)


def test_scores_of_the_most_frequent_token() -> None:
    text = "aab" * 30
    model, tokenizer = small(text)
    hidden = hide_tokens(tokenizer, [text])
    found = guess_gaps(model, tokenizer, hidden, context=12)
    train = encode_texts(tokenizer, [text])
    values = {s.name: s.value for s in score_gaps(found, hidden, tokenizer, train)}
    assert values["accuracy of the most frequent token"] == pytest.approx(200 / 3)
    assert values["accuracy of counts of the tokens on both sides"] > 80
    assert 0 <= values["accuracy of hidden tokens"] <= 100
    alone = {s.name for s in score_gaps(found, hidden, tokenizer, None)}
    assert "accuracy of the most frequent token" in alone
    assert len(alone) == 4


def test_a_bert_of_others_fills_the_same_gaps(tmp_path: Path) -> None:
    """Their pipeline, with random weights and word pieces, through `clearhead convert`."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "##s", "sat", "on", "mat"]
    words += [".", *(f"w{n}" for n in range(20))]
    (tmp_path / "vocab.txt").write_text("\n".join(words) + "\n")
    tokenizer = transformers.BertTokenizerFast(str(tmp_path / "vocab.txt"))
    torch.manual_seed(1)
    sizes = {"hidden_size": 16, "intermediate_size": 24, "max_position_embeddings": 20}
    config = transformers.BertConfig(
        vocab_size=len(words), num_hidden_layers=2, num_attention_heads=2, **sizes
    )
    theirs = transformers.BertForMaskedLM(config).eval()
    for parameter in theirs.parameters():
        parameter.data += torch.randn_like(parameter) * 0.2
    theirs.save_pretrained(tmp_path / "in")
    tokenizer.save_pretrained(tmp_path / "in")
    result = CliRunner().invoke(main, ["convert", str(tmp_path / "in"), str(tmp_path / "ours")])
    assert result.exit_code == 0, result.output
    assert task_of(tmp_path / "ours") == "fill"
    filler = Filler.load(tmp_path / "ours")
    pipeline = transformers.pipeline("fill-mask", model=theirs, tokenizer=tokenizer, top_k=31)
    expected = [
        (one["token_str"], one["score"])
        for one in pipeline("the [MASK] sat on the mat.")
        if not one["token_str"].startswith("[")
    ]
    for mark in ("<mask>", "[MASK]"):
        found = filler(f"The {mark} sat on the mat.", n_best=len(expected))
        assert len(found.gaps[0]) == len(expected) == 26
        for ours, (token, score) in zip(found.gaps[0], expected, strict=True):
            assert ours.text.strip() == token.removeprefix("##")
            assert ours.probability == pytest.approx(score, abs=1e-5)
        assert found.text.startswith("The ")
        assert found.text.endswith(" sat on the mat.")
    with pytest.raises(InputError, match=r"write <mask> or \[MASK\] where"):
        filler("The cat")
