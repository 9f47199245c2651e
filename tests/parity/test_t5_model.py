"""Our T5 is Hugging Face's: logits, gradients, what is watched, and step by step."""

import pytest
import torch

from clearhead.observe import Value, watch
from tests.parity.compare import (
    Path,
    assert_near,
    backward,
    both_paths,
    gradient,
    take,
)
from tests.parity.t5_twins import KINDS, PAD, inputs, twin_models

transformers = pytest.importorskip("transformers")
kinds = pytest.mark.parametrize("kind", KINDS)


@pytest.mark.parametrize("is_training", [True, False])
@kinds
@both_paths
def test_logits_and_gradients_are_t5s(
    path: Path, kind: str, is_training: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(path, monkeypatch)
    ours, theirs = twin_models(kind)
    ours.train(is_training)
    theirs.train(is_training)
    given = inputs()
    logits = ours(given["input_ids"], given["decoder_input_ids"])
    expected = theirs(**given).logits
    assert_near(logits, expected, 1e-4)
    other = ours(given["input_ids"].flip(1), given["decoder_input_ids"])
    assert (other - expected).abs().max() > 0.01
    backward(logits, expected)
    for mine, his in (
        (ours.source_embedding.weight, theirs.shared.weight),
        (ours.encoder.get_parameter("positions.weight"), table(theirs.encoder)),
        (ours.decoder.get_parameter("positions.weight"), table(theirs.decoder)),
        (ours.decoder.get_parameter("norm.weight"), theirs.decoder.final_layer_norm.weight),
    ):
        assert_near(gradient(mine), gradient(his), 1e-4)


def table(stack: torch.nn.Module) -> torch.nn.Parameter:
    return stack.get_parameter("block.0.layer.0.SelfAttention.relative_attention_bias.weight")


@pytest.mark.parametrize("parts", [[1] * 25, [3, 1, 1, 20], [25]], ids=str)
@kinds
@torch.no_grad()
def test_step_by_step_is_all_at_once(kind: str, parts: list[int]) -> None:
    """The state is reordered on the way: the rows of the source and of the target go along."""
    ours, _ = twin_models(kind)
    given = inputs(n_target=25)
    source, target = given["input_ids"], given["decoder_input_ids"]
    expected = ours(source, target)
    state, rows, end = ours.start(source), torch.arange(3), 0
    for new in target.split(parts, dim=1):
        logits, state = ours.step(new[rows], state)
        end += new.shape[1]
        assert_near(logits, expected[rows, end - 1], 1e-4)
        assert state.length == end
        order = torch.tensor([2, 0, 1]) if end == 1 else torch.arange(len(rows))
        state, rows = state.reorder(order), rows[order]
        if end == 5:
            keeps = torch.tensor([True, False, True])
            state, rows = state.keep(keeps), rows[keeps]


@kinds
@torch.no_grad()
def test_what_is_watched_is_what_they_return(kind: str) -> None:
    ours, theirs = twin_models(kind)
    given = inputs()
    with watch(ours, "*.weights", "*.bias") as seen:
        ours(given["input_ids"], given["decoder_input_ids"])
    expected = theirs(**given, output_attentions=True)
    is_token = (given["input_ids"] != PAD)[:, None, :, None]
    places = {
        "encoder.blocks.{}.self_attention.weights": expected.encoder_attentions,
        "decoder.blocks.{}.self_attention.weights": expected.decoder_attentions,
        "decoder.blocks.{}.cross_attention.weights": expected.cross_attentions,
    }
    n_compared = 0
    for name, tables in places.items():
        for block, weights in enumerate(tables):
            found = seen[name.format(block)]
            assert isinstance(found, Value)
            # What padding reads means nothing.
            mask = is_token if name.startswith("encoder") else torch.ones(1)
            assert_near(found.tensor * mask, weights * mask)
            n_compared += 1
    assert n_compared == ours.config.n_encoder_layers + 2 * ours.config.n_decoder_layers
    bias = seen["decoder.positions.bias"]
    assert isinstance(bias, Value)
    assert bias.tensor.shape == (4, 9, 9)  # the same for all rows
