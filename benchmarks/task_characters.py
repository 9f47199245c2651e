"""A character model of plays, as people train first, beside a plain loop.

DATA has `tinyshakespeare/input.txt`; the first nine tenths train, the rest validates.

- `characters`: the setting of nanoGPT for processors (4 layers, width 128, context 64, batches of
  12, 2,000 steps, no dropout) in our trainer, beside a GPT-2 of that size in a plain loop as
  nanoGPT has it, its looks at the loss included: half of its steps before ours, half after. Both
  take all steps; the bar is on the time until ours is where nanoGPT is at the end.
- `default`: `clearhead train` on the file with nothing set by hand.
"""

import json
import math
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from measure import Figure
from torch import Tensor, nn
from torch.nn import functional as F

from clearhead.data.texts import Texts
from clearhead.tasks.generate.generator import Generator
from clearhead.tasks.generate.train import train_generator

__all__ = ["CONTEXT", "FIGURES", "N_ROWS", "N_STEPS", "plays"]

CONTEXT, N_ROWS, N_STEPS = 64, 12, 2000
BAR = 1.86
N_EVALUATED = 200
EVALUATE_EVERY, N_EVALUATED_OFTEN = 250, 20
"""nanoGPT looks at its loss on both parts so often, on so many batches."""


@contextmanager
def plays(data: Path) -> Iterator[Path]:
    """A folder with the two parts of the text."""
    text = (data / "tinyshakespeare" / "input.txt").read_text(encoding="utf-8")
    cut = int(0.9 * len(text))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "train.txt").write_text(text[:cut], encoding="utf-8")
        (folder / "validation.txt").write_text(text[cut:], encoding="utf-8")
        yield folder


def _train(folder: Path, **options: Any) -> Generator:
    """Our trainer, scored on the part that was held out."""
    held_out = Texts([folder / "validation.txt"])
    return train_generator(
        Texts([folder / "train.txt"]),
        folder / "model",
        validation=held_out,
        test=held_out,
        **options,
    )


def _loss(model: Generator) -> float:
    scores = {score["name"]: score["value"] for score in model.card["scores"]}
    return float(scores["nats per character"])


def _default(data: Path, quick: bool) -> list[Figure]:
    with plays(data) as folder:
        model = _train(folder, seconds=108 if quick else None)
    seconds = model.card["training"]["seconds"]
    return [
        Figure("nats per character", _loss(model), "", 1.60, is_limit=True),
        Figure("training", seconds / 60, "minutes", 20, is_limit=True),
        Figure("parameters", model.card["n_parameters"] / 1e6, "millions"),
    ]


def _characters(data: Path, quick: bool) -> list[Figure]:
    with plays(data) as folder:
        return _beside_a_plain_loop(folder, quick)


def _beside_a_plain_loop(folder: Path, quick: bool) -> list[Figure]:
    n_steps = N_STEPS // 10 if quick else N_STEPS
    plain = _PlainLoop(folder)
    plain.run(n_steps // 2, n_steps)
    settings = {
        "model.dropout": 0.0,
        "context": CONTEXT,
        "n_batch_tokens": CONTEXT * N_ROWS,
        "training.n_steps": n_steps,
        "training.validate_every": n_steps // 4,
    }
    model = _train(folder, size="nano", settings=settings)
    plain.run(n_steps - n_steps // 2, n_steps)
    until = _seconds_until(folder / "model" / "training" / "journal.jsonl")
    seconds, of = model.card["training"]["seconds"], "of the plain loop's time"
    return [
        Figure("ours, nats per character", _loss(model), "", BAR, is_limit=True),
        Figure("the plain loop, nats per character", plain.loss_of(plain.held_out), ""),
        Figure(f"ours until {BAR}, {of}", until / plain.seconds, "×", 1.0, is_limit=True),
        Figure(f"ours, all steps, {of}", seconds / plain.seconds, "×"),
        Figure("ours, all steps", seconds, "s"),
        Figure("the plain loop", plain.seconds, "s"),
        Figure("ours, parameters", model.card["n_parameters"] / 1e6, "millions"),
    ]


def _seconds_until(journal: Path) -> float:
    """Up to the first validation below the bar, itself included; no number if there is none."""
    seconds = 0.0
    for line in journal.read_text(encoding="utf-8").splitlines():
        found = json.loads(line)
        if found["kind"] == "step":
            seconds += CONTEXT * N_ROWS / found["tokens_per_second"]
        if found["kind"] == "validation":
            seconds += found["seconds"]
            if found["loss"] <= BAR:
                return seconds
    return math.inf


class _PlainLoop:
    """GPT-2 as torch has its parts, batches at random places, AdamW: the usual small script."""

    def __init__(self, folder: Path) -> None:
        train, held_out = (
            (folder / f"{name}.txt").read_text(encoding="utf-8") for name in ("train", "validation")
        )
        letters = sorted(set(train + held_out))
        numbers = {letter: number for number, letter in enumerate(letters)}
        self.train, self.held_out = (
            torch.tensor([numbers[letter] for letter in text]) for text in (train, held_out)
        )
        torch.manual_seed(0)
        self.model = _PlainGPT(len(letters))
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=1e-3, betas=(0.9, 0.99), weight_decay=0.1, fused=True
        )
        self.step, self.seconds = 0, 0.0

    def run(self, n_steps: int, n_all: int) -> None:
        """Some more steps of all."""
        start = time.perf_counter()
        for _ in range(n_steps):
            self.step += 1
            warm = min(1.0, self.step / 100)
            decay = 0.5 * (1 + math.cos(math.pi * self.step / n_all))
            for group in self.optimizer.param_groups:
                group["lr"] = 1e-3 * warm * (0.1 + 0.9 * decay)
            inputs, targets = _batch(self.train)
            loss = F.cross_entropy(self.model(inputs).flatten(0, 1), targets.flatten())
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            if self.step % EVALUATE_EVERY == 0:
                for part in (self.train, self.held_out):
                    self.loss_of(part, N_EVALUATED_OFTEN)
        self.seconds += time.perf_counter() - start

    @torch.no_grad()
    def loss_of(self, part: Tensor, n: int = N_EVALUATED) -> float:
        """The mean loss of some batches."""
        total = 0.0
        for _ in range(n):
            inputs, targets = _batch(part)
            total += float(F.cross_entropy(self.model(inputs).flatten(0, 1), targets.flatten()))
        return total / n


def _batch(row: Tensor) -> tuple[Tensor, Tensor]:
    begins = torch.randint(len(row) - CONTEXT - 1, (N_ROWS,)).tolist()
    table = torch.stack([row[begin : begin + CONTEXT + 1] for begin in begins])
    return table[:, :-1], table[:, 1:]


class _PlainGPT(nn.Module):
    def __init__(self, n_tokens: int) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(n_tokens, 128), nn.Embedding(CONTEXT, 128)
        self.blocks = nn.ModuleList(_PlainBlock(128, 4) for _ in range(4))
        self.norm = nn.LayerNorm(128)
        self.output = nn.Linear(128, n_tokens, bias=False)
        self.output.weight = self.tokens.weight
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                is_last = name.endswith(("last.weight", "down.weight"))
                nn.init.normal_(parameter, std=0.02 / math.sqrt(8) if is_last else 0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits: Tensor = self.output(self.norm(x))
        return logits


class _PlainBlock(nn.Module):
    def __init__(self, width: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.last = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        B, T, D = x.shape
        q, k, v = (
            part.view(B, T, self.n_heads, -1).transpose(1, 2)
            for part in self.qkv(self.first(x)).chunk(3, dim=-1)
        )
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.last(heads.transpose(1, 2).reshape(B, T, D))
        changed: Tensor = x + self.down(F.gelu(self.up(self.second(x))))
        return changed


FIGURES = {"characters": _characters, "default": _default}
