"""What must always hold for Mixtral, whose tokens visit experts."""

from dataclasses import replace

import pytest
import torch

from clearhead.config import BertConfig, LlamaConfig, MixtralConfig, TransformerConfig
from clearhead.engine.shape import why_not
from clearhead.errors import ConfigError
from clearhead.layers.tap import listen, taps
from clearhead.models import Mixtral

CONFIG = MixtralConfig(
    n_tokens=23, n_layers=2, d_model=16, d_ff=24, n_heads=4, n_kv_heads=2, n_experts=4
)


def make(config: MixtralConfig = CONFIG) -> Mixtral:
    return Mixtral(config).eval()


def test_no_position_sees_a_later_one() -> None:
    model = make()
    tokens = torch.randint(1, 23, (3, 9))
    changed = tokens.clone()
    changed[:, 6] = tokens[:, 6] % 22 + 1
    before, after = model(tokens), model(changed)
    assert torch.allclose(before[:, :6], after[:, :6], atol=1e-6)
    assert (before[:, 6:] - after[:, 6:]).abs().amin(dim=(0, 2)).max() > 0


@torch.no_grad()
def test_token_by_token_equals_all_at_once_beside_any_padding() -> None:
    model = make()
    texts = torch.randint(1, 23, (3, 9))
    expected = model(texts)
    starts = torch.tensor([[*texts[0, :4].tolist()], [*texts[1, :1].tolist(), 0, 0, 0], [0] * 4])
    n_read = [4, 1, 0]
    state = model.start(starts)
    for t in range(5):
        tokens = torch.stack([text[n + t] for text, n in zip(texts, n_read, strict=True)])
        logits, state = model.step(tokens[:, None], state)
        for i, n in enumerate(n_read):
            assert torch.allclose(logits[i], expected[i, n + t], atol=1e-5)


def test_vectors_and_balance_have_gradients_and_recomputing_changes_none() -> None:
    model = Mixtral(CONFIG).train()
    tokens = torch.randint(1, 23, (2, 7))
    found = []
    for is_on in (False, True):
        model.recompute(is_on)
        model.zero_grad()
        vectors, balance = model.read_with_balance(tokens)
        (model.output(vectors).logsumexp(-1).sum() + balance).backward()
        gradients = {name: p.grad for name, p in model.named_parameters()}
        assert all(g is not None and g.abs().max() > 0 for g in gradients.values())
        found.append({name: g.clone() for name, g in gradients.items() if g is not None})
    for name, gradient in found[0].items():
        assert torch.allclose(gradient, found[1][name], atol=1e-5), name


def test_balance_counts_all_blocks_and_no_padding() -> None:
    model = make()
    tokens = torch.randint(1, 23, (1, 8))
    _, alone = model.read_with_balance(tokens[:, :5])
    tokens[:, 5:] = 0
    _, padded = model.read_with_balance(tokens)
    assert torch.allclose(alone, padded, atol=1e-6)
    for name, weight in model.named_parameters():
        if "w_r" in name:
            weight.data.zero_()  # every expert is as probable as any other
    _, even = model.read_with_balance(tokens)
    assert float(even.detach()) == pytest.approx(1.0)


def test_balance_leaves_those_who_watch_alone() -> None:
    model, seen = make(), []
    tap = taps(model)["decoder.blocks.1.feed_forward.router"]

    def watch(value: torch.Tensor) -> torch.Tensor:
        seen.append(value)
        return value

    with listen({tap: watch}):
        model.read_with_balance(torch.tensor([[3, 4]]))
    assert len(seen) == 1


def test_balance_teaches_the_router_to_use_all_experts() -> None:
    torch.manual_seed(1)
    model = Mixtral(replace(CONFIG, n_chosen=1)).train()
    optimizer = torch.optim.Adam(
        [p for name, p in model.named_parameters() if "w_r" in name], lr=0.01
    )
    tokens = torch.randint(1, 23, (8, 9))
    first = float(model.read_with_balance(tokens)[1].detach())
    for _ in range(60):
        _, balance = model.read_with_balance(tokens)
        optimizer.zero_grad()
        balance.backward()
        optimizer.step()
    assert first > 1.05
    assert float(balance.detach()) < 1.02


def test_axes_and_places() -> None:
    model = make()
    assert model.axis_sizes()["E"] == 4
    assert model.axis_sizes()["C"] == 2
    assert model.points()["decoder.blocks.0.feed_forward.chosen"] == "B T C"


def test_wrong_configurations_are_refused() -> None:
    with pytest.raises(ConfigError, match="n_chosen=5 must lie between 1 and n_experts=4"):
        replace(CONFIG, n_chosen=5)
    with pytest.raises(ConfigError, match="n_layers=0 must be at least 1"):
        replace(CONFIG, n_layers=0)


def test_the_engine_says_what_it_does_not_know() -> None:
    assert why_not(BertConfig(n_tokens=9)) == "the engine does not know models of kind bert"
    assert why_not(CONFIG) is why_not(LlamaConfig(n_tokens=9)) is None
    gated = TransformerConfig.preset("tiny", 9, **{"block.activation": "geglu"})
    assert why_not(gated) == "the engine does not know the activation geglu"
