"""What goes on from an edited place is what the rest of the model reads."""

import pytest
import torch
from torch import Tensor

from clearhead.errors import InputError
from clearhead.layers import MultiHeadAttention
from clearhead.observe import Value, put, replace, scale, watch, zero
from clearhead.tasks import Translator
from tests.tasks.small_translator import random_translator

WEIGHTS = "encoder.blocks.0.self_attention.weights"
CROSS = "decoder.blocks.1.cross_attention.weights"


@pytest.fixture(scope="module")
def translator() -> Translator:
    return random_translator()


@torch.no_grad()
def logits(translator: Translator, text: str = "The old dog.") -> Tensor:
    tokenizer = translator.tokenizer
    source = torch.tensor([[*tokenizer.encode(text), tokenizer.eos]])
    return translator.model(source, torch.tensor([[tokenizer.bos, 20, 21, 22]]))


def test_a_head_that_is_zero_adds_nothing(translator: Translator) -> None:
    model = translator.model
    attention = model.get_submodule("decoder.blocks.1.cross_attention")
    assert isinstance(attention, MultiHeadAttention)
    with (
        translator.edit({CROSS: zero(head=1)}),
        watch(model, CROSS.replace("weights", "heads")) as s,
    ):
        edited = logits(translator)
    heads = s[CROSS.replace("weights", "heads")]
    assert isinstance(heads, Value)
    assert (heads.tensor[1] == 0).all()
    assert (heads.tensor[0] != 0).any()
    weight = attention.w_o.weight.detach().clone()  # the same, by taking its columns away
    attention.w_o.weight.data[:, 8:] = 0
    expected = logits(translator)
    attention.w_o.weight.data.copy_(weight)
    assert torch.allclose(edited, expected, atol=1e-5)
    assert not torch.allclose(edited, logits(translator), atol=1e-3)


def test_words_name_places_in_every_row(translator: Translator) -> None:
    with (
        translator.edit({WEIGHTS: [zero(), put(1.0, key="dog")]}),
        translator.watch(WEIGHTS) as seen,
    ):
        translator(["The dog sees the house.", "A dog."], n_beams=1, max_length=2)
    value = seen[WEIGHTS]
    assert isinstance(value, Value)
    for row in (0, 1):
        one = value.row(row)
        is_dog = torch.tensor([token == "▁dog" for token in one.labels("key")])
        assert (one.tensor[..., is_dog] == 1).all()
        assert (one.tensor[..., ~is_dog] == 0).all()


def test_replaying_what_was_there_changes_nothing(translator: Translator) -> None:
    model = translator.model
    name = "encoder.blocks.0.feed_forward.output"
    with watch(model, name) as seen:
        expected = logits(translator)
    with (
        pytest.raises(InputError, match=f"the edit of {name} changed nothing"),
        translator.edit(
            {name: replace(seen[name])}  # type: ignore[arg-type]
        ),
    ):
        assert torch.equal(logits(translator), expected)


def test_everything_from_the_clean_run_restores_it(translator: Translator) -> None:
    """Two sentences of the same length: the residual stream of one in the run of the other."""
    names = ["encoder.blocks.0.feed_forward_residual.norm.output"]
    if translator.model.config.block.norm == "pre":
        names = ["encoder.norm.output"]
    with watch(translator.model, *names) as seen:
        clean = logits(translator, "The old dog.")
    other = logits(translator, "The red dog.")
    assert not torch.allclose(clean, other, atol=1e-3)
    edits = {name: replace(seen[name]) for name in names}  # type: ignore[arg-type]
    with translator.edit(edits):
        restored = logits(translator, "The red dog.")
    assert torch.allclose(restored, clean, atol=1e-6)


def test_scaling_acts_on_what_is_named_only(translator: Translator) -> None:
    name = "decoder.blocks.0.feed_forward.hidden"
    with watch(translator.model, name) as before:
        logits(translator)
    with translator.edit({name: scale(3.0, query=2)}), watch(translator.model, name) as after:
        logits(translator)
    one, other = before[name], after[name]
    assert isinstance(one, Value)
    assert isinstance(other, Value)
    assert torch.allclose(other.tensor[2], 3 * one.tensor[2])
    assert torch.equal(other.tensor[:2], one.tensor[:2])


def test_an_edit_changes_what_is_written(translator: Translator) -> None:
    plain = translator("The old dog.", n_beams=1, max_length=6).tokens
    name = "decoder.blocks.1.feed_forward_residual.sum"
    with translator.edit({name: scale(-1.0)}):
        edited = translator("The old dog.", n_beams=1, max_length=6).tokens
    assert edited != plain
    assert translator("The old dog.", n_beams=1, max_length=6).tokens == plain


def test_edits_that_meet_or_change_nothing_are_errors(translator: Translator) -> None:
    with (
        pytest.raises(InputError, match=r"decoder\.input was to be edited, but nothing passed it"),
        translator.edit({"decoder.input": zero()}),
        torch.no_grad(),
    ):
        translator.model.encode(torch.tensor([[5, 6]]))
    with (
        pytest.raises(InputError, match=f"the edit of {WEIGHTS} changed nothing"),
        translator.edit({WEIGHTS: zero(key="telescope")}),
    ):
        logits(translator)


def test_wrong_places_are_refused(translator: Translator) -> None:
    with (
        pytest.raises(InputError, match=f"{WEIGHTS} has no axis 'heads': did you mean head"),
        translator.edit({WEIGHTS: zero(heads=1)}),
    ):
        pass
    with (
        pytest.raises(InputError, match=r"head=7 is outside .* it has 2 \(0 to 1\)"),
        translator.edit({WEIGHTS: zero(head=7)}),
    ):
        logits(translator)
    with (
        pytest.raises(InputError, match=r"numbers of shape \(3,\) cannot replace"),
        translator.edit({WEIGHTS: replace(torch.zeros(3), head=0, query=0)}),
    ):
        logits(translator)


def test_two_patterns_may_fit_one_place(translator: Translator) -> None:
    edits = {"encoder.blocks.0.*.weights": zero(head=0), WEIGHTS: put(0.5, head=1)}
    with translator.edit(edits), watch(translator.model, WEIGHTS) as seen:
        logits(translator)
    value = seen[WEIGHTS]
    assert isinstance(value, Value)
    assert (value.tensor[0] == 0).all()
    assert (value.tensor[1] == 0.5).all()
