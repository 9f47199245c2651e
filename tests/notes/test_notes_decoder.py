"""The study notes' decoder: masks, cross-attention, right shift, steps with a cache, experts."""

import pytest
import torch
from torch import Tensor

from clearhead.layers import Experts, KeyValueCache, MultiHeadAttention, masks
from clearhead.layers.attention import attention_bias, attention_weights, split_heads
from clearhead.layers.tap import listen, taps
from clearhead.models import Transformer, TransformerConfig

START, END, PAD = 1, 2, 0

# How each of three Hindi words is mixed from all three, before anybody thinks of a mask.
HINDI = [[0.8, 0.1, 0.1], [0.15, 0.75, 0.1], [0.1, 0.2, 0.7]]


@pytest.fixture
def model() -> Transformer:
    config = TransformerConfig.preset("tiny", 40, n_encoder_layers=1, n_decoder_layers=2)
    return Transformer(config).eval()


def watched(model: Transformer, tap_name: str, source: Tensor, target_in: Tensor) -> Tensor:
    """Run the model and return what passed the named place."""
    seen: list[Tensor] = []
    tap = taps(model)[tap_name]

    def watch(value: Tensor) -> Tensor:
        seen.append(value)
        return value

    with listen({tap: watch}):
        model(source, target_in)
    return seen[0]


def test_mixtures_without_a_mask_leak() -> None:
    """0.8 + 0.1 + 0.1 and the others add up to 1, and each word reads the words after it."""
    weights = torch.tensor(HINDI)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3))
    assert (weights[~masks.causal(3)[0, 0]] > 0).all()


def test_mask_stops_the_leak() -> None:
    """With the mask the first word is itself, and the second shares 0.15 : 0.75 anew."""
    may_attend = masks.causal(3)
    scaled = torch.tensor(HINDI).log()[None, None]
    forbidden = attention_bias(may_attend, None, scaled.dtype)
    assert forbidden is not None
    weights = attention_weights(scaled + forbidden, may_attend)[0, 0]
    expected = torch.tensor([[1, 0, 0], [0.15 / 0.9, 0.75 / 0.9, 0], [0.1, 0.2, 0.7]])
    torch.testing.assert_close(weights, expected)


def test_training_cannot_look_ahead(model: Transformer) -> None:
    """All target words go in at once, yet no logit knows a later word."""
    source, target_in = torch.tensor([[5, 6, 7]]), torch.tensor([[START, 8, 9, 10]])
    logits = model(source, target_in)
    for t in range(1, 4):
        changed = target_in.clone()
        changed[0, t] = 30
        difference = (model(source, changed) - logits).abs().amax(-1)[0]
        assert difference[:t].max() < 1e-5
        assert difference[t] > 1e-3


def test_right_shift_with_start(model: Transformer) -> None:
    """We are friends: three Hindi words become <start> + 3 on the way in, 3 + <end> as labels."""
    source, friends = torch.tensor([[11, 12, 13]]), torch.tensor([[21, 22, 23]])
    target_in = torch.cat([torch.tensor([[START]]), friends], dim=1)
    target_out = torch.cat([friends, torch.tensor([[END]])], dim=1)
    norm = "decoder.blocks.0.feed_forward_residual.norm.output"
    y_norm = watched(model, norm, source, target_in)
    assert y_norm.shape == (1, 4, 128)  # Y1 to Y4, the output of the first decoder block
    assert model(source, target_in).shape[:2] == target_out.shape
    # The label at t is the input at t + 1, which position t may not read.
    assert torch.equal(target_in[:, 1:], target_out[:, :-1])
    assert not masks.causal(4)[0, 0].diagonal(1).any()


def test_cross_attention_has_one_output_per_target_word(model: Transformer) -> None:
    """I like eating ice-cream (4) → five Hindi words: as many outputs as target tokens.

    The notes say "number of output sequences"; it is the number of tokens in the output sequence.
    Their picture has English in rows; with a query per row ours is the transpose.
    """
    source, target_in = torch.tensor([[11, 12, 13, 14]]), torch.tensor([[21, 22, 23, 24, 25]])
    place = "decoder.blocks.0.cross_attention."
    weights = watched(model, place + "weights", source, target_in)
    assert weights.shape == (1, 4, 5, 4)
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, 4, 5))
    assert watched(model, place + "output", source, target_in).shape == (1, 5, 128)


def test_queries_come_from_the_target_keys_from_the_source(model: Transformer) -> None:
    """Query from the output sequence; key and value from the input sequence."""
    source, target_in = torch.tensor([[11, 12, 13, 14]]), torch.tensor([[21, 22, 23, 24, 25]])
    for name, n_positions in (("q", 5), ("k", 4), ("v", 4)):
        tap = f"decoder.blocks.0.cross_attention.{name}"
        assert watched(model, tap, source, target_in).shape == (1, 4, n_positions, 32)


def test_ten_thousand_hindi_words() -> None:
    """10K unique words, 10K neurons: a score for each of them at each position."""
    config = TransformerConfig.preset("tiny", 10_000, n_encoder_layers=1, n_decoder_layers=1)
    logits = Transformer(config).eval()(torch.tensor([[5, 6, 7]]), torch.tensor([[START, 8]]))
    assert logits.shape == (1, 2, 10_000)
    torch.testing.assert_close(logits.softmax(-1).sum(-1), torch.ones(1, 2))


def test_cache_gives_the_same_as_recomputing(model: Transformer) -> None:
    """KV caching: token by token with a state equals everything anew at every step."""
    source, target_in = torch.tensor([[5, 6, 7], [8, 9, PAD]]), torch.randint(3, 40, (2, 7))
    state = model.start(source)
    for t in range(7):
        logits, state = model.step(target_in[:, t : t + 1], state)
        anew = model(source, target_in[:, : t + 1])[:, -1]
        torch.testing.assert_close(logits, anew, atol=1e-4, rtol=1e-4)


def test_inference_takes_the_last_softmax(model: Transformer) -> None:
    """Two tokens in: the second softmax counts; three: the third; the encoder runs once."""
    source = torch.tensor([[START, 5, 6, 7, 8, 6, END]])
    state = model.start(source)
    memories = [memory.k for memory in state.memories]
    written = torch.tensor([[START]])
    logits, state = model.step(written, state)
    for _ in range(3):
        newest = logits.argmax(-1, keepdim=True)
        written = torch.cat([written, newest], dim=1)
        logits, state = model.step(newest, state)
        n_written = written.shape[1]
        anew = model(source, written)[:, n_written - 1]
        torch.testing.assert_close(logits, anew, atol=1e-4, rtol=1e-4)
    assert all(a.k is b for a, b in zip(state.memories, memories, strict=True))


def test_padding_makes_lengths_equal_and_changes_nothing(model: Transformer) -> None:
    """'Both sequences will have same length thanks to padding.'"""
    source, target_in = torch.tensor([[START, 5, 6, 7, END]]), torch.tensor([[START, 8, 9]])
    padded_source = torch.tensor([[START, 5, 6, 7, END, PAD, PAD, PAD]])
    padded_target = torch.tensor([[START, 8, 9, PAD, PAD, PAD, PAD, PAD]])
    assert padded_source.shape == padded_target.shape
    torch.testing.assert_close(
        model(padded_source, padded_target)[:, :3], model(source, target_in), atol=1e-5, rtol=1e-4
    )


def test_grouped_queries_share_keys_and_values() -> None:
    """8 query heads, 2 key/value heads: each pair (k, v) serves four heads.

    The notes share "grouped query and key"; the queries stay one per head.
    """
    grouped, full = MultiHeadAttention(64, 8, n_kv_heads=2), MultiHeadAttention(64, 8)
    k, v = grouped.w_k.view(2, 8, 64), grouped.w_v.view(2, 8, 64)
    with torch.no_grad():
        full.w_qkv.copy_(
            torch.cat(
                [
                    grouped.w_q,
                    k.repeat_interleave(4, dim=0).flatten(0, 1),
                    v.repeat_interleave(4, dim=0).flatten(0, 1),
                ]
            )
        )
        full.w_o.weight.copy_(grouped.w_o.weight)
    x = torch.randn(1, 5, 64)
    torch.testing.assert_close(grouped(x), full(x), atol=1e-5, rtol=1e-4)
    assert split_heads(x @ grouped.w_q.T, 8).shape[1] == 8

    small, large = KeyValueCache(), KeyValueCache()
    grouped(x, cache=small)
    full(x, cache=large)
    assert large.n_bytes == 4 * small.n_bytes


def test_mixture_of_experts_asks_a_few() -> None:
    """The notes only name it: of eight networks each token is sent to the best two."""
    experts, x = Experts(16, 32, n_experts=8, n_chosen=2), torch.randn(1, 4, 16)
    chosen: list[Tensor] = []
    weights: list[Tensor] = []

    def watch_chosen(value: Tensor) -> Tensor:
        chosen.append(value)
        return value

    def watch_weights(value: Tensor) -> Tensor:
        weights.append(value)
        return value

    with listen({experts.chosen: watch_chosen, experts.weights: watch_weights}):
        output = experts(x)
    assert chosen[0].shape == (1, 4, 2)
    torch.testing.assert_close(weights[0].sum(-1), torch.ones(1, 4))
    # The six others can be anything: nobody asked them.
    asked = set(chosen[0][0, 0].tolist())
    with torch.no_grad():
        for expert in set(range(8)) - asked:
            experts.w_2[expert] = 1000.0
    torch.testing.assert_close(experts(x)[0, 0], output[0, 0])
