"""What must always hold for T5, and a toy that it learns."""

from dataclasses import replace

import pytest
import torch

from clearhead.config import T5Config
from clearhead.engine.shape import why_not
from clearhead.errors import ConfigError
from clearhead.models import T5

SIZES = {"n_encoder_layers": 2, "n_decoder_layers": 2, "d_model": 16, "d_ff": 24, "n_heads": 4}
CONFIG = T5Config.preset("tiny", 23, d_head=6, dropout=0.0, **SIZES)
CONFIGS = {"1.0": CONFIG, "1.1": replace(CONFIG, activation="geglu", is_tied=False)}

versions = pytest.mark.parametrize("version", CONFIGS)


@versions
def test_no_position_sees_a_later_one(version: str) -> None:
    model = T5(CONFIGS[version]).eval()
    source, target = torch.randint(1, 23, (3, 5)), torch.randint(1, 23, (3, 9))
    changed = target.clone()
    changed[:, 6] = target[:, 6] % 22 + 1
    before, after = model(source, target), model(source, changed)
    assert torch.equal(before[:, :6], after[:, :6])
    assert (before[:, 6:] - after[:, 6:]).abs().max() > 0


@versions
@torch.no_grad()
def test_padding_changes_nothing(version: str) -> None:
    model = T5(CONFIGS[version]).eval()
    source, target = torch.randint(1, 23, (3, 5)), torch.randint(1, 23, (3, 9))
    padded = torch.cat([source, torch.zeros(3, 4, dtype=torch.long)], dim=1)
    assert torch.allclose(model(source, target), model(padded, target), atol=1e-5)


@versions
def test_every_parameter_gets_a_gradient_and_recomputing_changes_none(version: str) -> None:
    torch.manual_seed(0)
    # So far apart that every bucket of distances is needed.
    model = T5(replace(CONFIGS[version], n_buckets=8, max_distance=12)).train()
    source, target = torch.randint(1, 23, (2, 20)), torch.randint(1, 23, (2, 20))
    found = []
    for is_on in (False, True):
        model.recompute(is_on)
        model.zero_grad()
        model(source, target).logsumexp(-1).sum().backward()
        gradients = {name: p.grad for name, p in model.named_parameters()}
        assert all(g is not None and g.abs().max() > 0 for g in gradients.values())
        found.append({name: g.clone() for name, g in gradients.items() if g is not None})
    for name, gradient in found[0].items():
        difference = (gradient - found[1][name]).abs().max()
        assert difference <= 1e-5 * gradient.abs().max() + 1e-6, name


def test_what_is_tied() -> None:
    tied, untied = T5(CONFIGS["1.0"]), T5(CONFIGS["1.1"])
    assert tied.output.weight is tied.source_embedding.weight is tied.target_embedding.weight
    assert untied.output.weight is not untied.target_embedding.weight
    assert untied.source_embedding.weight is untied.target_embedding.weight


def test_it_learns_to_go_on_counting() -> None:
    torch.manual_seed(1)
    sizes = {"n_encoder_layers": 1, "n_decoder_layers": 1, "d_model": 32, "d_ff": 64}
    model = T5(CONFIG.override(sizes)).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(100):
        source = torch.randint(0, 22, (32, 1)) + 1
        target = (source + torch.arange(4)) % 22 + 1
        target_in = torch.cat([torch.zeros(32, 1, dtype=torch.long), target[:, :-1]], dim=1)
        logits = model(source, target_in)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    source = torch.tensor([[4], [21]])
    state, tokens, written = model.eval().start(source), torch.zeros(2, 1, dtype=torch.long), []
    for _ in range(4):
        logits, state = model.step(tokens, state)
        tokens = logits.argmax(-1, keepdim=True)
        written.append(tokens)
    assert torch.cat(written, dim=1).tolist() == [[5, 6, 7, 8], [22, 1, 2, 3]]


def test_presets_and_what_is_refused() -> None:
    assert T5(T5Config.preset("small", 32128)).n_parameters == 60_506_624  # as t5-small has
    with pytest.raises(ConfigError, match="no preset 'smal'"):
        T5Config.preset("smal", 100)
    with pytest.raises(ConfigError, match="pad=23 is outside"):
        replace(CONFIG, pad=23)
    with pytest.raises(ConfigError, match="n_buckets=3 must be even"):
        T5(replace(CONFIG, n_buckets=3))
    assert why_not(CONFIG) == "the engine does not know models of kind t5"
