"""A character model with experts beside a dense one in which a token costs as much.

DATA has `tinyshakespeare/input.txt`. Both have the same steps on the same batches: 8 experts of
which a token visits 2, each half as wide as the dense feed-forward. How long a step takes is
measured in turns, forward and backward.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from measure import Figure, take_turns
from task_characters import CONTEXT, N_ROWS, N_STEPS, plays

from clearhead.config import LlamaConfig, MixtralConfig
from clearhead.data.texts import Texts
from clearhead.models import Llama, Mixtral
from clearhead.observe.watch import watch
from clearhead.tasks.generate.generator import Generator
from clearhead.tasks.generate.train import train_generator
from clearhead.training import smoothed_loss

__all__ = ["FIGURES"]

N_EXPERTS = 8


def _experts(data: Path, quick: bool) -> list[Figure]:
    settings: dict[str, Any] = {
        "model.dropout": 0.0,
        "context": CONTEXT,
        "n_batch_tokens": CONTEXT * N_ROWS,
        "training.n_steps": N_STEPS // 20 if quick else N_STEPS,
    }
    with plays(data) as folder, tempfile.TemporaryDirectory() as name:
        held_out = Texts([folder / "validation.txt"])
        found = [
            train_generator(
                Texts([folder / "train.txt"]),
                Path(name) / f"{n}",
                validation=held_out,
                test=held_out,
                size="nano",
                settings={**settings, "n_experts": n},
            )
            for n in (1, N_EXPERTS)
        ]
        text = (folder / "validation.txt").read_text(encoding="utf-8")[:4000]
    dense, mixed = (
        next(s["value"] for s in each.card["scores"] if s["name"] == "nats per character")
        for each in found
    )
    busiest = _busiest(found[1], text)
    ratio, spread = _step_times(5 if quick else 30)
    return [
        Figure("loss of the dense model less that with experts", dense - mixed, "nats", 0.0),
        Figure("dense, nats per character", dense, ""),
        Figure("experts, nats per character", mixed, ""),
        Figure("a step with experts, of a dense one", 1 / ratio, "×", 1.6, spread, is_limit=True),
        Figure(
            "the busiest expert, of an even share",
            busiest,
            "×",
            2.0,
            is_limit=True,
        ),
    ]


def _step_times(seconds: float) -> tuple[float, str]:
    """How many times as fast as the dense one a step with experts is."""
    shape: dict[str, Any] = {"n_tokens": 70, "n_layers": 4, "d_model": 128, "n_heads": 4}
    dense = Llama(LlamaConfig(d_ff=344, **shape))
    mixed = Mixtral(MixtralConfig(d_ff=172, n_experts=N_EXPERTS, n_chosen=2, **shape))
    tokens = torch.randint(4, 70, (N_ROWS, CONTEXT))
    is_token = torch.ones_like(tokens, dtype=torch.bool)

    def step(model: Llama | Mixtral) -> None:
        if isinstance(model, Mixtral):
            x, uneven = model.read_with_balance(tokens)
        else:
            x, uneven = model.read(tokens), torch.zeros(())
        smoothed, _ = smoothed_loss(x, model.output.weight, tokens, is_token)
        (smoothed + uneven).backward()
        model.zero_grad()

    times = take_turns({"dense": lambda: step(dense), "experts": lambda: step(mixed)}, seconds)
    return times.speed_up("experts", "dense")


@torch.no_grad()
def _busiest(generator: Generator, text: str) -> float:
    """How many times an even share the busiest expert of any block gets."""
    model: Any = generator.model
    tokens = torch.tensor([generator.tokenizer.encode(text)])[:, : CONTEXT * (len(text) // CONTEXT)]
    with watch(model, "*.chosen") as seen:
        model.read(tokens.view(-1, CONTEXT))
    shares = []
    for name in seen:
        chosen = torch.cat([step.tensor.flatten() for step in seen.steps(name)])
        shares.append(float(chosen.bincount(minlength=N_EXPERTS).max()) / len(chosen))
    return max(shares) * N_EXPERTS


FIGURES: dict[str, Callable[[Path, bool], list[Figure]]] = {"experts": _experts}
