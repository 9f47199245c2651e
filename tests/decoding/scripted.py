"""A model whose next-token probabilities are written down: what a search does can be checked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from clearhead.decoding import DecodingConfig, Hypothesis, Request, generate

BOS, EOS, PAD = 1, 2, 0


@dataclass
class History:
    """The state of a scripted model: its source and all tokens of each row."""

    rows: list[list[int]]

    def reorder(self, rows: Tensor) -> "History":
        return History([list(self.rows[row]) for row in rows.tolist()])

    def keep(self, rows: Tensor) -> "History":
        return self.reorder(rows.nonzero()[:, 0])


class Scripted:
    """`log_probs(source, tokens)` gives the logits after what was written; rows are counted."""

    def __init__(self, logits: Callable[[list[int]], Sequence[float]]) -> None:
        self.logits = logits
        self.n_rows: list[int] = []

    def start(self, source: Tensor) -> History:
        return History([[] for _ in source])

    def step(self, tokens: Tensor, state: History) -> tuple[Tensor, History]:
        self.n_rows.append(len(tokens))
        rows = [[*row, int(t)] for row, (t,) in zip(state.rows, tokens.tolist(), strict=True)]
        logits = torch.tensor([list(self.logits(row[1:])) for row in rows])
        return logits, History(rows)


def random_model(n_tokens: int, seed: int = 0) -> Scripted:
    """Logits that depend on everything written, and repeat."""

    def logits(tokens: list[int]) -> Sequence[float]:
        generator = torch.Generator().manual_seed(hash((seed, *tokens)) % 2**31)
        return torch.randn(n_tokens, generator=generator).mul(2).tolist()

    return Scripted(logits)


def answer(model: Scripted, max_length: int = 10, **options: object) -> list[Hypothesis]:
    """Decode one request; options of the request and of its config together."""
    names = ("prefix", "required", "forbidden", "is_wrong", "is_enough")
    own = {name: options.pop(name) for name in names if name in options}
    request = Request([5], max_length, DecodingConfig(**options), **own)  # type: ignore[arg-type]
    return generate(model, [request], bos=BOS, eos=EOS, pad=PAD)[0]
