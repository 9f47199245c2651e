"""A small Transformer learns to copy, reverse and sort sequences that it has never seen."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from clearhead.models import Transformer, TransformerConfig

PAD, BOS, EOS, FIRST = 0, 1, 2, 3
N_TOKENS = 13
LONGEST = 8

# Each task puts the tokens in the order of a key: copy, reverse, sort.
KEYS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "copy": lambda tokens, place: place,
    "reverse": lambda tokens, place: -place,
    "sort": lambda tokens, place: tokens,
}


def _batch(task: str, n_rows: int, rng: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Random sequences of random lengths: source, target_in and target_out."""
    place = torch.arange(LONGEST + 1)
    length = torch.randint(1, LONGEST + 1, (n_rows, 1), generator=rng)
    tokens = torch.randint(FIRST, N_TOKENS, (n_rows, LONGEST + 1), generator=rng)
    key = KEYS[task](tokens, place.expand_as(tokens)).masked_fill(place >= length, N_TOKENS)
    target = tokens.gather(1, key.argsort(dim=1))
    for row in (tokens, target):
        row.masked_fill_(place == length, EOS).masked_fill_(place > length, PAD)
    return tokens, F.pad(target[:, :-1], (1, 0), value=BOS), target


def _train(model: Transformer, task: str, n_steps: int) -> None:
    """Adam with warm-up, then down to zero."""
    rng = torch.Generator().manual_seed(1)
    adam = torch.optim.Adam(model.parameters(), lr=2e-3, betas=(0.9, 0.98), eps=1e-9)
    for step in range(n_steps):
        for group in adam.param_groups:
            group["lr"] = 2e-3 * min(1, (step + 1) / 100) * (1 - step / n_steps)
        source, target_in, target_out = _batch(task, 48, rng)
        logits = model(source, target_in)
        loss = F.cross_entropy(logits.flatten(0, 1), target_out.flatten(), ignore_index=PAD)
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()


def _greedy(model: Transformer, source: Tensor) -> Tensor:
    """Decode with the cache; what comes after the end is padding."""
    state = model.start(source)
    tokens = torch.full((len(source), 1), BOS)
    is_finished = torch.zeros(len(source), 1, dtype=torch.bool)
    written = []
    for _ in range(LONGEST + 1):
        logits, state = model.step(tokens, state)
        tokens = logits.argmax(-1, keepdim=True).masked_fill(is_finished, PAD)
        is_finished |= tokens == EOS
        written.append(tokens)
    return torch.cat(written, dim=1)


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("task", "norm", "n_steps"),
    [("copy", "post", 600), ("reverse", "post", 800), ("sort", "post", 700), ("sort", "pre", 500)],
)
def test_a_toy_is_learned(task: str, norm: str, n_steps: int) -> None:
    small = {"n_encoder_layers": 2, "n_decoder_layers": 2, "block.d_model": 64, "block.d_ff": 128}
    changes = {"block.dropout": 0.0, "block.norm": norm, **small}
    model = Transformer(TransformerConfig.preset("tiny", N_TOKENS, **changes))
    _train(model.train(), task, n_steps)
    source, _, target_out = _batch(task, 2000, torch.Generator().manual_seed(2))
    is_right = (_greedy(model.eval(), source) == target_out).all(dim=1)
    assert is_right.float().mean() >= 0.99
