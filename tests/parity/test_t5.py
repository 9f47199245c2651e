"""Relative positions are T5's, in the encoder (both ways) and in the decoder (backwards only)."""

import pytest
import torch
from transformers import T5Config
from transformers.models.t5.modeling_t5 import T5Attention

from clearhead.layers import MultiHeadAttention, RelativeBias, masks
from tests.parity.compare import (
    Path,
    additive,
    assert_near,
    assert_same_gradients,
    backward,
    both_paths,
    gradient,
    randomise,
    take,
    twins,
)
from tests.parity.weights import hf_t5_attention

B, T, D, H, K = 2, 9, 16, 4, 6

both_directions = pytest.mark.parametrize("both_ways", [True, False])


def their_attention(
    both_ways: bool, n_buckets: int = 8, max_distance: int = 20
) -> tuple[T5Attention, RelativeBias]:
    """T5's attention with random weights, and our positions with the same table."""
    config = T5Config(
        d_model=D,
        num_heads=H,
        d_kv=K,
        dropout_rate=0.0,
        relative_attention_num_buckets=n_buckets,
        relative_attention_max_distance=max_distance,
        is_decoder=not both_ways,
        attn_implementation="eager",
    )
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    randomise(theirs)
    positions = RelativeBias(H, n_buckets=n_buckets, max_distance=max_distance, both_ways=both_ways)
    positions.load_state_dict({"weight": theirs.relative_attention_bias.weight.detach()})
    return theirs, positions


@pytest.mark.parametrize(("n_buckets", "max_distance"), [(32, 128), (8, 20), (4, 64), (10, 100)])
@both_directions
def test_buckets_are_t5s(both_ways: bool, n_buckets: int, max_distance: int) -> None:
    ours = RelativeBias(1, n_buckets=n_buckets, max_distance=max_distance, both_ways=both_ways)
    distance = torch.arange(-300, 301)[None]
    expected = T5Attention._relative_position_bucket(distance, both_ways, n_buckets, max_distance)
    assert torch.equal(ours.buckets(distance), expected)
    assert expected.max() == n_buckets - 1  # the distances reach the last bucket


@pytest.mark.parametrize(("n_queries", "n_keys"), [(T, T), (1, T), (4, T), (50, 200)])
@both_directions
def test_relative_bias_is_t5s(both_ways: bool, n_queries: int, n_keys: int) -> None:
    theirs, ours = their_attention(both_ways)
    bias = ours(n_queries, n_keys)
    expected = theirs.compute_bias(n_queries, n_keys, past_seen_tokens=n_keys - n_queries)
    assert torch.equal(bias, expected)
    backward(bias, expected)
    assert_near(gradient(ours.weight), gradient(theirs.relative_attention_bias.weight))


@pytest.mark.parametrize("is_training", [True, False])
@both_directions
@both_paths
def test_attention_with_relative_bias_is_t5s(
    path: Path, both_ways: bool, is_training: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(path, monkeypatch)
    theirs, positions = their_attention(both_ways)
    ours = MultiHeadAttention(D, H, d_head=K, scale=1.0)
    ours.load_state_dict(hf_t5_attention(theirs.state_dict()))
    ours.train(is_training)
    theirs.train(is_training)
    x, y = twins(B, T, D)
    is_token = torch.arange(T) < torch.tensor([T, 5])[:, None]
    may_attend = masks.padding(is_token).expand(-1, -1, T, -1)
    if not both_ways:
        may_attend = may_attend & masks.causal(T)

    output = ours(x, may_attend=may_attend, bias=positions(T, T))
    expected = theirs(y, mask=additive(may_attend))[0]
    assert_near(output, expected)
    backward(output, expected)
    assert_near(gradient(x), gradient(y))
    assert_same_gradients(ours, theirs, hf_t5_attention)
    assert_near(gradient(positions.weight), gradient(theirs.relative_attention_bias.weight))
    assert (ours(x, may_attend=may_attend) - expected).abs().max() > 0.01
