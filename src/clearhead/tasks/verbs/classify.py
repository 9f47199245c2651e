"""The commands for texts with labels."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearhead.data.labelled import LabelledTexts, LabelReport
from clearhead.engine.memory import Wanted
from clearhead.errors import InputError
from clearhead.tasks.verbs import Scored

if TYPE_CHECKING:
    from clearhead.tasks.classify.classifier import Classifier

__all__ = ["evaluate", "examine", "load", "open_data", "sizes", "takes_model", "train"]

takes_model = True


def sizes() -> Sequence[str]:
    """Of encoders by themselves."""
    from clearhead.tasks.classify.plan import SIZES

    return tuple(SIZES)


def open_data(paths: Sequence[Path], columns: tuple[str, str] | None = None) -> LabelledTexts:
    """Tables with a text and a label in each row."""
    return LabelledTexts(paths, columns)


def examine(data: LabelledTexts, test: LabelledTexts | None = None) -> LabelReport:
    """Every text looked at."""
    return data.examine([] if test is None else [each.text for each in test.whole()])[0]


def train(data: LabelledTexts, to: Path, **options: Any) -> "Classifier":
    """A classifier."""
    from clearhead.tasks.classify.train import train_classifier

    return train_classifier(data, to, **options)


def load(folder: Path, precision: Wanted = "auto") -> "Classifier":
    """A classifier from its folder."""
    from clearhead.tasks.classify.classifier import Classifier

    return Classifier.load(folder, precision)


def evaluate(folder: Path, data: LabelledTexts, **options: Any) -> Scored:
    """Accuracy, macro-F1 and the confusions, beside the most frequent label of the training."""
    from clearhead.tasks.classify.evaluate import confuse, most_frequent, score_labels

    examples = data.whole()
    if not examples:
        raise InputError(f"{data.paths[0]} holds no text with a label: nothing can be scored")
    classifier = load(folder)
    labels, truth = classifier.labels, [each.label for each in examples]
    unknown = sorted({*truth} - {*labels})
    if len(unknown) == len({*truth}):
        raise InputError(
            f"{data.paths[0]} has none of the model's labels, {', '.join(labels[:10])}: its column "
            f"{data.names[1]} holds {', '.join(unknown[:5])}; say --columns TEXT,LABEL"
        )
    said = [each.label for each in classifier([each.text for each in examples])]
    found = confuse(truth, said, labels)
    scores = score_labels(found)
    trained = classifier.card.get("data", {}).get("labels")
    if trained:
        scores += most_frequent(trained, truth)
    lines = found.lines()
    if unknown:
        n = sum(label in unknown for label in truth)
        lines.append(f"{n:,} texts have labels that the model does not know: they count as wrong")
    return Scored(scores, len(examples), "texts", tuple(lines), {"confusion": found.to_dict()})
