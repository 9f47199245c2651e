"""What must always hold for an encoder by itself, and toys that it learns."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from clearhead.config import BertConfig
from clearhead.errors import ConfigError, InputError
from clearhead.models import Bert, build

CONFIG = BertConfig(
    n_tokens=23, n_positions=12, n_layers=2, d_model=16, d_ff=24, n_heads=4, n_labels=3
)
HEADS: dict[str, dict[str, Any]] = {
    "fill": {"head": "fill"},
    "classify by the first": {"head": "classify"},
    "classify by the mean": {"head": "classify", "pooling": "mean"},
    "span": {"head": "span", "n_labels": 2},
    "none": {"head": "none", "pooling": "mean"},
}

heads = pytest.mark.parametrize("head", HEADS)


def make(head: str, **changes: Any) -> Bert:
    return Bert(replace(CONFIG, **HEADS[head] | changes)).eval()


@heads
@torch.no_grad()
def test_padding_changes_nothing(head: str) -> None:
    model = make(head)
    tokens = torch.randint(1, 23, (3, 7))
    padded = torch.cat([tokens, torch.zeros(3, 4, dtype=torch.long)], dim=1)
    expected, found = model(tokens), model(padded)
    if model.config.head != "classify":
        found = found[:, :7]
    assert torch.allclose(found, expected, atol=1e-5)


@heads
@torch.no_grad()
def test_every_position_sees_both_sides(head: str) -> None:
    model = make(head)
    tokens = torch.randint(1, 23, (2, 7))
    changed = tokens.clone()
    changed[:, 3] = tokens[:, 3] % 22 + 1
    difference = (model.read(changed) - model.read(tokens)).abs().amax(-1)
    assert (difference > 0).all()


@pytest.mark.parametrize("is_on", [False, True])
@heads
def test_every_parameter_gets_a_gradient(head: str, is_on: bool) -> None:
    model = make(head).train()
    model.recompute(is_on)
    tokens, segments = torch.randint(1, 23, (4, 12)), torch.randint(0, 2, (4, 12))
    logits = model(tokens, segments)
    (logits * torch.randn_like(logits)).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name


def test_the_mean_is_over_real_tokens() -> None:
    model = make("none")
    tokens = torch.tensor([[5, 6, 7, 0], [5, 0, 0, 0]])
    vectors = model.read(tokens)
    expected = torch.stack([vectors[0, :3].mean(0), vectors[1, 0]])
    assert torch.allclose(model.summarise(tokens), expected, atol=1e-6)
    assert torch.equal(model(tokens), vectors)
    assert (model.summarise(torch.zeros(1, 3, dtype=torch.long)) == 0).all()


def test_the_output_is_tied_and_has_a_bias() -> None:
    model = make("fill")
    assert model.get_parameter("output.scores.weight") is model.embedding.weight
    assert model.points()["output.scores.logits"] == "B T V"
    assert make("span").points()["output.logits"] == "B T Y"


def test_sizes_by_name() -> None:
    config = BertConfig.preset("minilm", 30522, head="none", pooling="mean")
    assert (config.n_layers, config.d_model, config.n_heads, config.d_ff) == (6, 384, 12, 1536)
    assert BertConfig.preset("base", 9).d_model == 768
    tiny = build(BertConfig.preset("tiny", 100))
    assert isinstance(tiny, Bert)
    assert tiny.n_parameters < 600_000
    with pytest.raises(ConfigError, match=r"no preset 'mni': did you mean mini\?"):
        BertConfig.preset("mni", 9)


def test_it_learns_to_fill_a_gap_from_both_sides() -> None:
    torch.manual_seed(1)
    model = Bert(replace(CONFIG, d_model=32, d_ff=64, dropout=0.0, attention_dropout=0.0))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    gap = 22
    accuracy = 0.0
    for _ in range(400):
        begins, steps = torch.randint(0, 20, (64, 1)), torch.randint(1, 5, (64, 1))
        text = (begins + steps * torch.arange(7)) % 20 + 1
        place = torch.randint(1, 6, (64, 1))
        logits = model(text.scatter(1, place, gap))[torch.arange(64), place[:, 0]]
        hidden = text.gather(1, place)[:, 0]
        loss = F.cross_entropy(logits, hidden)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        accuracy = 0.9 * accuracy + 0.1 * float((logits.argmax(-1) == hidden).float().mean())
    assert accuracy > 0.95


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_layers": 0}, "n_layers=0 must be at least 1"),
        ({"n_segments": 0}, "n_segments=0 must be at least 1"),
        ({"n_heads": 3}, "d_model=16 must be a multiple of n_heads=3"),
        ({"pad": 23}, "pad=23 is outside the vocabulary, 0 to 22"),
        ({"head": "span"}, "a span has n_labels=2, its start and its end, not 3"),
        ({"head": "guess"}, "head='guess' is not allowed: choose one of fill"),
        ({"norm_eps": 0.0}, "norm_eps=0.0 must be above 0"),
        ({"attention_dropout": 1.0}, "attention_dropout=1.0 must be at least 0 and below 1"),
    ],
)
def test_wrong_configurations_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        replace(CONFIG, **change)


@pytest.mark.usefixtures("unchecked")
def test_wrong_input_is_refused() -> None:
    model = make("fill")
    with pytest.raises(InputError, match="a text of 13 tokens is longer than the 12 positions"):
        model(torch.ones(1, 13, dtype=torch.long))
    with pytest.raises(InputError, match="token id 23 is outside this vocabulary of 23 tokens"):
        model(torch.tensor([[23]]))
    with pytest.raises(InputError, match=r"segment 2 is unknown: this model has 2 \(0 to 1\)"):
        model(torch.tensor([[5]]), torch.tensor([[2]]))
    with pytest.raises(InputError, match=r"segments has shape \(1, 2\), and tokens \(1, 1\)"):
        model(torch.tensor([[5]]), torch.tensor([[0, 1]]))
    with pytest.raises(InputError, match="tokens has length 0"):
        model(torch.zeros(1, 0, dtype=torch.long))
    with pytest.raises(InputError, match="head='fill' has no vector for a whole text"):
        model.summarise(torch.tensor([[5]]))
