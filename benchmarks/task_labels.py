"""What classifying reaches on real data with its defaults, beside a bar.

DATA is a folder with `trec/TREC.train.all` and `trec/TREC.test.all` (a number, a space, a question;
Li and Roth 2002, six labels), and `sst2/train.tsv` and `sst2/dev.tsv` (Socher et al. 2013). The
given test or dev file is never trained on, nor are weights chosen by it.

- `trec`, `sst2`: `clearhead train` from random weights, with nothing set by hand but the seed:
  some sentences more or less are luck, so three runs are made, and their mean is the figure.
- `sst2-minilm`: the same, beginning with a BERT that `clearhead convert` made, all-MiniLM-L6-v2
  say, in DATA/minilm.

`--quick` trains for 90 seconds, which shows that everything works and reaches no bar.
"""

import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

from measure import Figure

from clearhead.data.labelled import LabelledTexts
from clearhead.tasks.classify.train import train_classifier

__all__ = ["FIGURES"]

KINDS = ("description", "entity", "abbreviation", "human", "location", "number")
"""What TREC's numbers stand for."""
N_RUNS = 3


def trec(data: Path, quick: bool) -> list[Figure]:
    """Six kinds of questions, from random weights."""
    with tempfile.TemporaryDirectory() as name:
        paths = [Path(name) / f"{part}.tsv" for part in ("train", "test")]
        for path in paths:
            lines = (data / "trec" / f"TREC.{path.stem}.all").read_bytes().decode("latin-1")
            rows = (line.split(" ", 1) for line in lines.splitlines())
            table = "".join(f"{text}\t{KINDS[int(kind)]}\n" for kind, text in rows)
            path.write_text(f"question\tlabel\n{table}", encoding="utf-8")
        return _figures(paths[0], paths[1], 88.0, quick)


def sst2(data: Path, quick: bool) -> list[Figure]:
    """Good or bad, from random weights: above counting words."""
    return _figures(data / "sst2" / "train.tsv", data / "sst2" / "dev.tsv", None, quick)


def minilm(data: Path, quick: bool) -> list[Figure]:
    """Good or bad, beginning with a model that has read much."""
    start = data / "minilm"
    return _figures(data / "sst2" / "train.tsv", data / "sst2" / "dev.tsv", 89.0, quick, start)


def _figures(
    train: Path, test: Path, bar: float | None, quick: bool, start: Path | None = None
) -> list[Figure]:
    """Without a bar it is what counting words reaches."""
    cards = []
    for seed in range(N_RUNS if start is None and not quick else 1):
        with tempfile.TemporaryDirectory() as name:
            model = train_classifier(
                LabelledTexts([train]),
                Path(name) / "model",
                test=LabelledTexts([test]),
                start=start,
                seconds=90 if quick else None,
                settings={"training.seed": seed},
            )
        cards.append(model.card)

    def mean(name: str) -> float:
        values = [
            each["value"] for card in cards for each in card["scores"] if each["name"] == name
        ]
        return statistics.mean(values)

    counting = mean("accuracy of counting words")
    runs = ", ".join(f"{card['scores'][0]['value']:.2f}" for card in cards)
    minutes = statistics.mean(card["training"]["seconds"] for card in cards) / 60
    return [
        Figure("accuracy", mean("accuracy"), "%", counting if bar is None else bar, runs),
        Figure("macro-F1", mean("macro-F1"), "%"),
        Figure("accuracy of counting words", counting, "%"),
        Figure(
            "accuracy of the most frequent label", mean("accuracy of the most frequent label"), "%"
        ),
        Figure("training", minutes, "minutes"),
        Figure("parameters", cards[0]["n_parameters"] / 1e6, "millions"),
    ]


FIGURES: dict[str, Callable[[Path, bool], list[Figure]]] = {
    "trec": trec,
    "sst2": sst2,
    "sst2-minilm": minilm,
}
