"""The study notes' words: one static vector each, and another one in every context."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from clearhead.layers import MultiHeadAttention, TokenEmbedding, masks
from clearhead.layers.attention import attention_scores, attention_weights, weighted_values
from clearhead.models import Transformer, TransformerConfig

WORDS = ["<pad>", "money", "river", "bank", "grows", "flows", "Nithish", "killed", "lion"]

S1 = [[0.7, 0.2, 0.1], [0.25, 0.7, 0.05], [0.1, 0.2, 0.7]]
S2 = [[0.8, 0.15, 0.05], [0.2, 0.78, 0.02], [0.4, 0.01, 0.59]]
FIRST_VERSION = [[0.2, 0.7, 0.1], [0.5, 0.4, 0.1]]


@pytest.fixture
def model() -> Transformer:
    config = TransformerConfig.preset("tiny", len(WORDS), n_encoder_layers=2, n_decoder_layers=1)
    return Transformer(config).eval()


def ids(sentence: str) -> Tensor:
    return torch.tensor([[WORDS.index(word) for word in sentence.split()]])


def mix(weights: list[list[float]], words: Tensor) -> Tensor:
    return weighted_values(torch.tensor(weights)[None, None], words[None, None])[0, 0]


def test_one_hot_words() -> None:
    """Mat, cat, rat as 100, 010, 001: an embedding is their product with a table."""
    embedding = TokenEmbedding(n_tokens=3, d_model=4)
    mat_cat_rat = torch.eye(3)
    torch.testing.assert_close(
        embedding(torch.tensor([[0, 1, 2]]))[0], mat_cat_rat @ embedding.weight * 2.0
    )


def test_apple_is_an_average() -> None:
    """9K sentences on the fruit, 1K on technology: [taste, technology] = [0.9, 0.1]."""
    apple = mix([[9_000 / 10_000, 1_000 / 10_000]], torch.eye(2))
    assert apple[0].tolist() == pytest.approx([0.9, 0.1])


@pytest.mark.parametrize("weights", [*S1, *S2, *FIRST_VERSION], ids=str)
def test_mixture_weights_sum_to_one(weights: list[float]) -> None:
    """Every mixture of money bank grows and river bank flows, the first version included."""
    assert sum(weights) == pytest.approx(1)


def test_mixtures_of_money_bank_grows() -> None:
    """bank = 0.25 money + 0.7 bank + 0.05 grows, and the other two words."""
    money, bank, grows = words = torch.randn(3, 8)
    new = mix(S1, words)
    torch.testing.assert_close(new[0], 0.7 * money + 0.2 * bank + 0.1 * grows)
    torch.testing.assert_close(new[1], 0.25 * money + 0.7 * bank + 0.05 * grows)
    torch.testing.assert_close(new[2], 0.1 * money + 0.2 * bank + 0.7 * grows)


def test_mixtures_of_river_bank_flows() -> None:
    """bank = 0.2 river + 0.78 bank + 0.02 flows, and the other two words."""
    river, bank, flows = words = torch.randn(3, 8)
    new = mix(S2, words)
    torch.testing.assert_close(new[0], 0.8 * river + 0.15 * bank + 0.05 * flows)
    torch.testing.assert_close(new[1], 0.2 * river + 0.78 * bank + 0.02 * flows)
    torch.testing.assert_close(new[2], 0.4 * river + 0.01 * bank + 0.59 * flows)


def test_two_banks_from_one_vector() -> None:
    """The two mixtures turn the same bank into two vectors."""
    money, grows, river, flows, bank = torch.randn(5, 8)
    with_money = mix([FIRST_VERSION[0]], torch.stack([money, bank, grows]))
    with_river = mix([FIRST_VERSION[1]], torch.stack([river, bank, flows]))
    torch.testing.assert_close(with_money[0], 0.2 * money + 0.7 * bank + 0.1 * grows)
    torch.testing.assert_close(with_river[0], 0.5 * river + 0.4 * bank + 0.1 * flows)
    assert not torch.allclose(with_money, with_river, atol=0.1)


def test_dot_products_are_not_yet_weights() -> None:
    """S21, S22, S23 may be any numbers; the softmax makes them add up to 1."""
    money_bank_grows = torch.randn(1, 1, 3, 8)
    scores = attention_scores(money_bank_grows, money_bank_grows)
    assert (scores.sum(-1) - 1).abs().min() > 0.1
    torch.testing.assert_close(attention_weights(scores).sum(-1), torch.ones(1, 1, 3))


def test_all_words_in_parallel() -> None:
    """The three new embeddings need no order: all at once is one after the other."""
    words = torch.randn(1, 1, 3, 8)
    weights = attention_weights(attention_scores(words, words))
    at_once = weighted_values(weights, words)
    for t in range(3):
        one = attention_weights(attention_scores(words[:, :, t : t + 1], words))
        torch.testing.assert_close(weighted_values(one, words)[:, :, 0], at_once[:, :, t])


def test_bank_is_static_before_and_contextual_after(model: Transformer) -> None:
    """Money bank grows, river bank flows: one embedding of bank, two encoder outputs."""
    money, river = ids("money bank grows"), ids("river bank flows")
    assert torch.equal(model.source_embedding(money)[0, 1], model.source_embedding(river)[0, 1])
    with_money, with_river = model.encode(money)[0][0, 1], model.encode(river)[0][0, 1]
    assert F.cosine_similarity(with_money, with_river, dim=0) < 0.99
    # Same word, same place, same context: the same vector.
    assert torch.equal(with_money, model.encode(money)[0][0, 1])


def test_attention_alone_cannot_tell_who_killed() -> None:
    """Nithish killed lion / lion killed Nithish: attention only moves its rows along.

    The slides say permutation invariant; the word is equivariant, since the rows do move.
    """
    words = torch.randn(1, 3, 16)
    attention = MultiHeadAttention(16, 4)
    forwards, backwards = attention(words), attention(words.flip(1))
    torch.testing.assert_close(backwards, forwards.flip(1))
    assert not torch.allclose(backwards, forwards, atol=1e-3)


def test_encoder_without_positions_cannot_tell_either(model: Transformer) -> None:
    """The same for a whole encoder: each word gets the same vector in both sentences."""
    one = model.source_embedding(ids("Nithish killed lion"))
    other = model.source_embedding(ids("lion killed Nithish"))
    may_attend = masks.padding(torch.ones(1, 3, dtype=torch.bool))
    torch.testing.assert_close(
        model.encoder(one, may_attend).flip(1),
        model.encoder(other, may_attend),
        atol=1e-5,
        rtol=1e-4,
    )


def test_positions_tell_who_killed(model: Transformer) -> None:
    """With positions, all three words differ between the two sentences."""
    one = model.encode(ids("Nithish killed lion"))[0].flip(1)
    other = model.encode(ids("lion killed Nithish"))[0]
    assert (one - other).abs().amax(-1).min() > 0.05


def test_cat_with_its_positions() -> None:
    """Both CATs of the picture: embedding + position = encoder input, number by number."""
    cat = torch.tensor([171.411, 3276.350, 9192.819, 3633.421, 8390.473], dtype=torch.float64)
    second = torch.tensor([1664.068, 8080.133, 2620.399, 9386.405, 3120.159], dtype=torch.float64)
    sixth = torch.tensor([1281.458, 7902.890, 912.970, 1659.217, 7018.620], dtype=torch.float64)
    assert (cat + second).tolist() == pytest.approx(
        [1835.479, 11356.483, 11813.218, 13019.826, 11510.632]
    )
    assert (cat + sixth).tolist() == pytest.approx(
        [1452.869, 11179.240, 10105.789, 5292.638, 15409.093]
    )


def test_positions_of_the_picture_are_made_up(model: Transformer) -> None:
    """That picture's positions lie in the thousands; true ones stay within [−1, 1]."""
    positions = model.source_positions(6)
    assert positions.abs().max() <= 1
    x = model.source_embedding(ids("bank bank bank bank bank bank"))[0] + positions
    assert not torch.allclose(x[1], x[5], atol=0.1)  # one word, two places, two inputs
