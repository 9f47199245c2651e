"""How well hidden words are guessed in Shakespeare, beside counting.

`FIGURES` is for benchmarks/tasks.py; DATA has `tinyshakespeare/input.txt`. Eight minutes of
training, or one with `quick`; the last twentieth of the text is the test.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

from measure import Figure

from clearhead.data.texts import Texts
from clearhead.tasks.fill.train import train_filler

__all__ = ["FIGURES"]

SECONDS = 8 * 60


def fill(data: Path, quick: bool) -> list[Figure]:
    """Train with the defaults; each score stands beside those of its baselines."""
    with tempfile.TemporaryDirectory() as folder:
        model = train_filler(
            Texts([data / "tinyshakespeare" / "input.txt"]),
            Path(folder) / "model",
            seconds=SECONDS / 8 if quick else SECONDS,
        )
    scores = [
        Figure(score["name"], score["value"], "%" if "accuracy" in score["name"] else "")
        for score in model.card["scores"]
    ]
    return [
        *scores,
        Figure("training", model.card["training"]["seconds"] / 60, "minutes"),
        Figure("parameters", model.card["n_parameters"] / 1e6, "millions"),
    ]


FIGURES: dict[str, Callable[[Path, bool], list[Figure]]] = {"fill": fill}
