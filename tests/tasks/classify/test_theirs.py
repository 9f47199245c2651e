"""A classifier of others is brought in with its labels, says the same, and goes out with them."""

import json
from pathlib import Path

import pytest
import torch
import transformers
from click.testing import CliRunner

import clearhead
from clearhead.cli import main
from clearhead.tasks.classify.classifier import Classifier
from tests.parity.compare import randomise

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "good", "bad", "film", "##s", "."]
LABELS = {0: "against", 1: "for", 2: "neither"}


def test_labels_and_probabilities_are_theirs(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    tokenizer = transformers.BertTokenizerFast(str(tmp_path / "vocab.txt"))
    config = transformers.BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=64, id2label=LABELS,
    )  # fmt: skip
    theirs = transformers.BertForSequenceClassification(config).eval()
    randomise(theirs)
    theirs.save_pretrained(tmp_path / "theirs")
    tokenizer.save_pretrained(tmp_path / "theirs")
    for source, to in (("theirs", "ours"), ("ours", "again")):
        command = ["convert", str(tmp_path / source), str(tmp_path / to)]
        made = CliRunner().invoke(main, command)
        assert made.exit_code == 0, made.output
    ours = clearhead.load(tmp_path / "ours")
    assert isinstance(ours, Classifier)
    for text in ("A good film.", "Bad films", "a unicorn"):
        with torch.no_grad():
            found = theirs(**tokenizer(text, return_tensors="pt")).logits.softmax(-1)[0].tolist()
        expected = dict(zip(LABELS.values(), found, strict=True))
        assert ours(text).probabilities == pytest.approx(expected, abs=1e-5)
    about = json.loads((tmp_path / "again" / "config.json").read_text())
    assert about["id2label"] == {str(n): name for n, name in LABELS.items()}
    assert about["label2id"] == {name: n for n, name in LABELS.items()}
