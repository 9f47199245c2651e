"""Costs of every model, beside what torch counts while the model computes."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from clearhead.config import BertConfig, GPTConfig, LlamaConfig, MixtralConfig, TransformerConfig
from clearhead.config.block import PatchKind
from clearhead.config.vit import ViTConfig
from clearhead.models import GPT, Bert, Llama, Mixtral, Model, Transformer, ViT
from clearhead.observe.cost import costs
from clearhead.observe.watch import watch

SMALL: dict[str, Any] = {"n_layers": 2, "d_model": 16, "d_ff": 24, "n_heads": 4}
N_READ, N_WRITTEN = 7, 5
ONE = torch.ones(1, 1, dtype=torch.int64)


def counted(model: Model, run: Callable[[], Any], place: str = "decoder") -> int:
    """What torch counts; somebody watches, so that attention is computed in plain products."""
    for parameter in model.parameters():
        parameter.requires_grad_(False)  # the counter would wait for gradients
    with watch(model, f"{place}.blocks.*.weights"), FlopCounterMode(display=False) as counter:
        run()
    return int(counter.get_total_flops())


def decoders() -> list[Any]:
    return [
        GPT(GPTConfig(n_tokens=11, n_positions=32, **SMALL)),
        Llama(LlamaConfig(n_tokens=11, n_kv_heads=2, **SMALL)),
        Llama(LlamaConfig(n_tokens=11, d_head=6, is_tied=False, **SMALL)),
    ]


@pytest.mark.parametrize("model", decoders(), ids=lambda model: type(model).__name__)
def test_a_step_of_a_decoder_costs_what_torch_counts(model: Any) -> None:
    state = model.start(torch.randint(1, 11, (1, N_READ + N_WRITTEN - 1)))
    found = costs(model, N_READ, N_WRITTEN)
    assert sum(cost.step for cost in found) == counted(model, lambda: model.step(ONE, state))
    assert sum(cost.cache_bytes for cost in found) == state.n_bytes
    assert sum(cost.n_parameters for cost in found) == model.n_parameters


def test_a_token_visits_some_experts_only() -> None:
    model = Mixtral(MixtralConfig(n_tokens=11, n_experts=4, n_chosen=2, **SMALL))
    dense = Llama(LlamaConfig(n_tokens=11, **{**SMALL, "d_ff": 48}))
    n_router = 2 * 16 * 4
    for ours, theirs in zip(costs(model, 3, 2)[:-1], costs(dense, 3, 2)[:-1], strict=True):
        assert ours.step == theirs.step + n_router
        assert ours.n_parameters > theirs.n_parameters


@pytest.mark.parametrize("patches", ["linear", "convolutions"])
def test_reading_costs_what_torch_counts(patches: PatchKind) -> None:
    tokens = torch.randint(1, 11, (1, N_READ))
    bert = Bert(BertConfig(n_tokens=11, head="none", **SMALL))
    read = sum(cost.read for cost in costs(bert, N_READ))
    assert read == counted(bert, lambda: bert(tokens), "encoder")
    size: dict[str, Any] = {"image_size": 8, "patch_size": 4, "n_channels": 1, "n_labels": 2}
    vit = ViT(ViTConfig(head="none", patches=patches, **size, **SMALL))
    read = sum(cost.read for cost in costs(vit, 5))  # four patches, and the class
    assert read == counted(vit, lambda: vit(torch.randn(1, 1, 8, 8)), "encoder")


@pytest.mark.parametrize("kind", ["relu", "swiglu"])
def test_an_encoder_and_a_decoder_cost_what_torch_counts(kind: str) -> None:
    config = TransformerConfig.preset(
        "tiny", 11, **{"block.d_model": 16, "block.n_heads": 4, "block.d_ff": 24}
    ).override({"block.activation": kind, "block.n_kv_heads": 2})
    model = Transformer(config)
    found = costs(model, N_READ, 1)
    source = torch.randint(1, 11, (1, N_READ))
    read = counted(model, lambda: model.start(source), "encoder")
    assert sum(cost.read for cost in found) == read
    state = model.start(source)
    assert sum(cost.step for cost in found) == counted(model, lambda: model.step(ONE, state))
