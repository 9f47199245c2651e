"""The study notes' blocks: norms, feed-forward, residuals and heads, with their sizes."""

import math
import statistics

import pytest
import torch
from torch import Tensor

from clearhead.layers import (
    BatchNorm,
    BlockConfig,
    EncoderBlock,
    FeedForward,
    LayerNorm,
    MultiHeadAttention,
)
from clearhead.layers.attention import merge_heads, split_heads
from clearhead.layers.tap import Tap, listen

# Five sentences (rows) with the features f1, f2, z1, z2, z3 (columns).
TABLE = [
    [2.0, 3.0, 7.0, 5.0, 4.0],
    [1.0, 1.0, 2.0, 3.0, 4.0],
    [5.0, 4.0, 1.0, 2.0, 3.0],
    [6.0, 1.0, 7.0, 5.0, 6.0],
    [7.0, 1.0, 3.0, 3.0, 4.0],
]


def normalised(numbers: list[float]) -> list[float]:
    """(x − mean) / √(variance + ε), by hand."""
    mean, variance = statistics.fmean(numbers), statistics.pvariance(numbers)
    return [(x - mean) / math.sqrt(variance + 1e-5) for x in numbers]


def watched(attention: MultiHeadAttention, tap: Tap, x: Tensor) -> Tensor:
    """Run the attention and return what passed the place."""
    seen: list[Tensor] = []

    def watch(value: Tensor) -> Tensor:
        seen.append(value)
        return value

    with listen({tap: watch}):
        attention(x)
    return seen[0]


@pytest.mark.parametrize("row", range(5))
def test_layer_norm_goes_across_features(row: int) -> None:
    """The 5 × 5 table, row by row."""
    result = LayerNorm(5)(torch.tensor([TABLE]))[0, row]
    assert result.tolist() == pytest.approx(normalised(TABLE[row]), abs=1e-5)


@pytest.mark.parametrize("column", range(5))
def test_batch_norm_goes_across_the_batch(column: int) -> None:
    """The same table, column by column."""
    result = BatchNorm(5)(torch.tensor([TABLE]))[0, :, column]
    by_hand = normalised([row[column] for row in TABLE])
    assert result.tolist() == pytest.approx(by_hand, abs=1e-5)


def test_the_two_norms_in_one_corner() -> None:
    """s1, f1 = 2: row and column both have the mean 4.2, but the variances 2.96 and 5.36."""
    table = torch.tensor([TABLE])
    assert LayerNorm(5)(table)[0, 0, 0].item() == pytest.approx(-2.2 / 2.96**0.5, abs=1e-5)
    assert BatchNorm(5)(table)[0, 0, 0].item() == pytest.approx(-2.2 / 5.36**0.5, abs=1e-5)


def test_padding_pollutes_batch_norm_only() -> None:
    """3 words and 101 padding positions of zeros: layer norm does not notice them."""
    words = torch.randn(1, 3, 8) + 2
    padded = torch.cat([words, torch.zeros(1, 101, 8)], dim=1)
    layer_norm, batch_norm = LayerNorm(8), BatchNorm(8)
    torch.testing.assert_close(layer_norm(padded)[:, :3], layer_norm(words))

    alone, polluted = batch_norm(words), batch_norm(padded)[:, :3]
    torch.testing.assert_close(alone.mean(1), torch.zeros(1, 8), atol=1e-5, rtol=0)
    assert polluted.mean() > 2  # all words look extreme beside so many zeros
    by_hand = normalised([*words[0, :, 0].tolist(), *[0.0] * 101])[:3]
    assert polluted[0, :, 0].tolist() == pytest.approx(by_hand, abs=1e-4)


def test_feed_forward_of_three_words() -> None:
    """(3 × 512)(512 × 2048) + b1 = 3 × 2048; (3 × 2048)(2048 × 512) + b2 = 3 × 512."""
    feed_forward = FeedForward(512, 2048)
    torch.nn.init.normal_(feed_forward.w_1.bias)
    torch.nn.init.normal_(feed_forward.w_2.bias)
    x = torch.randn(3, 512)
    w_1, w_2 = feed_forward.w_1.weight.T, feed_forward.w_2.weight.T
    assert (w_1.shape, w_2.shape) == ((512, 2048), (2048, 512))

    hidden = x @ w_1 + feed_forward.w_1.bias
    assert hidden.shape == (3, 2048)
    by_hand = hidden.clamp(min=0) @ w_2 + feed_forward.w_2.bias
    torch.testing.assert_close(feed_forward(x[None])[0], by_hand, atol=1e-4, rtol=1e-4)
    # 'Added some non-linearity': without it the two maps would be one.
    linear = hidden @ w_2 + feed_forward.w_2.bias
    assert not torch.allclose(by_hand, linear, atol=0.1)


def test_how_are_you_through_one_block() -> None:
    """Steps 3 to 5: z + x, normalised, then the feed-forward network and the same again."""
    block = EncoderBlock(BlockConfig()).eval()
    x = torch.randn(1, 3, 512)
    z = block.self_attention(x)
    z_norm = block.self_attention_residual.norm(z + x)
    y = block.feed_forward_residual.norm(block.feed_forward(z_norm) + z_norm)
    torch.testing.assert_close(block(x, None), y)
    assert y.shape == x.shape  # so that it can be the input of the next block


def test_encoder_blocks_have_their_own_weights() -> None:
    """'Each encoder block have their own weights and biases.'"""
    one, other = EncoderBlock(BlockConfig()), EncoderBlock(BlockConfig())
    assert not torch.equal(one.self_attention.w_qkv, other.self_attention.w_qkv)
    assert not torch.equal(one.feed_forward.w_1.weight, other.feed_forward.w_1.weight)


def test_512_into_8_heads_of_64() -> None:
    """'We reduce 512 → 64': eight heads side by side, and back to 512."""
    attention, x = MultiHeadAttention(512, 8), torch.randn(1, 3, 512)
    q = watched(attention, attention.q, x)
    assert q.shape == (1, 8, 3, 64)
    assert attention(x).shape == (1, 3, 512)
    # Head h is x times the h-th 64 rows of W_Q.
    by_hand = x[0] @ attention.w_q[5 * 64 : 6 * 64].T
    torch.testing.assert_close(q[0, 5], by_hand, atol=1e-5, rtol=1e-4)


def test_d_k_is_the_width_of_a_head() -> None:
    """The notes call d_k the dimension of the embeddings; with 8 heads it is 64, not 512."""
    assert MultiHeadAttention(512, 8).scale == pytest.approx(1 / math.sqrt(64))
    assert MultiHeadAttention(512, 1).scale == pytest.approx(1 / math.sqrt(512))


def test_concatenated_heads() -> None:
    """Concat(head_1 … head_h): merging undoes splitting, and head 1 comes first."""
    x = torch.randn(2, 3, 512)
    heads = split_heads(x, 8)
    assert torch.equal(merge_heads(heads), x)
    assert torch.equal(heads[:, 0], x[..., :64])


def test_two_heads_see_two_things() -> None:
    """'The man saw the astronomer with a telescope': one head, one view; eight, eight."""
    attention = MultiHeadAttention(512, 8)
    heads = watched(attention, attention.weights, torch.randn(1, 8, 512))[0]
    assert heads.shape == (8, 8, 8)
    for h in range(1, 8):
        assert not torch.allclose(heads[0], heads[h], atol=0.01)
