"""Our BERT is that of Hugging Face: vectors, attention, the logits of every head, gradients."""

from typing import Any, Final

import pytest
import torch
import transformers
from torch import Tensor

from clearhead.config import BertConfig
from clearhead.models import Bert
from clearhead.observe import Value, watch
from tests.parity.compare import (
    Path,
    assert_near,
    assert_same_gradients,
    backward,
    both_paths,
    gradients,
    randomise,
    take,
)
from tests.parity.weights import hf_bert

PAD: Final = 3
SHAPES: dict[str, dict[str, int]] = {
    "small": {"n_layers": 1, "d_model": 16, "d_ff": 24, "n_heads": 2},
    "many heads": {"n_layers": 2, "d_model": 24, "d_ff": 96, "n_heads": 12},
    "deep": {"n_layers": 4, "d_model": 20, "d_ff": 16, "n_heads": 1},
}
CLASSES: dict[str, str] = {
    "none": "BertModel",
    "fill": "BertForMaskedLM",
    "classify": "BertForSequenceClassification",
    "span": "BertForQuestionAnswering",
}

shapes = pytest.mark.parametrize("shape", SHAPES)
heads = pytest.mark.parametrize("head", CLASSES)


def twin_models(shape: str, head: Any) -> tuple[Bert, Any]:
    """Ours and theirs, with the same random weights."""
    sizes = SHAPES[shape]
    n_labels = 5 if head == "classify" else 2
    their_config = transformers.BertConfig(
        vocab_size=53,
        hidden_size=sizes["d_model"],
        num_hidden_layers=sizes["n_layers"],
        num_attention_heads=sizes["n_heads"],
        intermediate_size=sizes["d_ff"],
        max_position_embeddings=12,
        type_vocab_size=3,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=PAD,
        num_labels=n_labels,
        attn_implementation="eager",
    )
    theirs = getattr(transformers, CLASSES[head])(their_config)
    randomise(theirs)
    config = BertConfig(
        n_tokens=53,
        pad=PAD,
        n_positions=12,
        n_segments=3,
        dropout=0.0,
        attention_dropout=0.0,
        head=head,
        n_labels=n_labels,
        **sizes,  # type: ignore[arg-type]
    )
    ours = Bert(config)
    ours.load_state_dict(hf_bert(theirs.state_dict()))
    return ours.eval(), theirs.eval()


def texts() -> tuple[Tensor, Tensor]:
    """Texts of several lengths, padded to one, and the segment of each token."""
    lengths = torch.tensor([9, 4, 1, 7])[:, None]
    tokens = torch.randint(4, 53, (4, 9)).where(torch.arange(9) < lengths, PAD)
    return tokens, torch.randint(0, 3, (4, 9))


def their_logits(head: str, output: Any) -> Tensor:
    if head == "span":
        return torch.stack([output.start_logits, output.end_logits], dim=-1)
    return output.last_hidden_state if head == "none" else output.logits


@pytest.mark.parametrize("is_training", [True, False])
@heads
@shapes
@both_paths
def test_logits_and_gradients_are_theirs(
    path: Path, shape: str, head: str, is_training: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(path, monkeypatch)
    ours, theirs = twin_models(shape, head)
    ours.train(is_training)
    theirs.train(is_training)
    tokens, segments = texts()
    is_token = tokens != PAD
    output = theirs(tokens, attention_mask=is_token.long(), token_type_ids=segments)
    logits, expected = ours(tokens, segments), their_logits(head, output)
    assert logits.shape == expected.shape
    if head != "classify":  # what stands at padding means nothing
        logits, expected = logits[is_token], expected[is_token]
    assert_near(logits, expected, 1e-4)
    different = ours(tokens)
    if head != "classify":
        different = different[is_token]
    assert (different - expected).abs().max() > 0.01, "segments change nothing"

    if head == "none":  # the pooler is not part of the vectors
        logits, expected = ours.summarise(tokens, segments), output.pooler_output
        assert_near(logits, expected, 1e-4)
    backward(logits, expected)
    for model in (ours, theirs):  # their lookup does not train the vector of padding
        for name, grad in gradients(model).items():
            if "word_embeddings" in name or "decoder.weight" in name or name == "embedding.weight":
                grad[PAD] = 0
    assert_same_gradients(ours, theirs, hf_bert, 1e-4)


@shapes
@torch.no_grad()
def test_what_is_watched_is_theirs(shape: str) -> None:
    ours, theirs = twin_models(shape, "fill")
    tokens, segments = texts()
    with watch(ours, "*.weights", "*norm.output", "output.scores.logits") as seen:
        ours(tokens, segments)
    output = theirs(
        tokens,
        attention_mask=(tokens != PAD).long(),
        token_type_ids=segments,
        output_attentions=True,
        output_hidden_states=True,
    )

    def value(name: str) -> Tensor:
        found = seen[name]
        assert isinstance(found, Value)
        return found.tensor

    assert len(output.attentions) == ours.config.n_layers
    for n, table in enumerate(output.attentions):
        assert_near(value(f"encoder.blocks.{n}.self_attention.weights"), table, 1e-5)
    embedded, *hidden = output.hidden_states
    assert_near(value("embedding_norm.output"), embedded, 1e-4)
    for n, vectors in enumerate(hidden):
        mine = value(f"encoder.blocks.{n}.feed_forward_residual.norm.output")
        assert_near(mine, vectors, 1e-4)
    assert_near(value("output.scores.logits"), output.logits, 1e-4)
