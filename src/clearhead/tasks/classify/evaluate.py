"""How often the label is right, and which labels are taken for which; beside what needs no model.

accuracy   the share of texts whose label is right
F1         2 · right / (said + true), of one label
macro-F1   the mean of the F1 of all labels that are true or said somewhere
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from clearhead.data.labelled import Example, sort_labels
from clearhead.tasks.classify.counting import STRENGTHS, Counting
from clearhead.tasks.markup import isolate, table
from clearhead.tasks.scores import Score

__all__ = ["Confusion", "baselines", "confuse", "most_frequent", "score_labels"]

N_SHOWN = 20
"""A table of more labels shows those that are confused most."""


@dataclass(frozen=True)
class Confusion:
    """How many texts of each true label (rows) were said to have each label (columns)."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def n_texts(self) -> int:
        """All of them."""
        return sum(map(sum, self.counts))

    @property
    def accuracy(self) -> float:
        """In per cent."""
        return 100 * sum(row[n] for n, row in enumerate(self.counts)) / self.n_texts

    def f1(self, number: int) -> float | None:
        """Of one label, in per cent; none if it is neither true nor said anywhere."""
        n_true = sum(self.counts[number])
        n_said = sum(row[number] for row in self.counts)
        return 200 * self.counts[number][number] / (n_true + n_said) if n_true + n_said else None

    @property
    def macro_f1(self) -> float:
        """The mean over the labels, in per cent."""
        found = [f1 for n in range(len(self.labels)) if (f1 := self.f1(n)) is not None]
        return sum(found) / len(found)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"labels": list(self.labels), "counts": [list(row) for row in self.counts]}

    def rows(self) -> list[list[str]]:
        """A table: each true label, how often it was said to be which, and its F1."""
        places = self._shown()
        rows = [["true \\ said", *(self.labels[n] for n in places), "F1"]]
        for n in places:
            counts = [f"{self.counts[n][m]:,}" for m in places]
            f1 = self.f1(n)
            rows.append([self.labels[n], *counts, "–" if f1 is None else f"{f1:.1f}"])
        return rows

    def lines(self) -> list[str]:
        """The table for a terminal."""
        from clearhead.observe.drawing import columns  # and torch, which the doctor does without

        rows = self.rows()
        left_out = len(self.labels) - len(rows) + 1
        more = [f"and {left_out} labels that are confused less"] if left_out else []
        return [*columns(rows, right=range(1, len(rows[0]))).split("\n"), *more]

    def html(self) -> str:
        """The table for a page."""
        head, *rows = self.rows()
        heads = [isolate(head[0]), *(f"#{isolate(name)}" for name in head[1:])]
        return table(heads, [[isolate(cell) for cell in row] for row in rows])

    def _shown(self) -> list[int]:
        if len(self.labels) <= N_SHOWN:
            return list(range(len(self.labels)))

        def n_wrong(n: int) -> int:
            return sum(self.counts[n]) + sum(row[n] for row in self.counts) - 2 * self.counts[n][n]

        return sorted(sorted(range(len(self.labels)), key=lambda n: -n_wrong(n))[:N_SHOWN])


def confuse(truth: Sequence[str], said: Sequence[str], labels: Sequence[str] = ()) -> Confusion:
    """Count what was said of which; `labels` come first even if they are never met.

    >>> confuse(["a", "b", "b"], ["a", "b", "a"]).counts
    ((1, 0), (1, 1))
    """
    known = [*labels, *sort_labels({*truth, *said} - {*labels})]
    pairs = Counter(zip(truth, said, strict=True))
    counts = tuple(tuple(pairs[true, word] for word in known) for true in known)
    return Confusion(tuple(known), counts)


def score_labels(found: Confusion, of: str = "", how: str = "") -> list[Score]:
    """Accuracy and macro-F1; `of` names a baseline, `how` says what it is."""
    return [
        Score(f"accuracy{of}", found.accuracy, how or f"% right of {found.n_texts:,} texts"),
        Score(f"macro-F1{of}", found.macro_f1, how or "the mean of the labels' F1, in %"),
    ]


def most_frequent(counts: dict[str, int], truth: Sequence[str]) -> list[Score]:
    """What saying always the most frequent label of the training texts would score."""
    label = max(counts, key=lambda each: counts[each])
    said = confuse(truth, [label] * len(truth))
    return score_labels(said, " of the most frequent label", f"always {label}")


def baselines(
    train: Sequence[Example], validation: Sequence[Example], test: Sequence[Example]
) -> list[Score]:
    """The most frequent label, and words counted: TF-IDF with logistic regression.

    How freely the regression may fit is chosen on the validation texts, as the model's own weights
    are.
    """
    truth = [each.label for each in test]
    scores = most_frequent(dict(Counter(each.label for each in train)), truth)
    counting = Counting(train, STRENGTHS, validation)
    how = "TF-IDF of one and two words, logistic regression"
    how += f" with C={counting.strength:g} (scikit-learn)"
    found = confuse(truth, counting.say(test))
    return [*scores, *score_labels(found, " of counting words", how)]
