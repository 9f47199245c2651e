"""What `clearhead train` reaches on pictures with nothing set by hand.

DATA is a folder with the idx files of Fashion-MNIST: 60,000 pictures to train on, 10,000 to test.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from measure import Figure

from clearhead.data.pictures import Pictures
from clearhead.tasks.images.train import train_classifier

__all__ = ["FIGURES"]

QUICK_SECONDS = 120


def fashion(data: Path, quick: bool) -> list[Figure]:
    """Train, and score on the test part; `quick` shows that everything works, and no more."""
    with tempfile.TemporaryDirectory() as name:
        seconds = QUICK_SECONDS if quick else None
        model = train_classifier(Pictures([data]), Path(name) / "model", seconds=seconds)
    scores = {score["name"]: score["value"] for score in model.card["scores"]}
    forecast, training = model.card["forecast"], model.card["training"]
    return [
        Figure("test accuracy", scores["accuracy"], "%", 91.0),
        Figure("training", training["seconds"] / 60, "minutes", 30, is_limit=True),
        Figure("parameters", model.card["n_parameters"] / 1e6, "millions", 1.0, is_limit=True),
        Figure("epochs", forecast["n_epochs"], ""),
        Figure("macro-F1", scores["macro-F1"], "%"),
        Figure("logistic regression", scores["accuracy of logistic regression"], "%"),
        Figure("nearest mean", scores["accuracy of the nearest mean"], "%"),
    ]


FIGURES: Final[dict[str, Callable[[Path, bool], list[Figure]]]] = {"fashion": fashion}
