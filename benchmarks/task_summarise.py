"""What a summariser reaches on the abstracts of SciTLDR, beside summaries that need no model."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from measure import Figure

from clearhead.data.summaries import open_summaries
from clearhead.tasks.summarise.train import train_summariser

__all__ = ["FIGURES"]


def scitldr(data: Path, quick: bool) -> list[Figure]:
    """1,991 abstracts and their authors' sentences, from random weights, in ten minutes at most.

    `DATA/scitldr` holds `train.jsonl` and `test.jsonl`. No bar: so few pairs teach the form of a
    summary and little more.
    """
    folder = data / "scitldr"
    with tempfile.TemporaryDirectory() as name:
        model = train_summariser(
            open_summaries([folder / "train.jsonl"]),
            Path(name) / "model",
            test=open_summaries([folder / "test.jsonl"]),
            seconds=60 if quick else 600,
            settings={"max_source": 256, "n_batch_tokens": 2048},
        )
    figures = [Figure(score["name"], score["value"], "") for score in model.card["scores"]]
    figures.append(Figure("training", model.card["training"]["seconds"] / 60, "minutes"))
    figures.append(Figure("parameters", model.card["n_parameters"] / 1e6, "millions"))
    return figures


FIGURES: dict[str, Callable[[Path, bool], list[Figure]]] = {"scitldr": scitldr}
