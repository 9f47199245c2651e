"""What answering questions reaches on real data, beside what needs no model.

DATA has `squad-it/SQuAD_it-test.json.gz`, 7,609 Italian questions: few for a model that begins with
random weights, so there is no bar. Contexts are held out whole.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

from measure import Figure

from clearhead.data.questions import Questions
from clearhead.tasks.answer.train import train_answerer

__all__ = ["FIGURES"]

SECONDS = 600


def _squad_it(data: Path, quick: bool) -> list[Figure]:
    questions = Questions([data / "squad-it" / "SQuAD_it-test.json.gz"])
    with tempfile.TemporaryDirectory() as folder:
        model = train_answerer(
            questions, Path(folder) / "model", seconds=SECONDS / 10 if quick else SECONDS
        )
    scores = {score["name"]: score["value"] for score in model.card["scores"]}
    wanted = ("exact match", "F1")
    kinds = ("", " in any language", " of the first sentence", " of word overlap")
    return [
        *(
            Figure(f"{name}{kind}", scores[f"{name}{kind}"], "%")
            for kind in kinds
            for name in wanted
        ),
        Figure("training", model.card["training"]["seconds"] / 60, "minutes"),
        Figure("parameters", model.card["n_parameters"] / 1e6, "millions"),
    ]


FIGURES: dict[str, Callable[[Path, bool], list[Figure]]] = {"squad-it": _squad_it}
