"""A model of others that answers questions is brought in, and finds the same span as theirs."""

from pathlib import Path

import torch
import transformers
from click.testing import CliRunner

import clearhead
from clearhead.cli import main
from clearhead.tasks.answer.answerer import Answerer
from tests.parity.compare import randomise

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "who",
    "ran",
    "?",
    "a",
    "dog",
    "cat",
    "##s",
    "in",
    ".",
]


def test_the_answer_is_theirs(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    tokenizer = transformers.BertTokenizerFast(str(tmp_path / "vocab.txt"))
    config = transformers.BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=64,
    )  # fmt: skip
    theirs = transformers.BertForQuestionAnswering(config).eval()
    randomise(theirs)
    theirs.save_pretrained(tmp_path / "theirs")
    tokenizer.save_pretrained(tmp_path / "theirs")
    run = CliRunner()
    made = run.invoke(main, ["convert", str(tmp_path / "theirs"), str(tmp_path / "ours")])
    assert made.exit_code == 0, made.output
    ours = clearhead.load(tmp_path / "ours")
    assert isinstance(ours, Answerer)
    for context in ("A dog ran in.", "Cats ran in a dog. A cat ran.", "dog cat dog ran"):
        asked = tokenizer("Who ran?", context, return_offsets_mapping=True, return_tensors="pt")
        places = asked.pop("offset_mapping")[0].tolist()
        with torch.no_grad():
            found = theirs(**asked)
        inside = [n for n, s in enumerate(asked["token_type_ids"][0]) if s == 1][:-1]
        scores = {
            (i, j): float(found.start_logits[0, i] + found.end_logits[0, j])
            for i in inside for j in inside if i <= j
        }  # fmt: skip
        first, last = max(scores, key=lambda key: scores[key])
        answer = ours("Who ran?", context)
        assert (answer.start, answer.end) == (places[first][0], places[last][1])
        total = torch.tensor(list(scores.values())).logsumexp(0)
        assert abs(answer.probability - float(torch.exp(scores[first, last] - total))) < 1e-4
