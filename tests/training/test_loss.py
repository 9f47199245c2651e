"""The loss in chunks equals torch's cross entropy, in value and in every gradient."""

import pytest
import torch
from torch.nn import functional as F

from clearhead.training import loss as loss_file
from clearhead.training.loss import smoothed_loss


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("chunk", [1, 3, 10**6])
def test_equals_cross_entropy(
    smoothing: float, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss_file, "_CHUNK_ROWS", chunk)
    target = torch.randint(0, 11, (3, 7))
    is_token = torch.rand(3, 7) < 0.7
    x = torch.randn(3, 7, 5)
    weight = torch.randn(11, 5)
    ours = [x.clone().requires_grad_(), weight.clone().requires_grad_()]
    theirs = [x.clone().requires_grad_(), weight.clone().requires_grad_()]

    loss, plain = smoothed_loss(ours[0], ours[1], target, is_token, smoothing)
    logits = F.linear(theirs[0], theirs[1])[is_token]
    expected = F.cross_entropy(logits, target[is_token], label_smoothing=smoothing, reduction="sum")
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(
        plain, F.cross_entropy(logits, target[is_token], reduction="sum").detach()
    )
    (3 * loss).backward()
    (3 * expected).backward()
    for our, their in zip(ours, theirs, strict=True):
        torch.testing.assert_close(our.grad, their.grad)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_with_a_bias_of_the_output(smoothing: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss_file, "_CHUNK_ROWS", 4)
    target, is_token = torch.randint(0, 11, (3, 7)), torch.rand(3, 7) < 0.7
    given = torch.randn(3, 7, 5), torch.randn(11, 5), torch.randn(11)
    ours, theirs = ([part.clone().requires_grad_() for part in given] for _ in range(2))
    loss, _ = smoothed_loss(ours[0], ours[1], target, is_token, smoothing, ours[2])
    logits = F.linear(*theirs)[is_token]
    expected = F.cross_entropy(logits, target[is_token], label_smoothing=smoothing, reduction="sum")
    torch.testing.assert_close(loss, expected)
    (3 * loss).backward()
    (3 * expected).backward()
    for our, their in zip(ours, theirs, strict=True):
        torch.testing.assert_close(our.grad, their.grad)


def test_without_gradients_only_the_value() -> None:
    x, weight = torch.randn(1, 4, 5), torch.randn(11, 5)
    target, is_token = torch.randint(0, 11, (1, 4)), torch.ones(1, 4, dtype=torch.bool)
    with torch.no_grad():
        loss, _ = smoothed_loss(x, weight, target, is_token, 0.1)
    expected = F.cross_entropy(
        F.linear(x, weight)[0], target[0], label_smoothing=0.1, reduction="sum"
    )
    torch.testing.assert_close(loss, expected)


def test_in_bfloat16_the_gradient_has_the_right_direction() -> None:
    x, weight = torch.randn(2, 9, 16), torch.randn(50, 16)
    target, is_token = torch.randint(0, 50, (2, 9)), torch.ones(2, 9, dtype=torch.bool)
    gradients = []
    for dtype in (torch.float32, torch.bfloat16):
        a, b = x.to(dtype).requires_grad_(), weight.clone().requires_grad_()
        smoothed_loss(a, b, target, is_token, 0.1)[0].backward()
        assert b.grad is not None
        gradients.append(b.grad.flatten())
    assert F.cosine_similarity(gradients[0], gradients[1], dim=0) > 0.999


def test_under_autocast_it_is_as_if_given_in_bfloat16() -> None:
    x, weight = torch.randn(2, 9, 16), torch.randn(50, 16)
    target, is_token = torch.randint(0, 50, (2, 9)), torch.ones(2, 9, dtype=torch.bool)
    found = []
    for is_cast in (True, False):
        a, b = x.clone().requires_grad_(), weight.clone().requires_grad_()
        with torch.autocast("cpu", torch.bfloat16, enabled=is_cast):
            given = a if is_cast else a.bfloat16()
            loss, _ = smoothed_loss(given, b, target, is_token, 0.1)
        loss.backward()
        found.append((loss, a.grad, b.grad))
    torch.testing.assert_close(*found, rtol=0, atol=0)


def test_a_token_that_is_all_but_impossible_has_a_finite_loss() -> None:
    x, weight = torch.tensor([[[1.0]]], requires_grad=True), torch.tensor([[0.0], [1000.0]])
    target, is_token = torch.tensor([[0]]), torch.tensor([[True]])
    loss, plain = smoothed_loss(x, weight, target, is_token)
    assert loss.item() == plain.item() == 1000.0
