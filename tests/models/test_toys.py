"""The tiny Transformer learns to copy, reverse and sort sequences that it has never seen."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from clearhead.models import Transformer, TransformerConfig

PAD, BOS, EOS, FIRST = 0, 1, 2, 3
N_TOKENS = 20
LONGEST = 10
N_STEPS = 600


def _batch(task: Callable[[Tensor], Tensor], n_rows: int, rng: torch.Generator) -> list[Tensor]:
    """Random sequences of one random length: source, target_in and target_out."""
    length = int(torch.randint(1, LONGEST + 1, (), generator=rng))
    tokens = torch.randint(FIRST, N_TOKENS, (n_rows, length), generator=rng)
    ends = torch.full((n_rows, 1), EOS)
    target = task(tokens)
    return [
        torch.cat([tokens, ends], 1),
        torch.cat([torch.full((n_rows, 1), BOS), target], 1),
        torch.cat([target, ends], 1),
    ]


def _train(model: Transformer, task: Callable[[Tensor], Tensor], n_steps: int) -> None:
    rng = torch.Generator().manual_seed(1)
    adam = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
    warm_up = 200
    schedule = torch.optim.lr_scheduler.LambdaLR(
        adam, lambda step: min((step + 1) / warm_up, ((step + 1) / warm_up) ** -0.5)
    )
    for _ in range(n_steps):
        source, target_in, target_out = _batch(task, 64, rng)
        logits = model(source, target_in)
        loss = F.cross_entropy(logits.flatten(0, 1), target_out.flatten(), ignore_index=PAD)
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        schedule.step()


@torch.no_grad()
def _greedy(model: Transformer, source: Tensor) -> Tensor:
    """Decode with the cache, as many tokens as the source has."""
    state = model.start(source)
    tokens = torch.full((len(source), 1), BOS)
    written = []
    for _ in range(source.shape[1]):
        logits, state = model.step(tokens, state)
        tokens = logits.argmax(-1, keepdim=True)
        written.append(tokens)
    return torch.cat(written, dim=1)


def _reverse(tokens: Tensor) -> Tensor:
    return tokens.flip(1)


def _sort(tokens: Tensor) -> Tensor:
    return tokens.sort(dim=1).values


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("task", "norm"),
    [(torch.clone, "post"), (_reverse, "post"), (_sort, "post"), (_sort, "pre")],
)
def test_a_toy_is_learned(task: Callable[[Tensor], Tensor], norm: str) -> None:
    changes = {"block.dropout": 0.0, "block.norm": norm}
    model = Transformer(TransformerConfig.preset("tiny", N_TOKENS, **changes))
    _train(model.train(), task, N_STEPS)
    rng = torch.Generator().manual_seed(2)
    is_right = []
    for _ in range(50):
        source, _, target_out = _batch(task, 40, rng)
        is_right.append((_greedy(model.eval(), source) == target_out).all(dim=1))
    assert torch.cat(is_right).float().mean() >= 0.99
