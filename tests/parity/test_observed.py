"""What is watched is what Hugging Face returns as its attentions, and what NumPy computes."""

import numpy as np
import pytest
import torch

from clearhead.models import Llama, LlamaConfig
from clearhead.observe import Value, watch
from tests.parity.test_marian import PAD, START, V, shapes, twin_models

transformers = pytest.importorskip("transformers")

SOURCE = torch.tensor([[7, 9, 30, 2, 11], [5, 60, 33, PAD, PAD]])
TARGET = torch.tensor([[START, 8, 9, 40], [START, 4, 40, 6]])


def value(seen: object, name: str) -> torch.Tensor:
    found = seen[name]  # type: ignore[index]
    assert isinstance(found, Value)
    return found.tensor


@shapes
def test_marian_returns_the_same_attentions_and_hidden_states(shape: str) -> None:
    ours, theirs = twin_models(shape)
    with torch.no_grad():
        with watch(ours, "*.weights", "*norm.output", "*.vectors", "output.logits") as seen:
            ours.eval()(SOURCE, TARGET)
        expected = theirs.eval()(
            input_ids=SOURCE,
            attention_mask=SOURCE != PAD,
            decoder_input_ids=TARGET,
            output_attentions=True,
            output_hidden_states=True,
        )
    is_token = (SOURCE != PAD)[:, None, :, None]
    places = {
        "encoder.blocks.{}.self_attention.weights": expected.encoder_attentions,
        "decoder.blocks.{}.self_attention.weights": expected.decoder_attentions,
        "decoder.blocks.{}.cross_attention.weights": expected.cross_attentions,
    }
    n_compared = 0
    for name, tables in places.items():
        for block, table in enumerate(tables):
            mine = value(seen, name.format(block))
            # What padding reads means nothing, and differs.
            mask = is_token if name.startswith("encoder") else torch.ones(1)
            assert torch.allclose(mine * mask, table * mask, atol=1e-5)
            n_compared += 1
    assert n_compared == ours.config.n_encoder_layers + 2 * ours.config.n_decoder_layers
    for block, hidden in enumerate(expected.decoder_hidden_states[1:]):
        mine = value(seen, f"decoder.blocks.{block}.feed_forward_residual.norm.output")
        # Marian's positions have all sines before all cosines, and so has every width.
        in_their_order = torch.cat([mine[..., ::2], mine[..., 1::2]], dim=-1)
        assert torch.allclose(in_their_order, hidden, atol=1e-4)
    assert torch.allclose(value(seen, "output.logits"), expected.logits, atol=1e-4)


def test_shared_keys_are_those_of_the_group() -> None:
    config = LlamaConfig(
        n_tokens=V, n_layers=2, d_model=32, d_ff=48, n_heads=4, n_kv_heads=2, pad=PAD
    )
    torch.manual_seed(0)
    ours = Llama(config).eval()
    with torch.no_grad(), watch(ours, "*.self_attention.*") as seen:
        ours(TARGET)
    for block in range(2):
        place = f"blocks.{block}.self_attention"
        name = next(name for name in seen if name.endswith(f"{place}.q")).removesuffix(".q")
        check_against_numpy(seen, name, n_groups=2)


@shapes
def test_numpy_computes_the_same_from_queries_keys_and_values(shape: str) -> None:
    ours, _ = twin_models(shape)
    with torch.no_grad(), watch(ours, "*attention.*") as seen:
        ours.eval()(SOURCE, TARGET)
    names = {name.rpartition(".")[0] for name in seen}
    assert len(names) == ours.config.n_encoder_layers + 2 * ours.config.n_decoder_layers
    for name in names:
        check_against_numpy(seen, name, n_groups=ours.config.block.n_heads)


def check_against_numpy(seen: object, name: str, n_groups: int) -> None:
    """Scores, scaling, mask, softmax and heads: equation 1 with loops and plain arrays."""
    q, k, v, scores, scaled, masked, weights, heads = (
        value(seen, f"{name}.{part}").double().numpy()
        for part in ("q", "k", "v", "scores", "scaled", "masked", "weights", "heads")
    )
    n_heads = q.shape[1]
    assert k.shape[1] == n_groups
    for row in range(len(q)):
        for head in range(n_heads):
            group = head * n_groups // n_heads
            product = q[row, head] @ k[row, group].T
            np.testing.assert_allclose(scores[row, head], product, atol=1e-4)
            np.testing.assert_allclose(scaled[row, head], product / np.sqrt(q.shape[-1]), atol=1e-4)
            shown = masked[row, head]
            is_hidden = np.isneginf(shown)
            np.testing.assert_allclose(shown[~is_hidden], scaled[row, head][~is_hidden], atol=1e-6)
            exponents = np.exp(shown - shown.max(-1, keepdims=True))
            shares = exponents / exponents.sum(-1, keepdims=True)
            np.testing.assert_allclose(weights[row, head], shares, atol=1e-6)
            assert (weights[row, head][is_hidden] == 0).all()
            np.testing.assert_allclose(heads[row, head], shares @ v[row, group], atol=1e-5)
