"""A model runs in other number formats: under autocast, and converted as a whole."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from clearhead.models import Transformer, TransformerConfig


@pytest.fixture
def inputs() -> tuple[Tensor, Tensor]:
    source, target_in = torch.randint(1, 50, (8, 11)), torch.randint(1, 50, (8, 13))
    source[:4, 6:] = 0
    return source, target_in


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_autocast_trains_and_stays_near(norm: str, inputs: tuple[Tensor, Tensor]) -> None:
    model = Transformer(TransformerConfig.preset("tiny", 50, **{"block.norm": norm}))
    with torch.autocast("cpu", torch.bfloat16):
        model.train()(*inputs).float().square().sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.dtype == torch.float32, name
        assert parameter.grad.isfinite().all(), name
    with torch.no_grad():
        exact = model.eval()(*inputs)
        with torch.autocast("cpu", torch.bfloat16):
            rounded = model(*inputs)
    assert rounded.dtype == torch.bfloat16
    assert F.cosine_similarity(exact, rounded.float(), dim=-1).min() > 0.99


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_a_converted_model_runs_and_steps(
    dtype: torch.dtype, positions: str, inputs: tuple[Tensor, Tensor]
) -> None:
    config = TransformerConfig.preset("tiny", 50, positions=positions)
    model = Transformer(config).eval()
    with torch.no_grad():
        exact = model(*inputs)
        model.to(dtype)
        logits = model(*inputs)
    assert logits.dtype == dtype
    assert F.cosine_similarity(exact, logits.float(), dim=-1).min() > 0.99
    step_logits, _ = model.step(inputs[1], model.start(inputs[0]))
    torch.testing.assert_close(step_logits, logits[:, -1], atol=0.1, rtol=0.05)
