"""Embeddings: looked up, scaled, tied to the output, and strict about ids."""

import math

import pytest
import torch
from torch import Tensor

from clearhead.errors import ConfigError, InputError
from clearhead.layers import SpelledEmbedding, TokenEmbedding, TokenScores
from clearhead.layers.tap import listen


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_vectors_are_scaled(dtype: torch.dtype) -> None:
    embedding = TokenEmbedding(10, 16)
    tokens = torch.tensor([[3, 9], [0, 3]], dtype=dtype)
    torch.testing.assert_close(embedding(tokens), embedding.weight[tokens.long()] * math.sqrt(16))


def test_vectors_begin_with_variance_one() -> None:
    """The scale undoes the 1/√d_model of the start, so that positions are no whisper beside."""
    embedding = TokenEmbedding(1000, 256)
    vectors = embedding(torch.arange(1000)[None])
    assert vectors.std().item() == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(("tokens", "bad"), [([3, 10], 10), ([-1, 2], -1), ([99, -7], -7)])
def test_ids_outside_are_named(tokens: list[int], bad: int) -> None:
    message = rf"token id {bad} is outside this vocabulary of 10 tokens \(0 to 9\)"
    with pytest.raises(InputError, match=message):
        TokenEmbedding(10, 4)(torch.tensor([tokens]))


def test_listener_error_is_not_blamed_on_the_ids() -> None:
    embedding = TokenEmbedding(10, 4)

    def look_too_far(vectors: Tensor) -> Tensor:
        return vectors[:, 99]

    with listen({embedding.vectors: look_too_far}), pytest.raises(IndexError):
        embedding(torch.tensor([[1, 2]]))


@pytest.mark.parametrize(("n_tokens", "d_model"), [(0, 4), (4, 0)])
def test_sizes_are_checked(n_tokens: int, d_model: int) -> None:
    with pytest.raises(ConfigError, match=f"n_tokens={n_tokens} and d_model={d_model}"):
        TokenEmbedding(n_tokens, d_model)


def test_scores_compare_with_every_token() -> None:
    """Logits are dot products with the unscaled vectors, and the weight is the very same."""
    embedding = TokenEmbedding(10, 4)
    scores = TokenScores(embedding.weight)
    x = torch.randn(2, 3, 4)
    torch.testing.assert_close(scores(x), x @ embedding.weight.T)
    assert scores.weight is embedding.weight


def test_scores_have_a_bias_if_wanted() -> None:
    """It begins at zero, is saved and learned, and is not there by default."""
    embedding = TokenEmbedding(10, 4)
    scores, x = TokenScores(embedding.weight, bias=True), torch.randn(2, 3, 4)
    assert set(scores.state_dict()) == {"weight", "bias"}
    assert set(TokenScores(embedding.weight).state_dict()) == {"weight"}
    assert scores.bias is not None
    torch.testing.assert_close(scores(x), x @ embedding.weight.T)
    torch.nn.init.normal_(scores.bias)
    torch.testing.assert_close(scores(x), x @ embedding.weight.T + scores.bias)


def test_tied_weight_learns_from_both_ends() -> None:
    """An unused token's vector still learns, because every logit reads it."""
    embedding = TokenEmbedding(10, 4)
    scores = TokenScores(embedding.weight)
    scores(embedding(torch.tensor([[1, 2]]))).logsumexp(-1).sum().backward()
    assert embedding.weight.grad is not None
    assert embedding.weight.grad.ne(0).any(-1).all()


PARTS = [[], [0, 2], [2], [0, 1, 2], []]


def test_parts_are_added_to_a_token() -> None:
    embedding = SpelledEmbedding(PARTS, 3, 8, scale=2.0)
    tokens = torch.tensor([[3, 0, 1], [1, 4, 3]])
    for place, vector in zip(tokens.flatten(), embedding(tokens).flatten(0, 1), strict=True):
        wanted = embedding.weight[place]
        if PARTS[place]:
            wanted = wanted + embedding.parts[PARTS[place]].mean(0)
        torch.testing.assert_close(vector, 2 * wanted)


def test_parts_learn_from_every_token_that_has_them() -> None:
    embedding = SpelledEmbedding(PARTS, 3, 8)
    embedding(torch.tensor([[1, 1, 0]])).sum().backward()
    grad = embedding.parts.grad
    assert grad is not None
    torch.testing.assert_close(grad[0], torch.full((8,), 2 * math.sqrt(8) / 2))
    torch.testing.assert_close(grad[1], torch.zeros(8))


def test_folded_parts_give_the_same_vectors() -> None:
    embedding = SpelledEmbedding(PARTS, 3, 8, scale=1.0)
    plain = embedding.fold()
    tokens = torch.randint(0, 5, (3, 4))
    assert type(plain) is TokenEmbedding
    assert list(dict(plain.named_parameters())) == ["weight"]
    torch.testing.assert_close(plain(tokens), embedding(tokens))


def test_words_may_have_no_parts_at_all() -> None:
    embedding = SpelledEmbedding([[], []], 0, 4, scale=1.0)
    torch.testing.assert_close(embedding(torch.tensor([[1, 0]])), embedding.weight[[1, 0]][None])


def test_ids_outside_are_named_with_parts_as_well() -> None:
    with pytest.raises(InputError, match="token id 5 is outside this vocabulary of 5 tokens"):
        SpelledEmbedding(PARTS, 3, 8)(torch.tensor([[1, 5]]))
