"""Counting words: TF-IDF of one and two words with logistic regression, a baseline and a teacher.

A label says of a whole text what only some of its words say. Counting tells how much each word and
each pair of words speaks for a label, so a model learns from both (Hinton et al. 2015, §2):

    target = (1 − λ) · label + λ · what counting believes

What counting believes of a text that it has learned from is little more than its label. So texts
are divided into folds, and each is asked about by what learned from the other folds.

Departs: the teacher is simpler than its student, and no temperature softens what it believes.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearhead.data.labelled import Example
from clearhead.tasks.classify.corpus import whole_texts

__all__ = ["STRENGTHS", "Counting", "beliefs_of_others"]

N_COUNTED = 100_000
"""Counting learns from at most so many texts."""
WORDS = r"[^\s!-/:-@\[-`{-~]+|[!-/:-@\[-`{-~]"
"""Words are what stands between spaces and signs, vowel signs included; each sign is one, too."""
STRENGTHS = (1.0, 10.0, 100.0)
TEACHING = 10.0
"""How freely the regression fits where it teaches; see `STRENGTHS`."""
N_FOLDS = 5


class Counting:
    """Learned from texts with labels; of several strengths, the best on validation texts."""

    def __init__(
        self,
        train: Sequence[Example],
        strengths: Sequence[float] = (TEACHING,),
        validation: Sequence[Example] = (),
    ) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression

        some = train[:: max(1, -(-len(train) // N_COUNTED))]
        self._counter = TfidfVectorizer(ngram_range=(1, 2), token_pattern=WORDS)
        x = self._counter.fit_transform([each.text for each in some])
        labels = [each.label for each in some]
        tried = [LogisticRegression(C=c, max_iter=1000).fit(x, labels) for c in strengths]
        self._model = tried[0]
        if len(tried) > 1:
            held_out = self._count(validation)
            truth = [each.label for each in validation]
            self._model = max(tried, key=lambda model: float(model.score(held_out, truth)))
        self.strength = float(self._model.C)

    def say(self, examples: Sequence[Example]) -> list[str]:
        """The most probable label of each text."""
        return [str(label) for label in self._model.predict(self._count(examples))]

    def believe(self, examples: Sequence[Example], labels: Sequence[str]) -> NDArray[np.float32]:
        """The probability of each of `labels`, a row for each text."""
        found = np.zeros((len(examples), len(labels)), np.float32)
        places = [list(labels).index(label) for label in self._model.classes_]
        found[:, places] = self._model.predict_proba(self._count(examples))
        return found

    def _count(self, examples: Sequence[Example]) -> Any:
        return self._counter.transform([each.text for each in examples])


def beliefs_of_others(examples: Sequence[Example], labels: Sequence[str]) -> NDArray[np.float32]:
    """How probable each label is to one that has learned from other texts, a row for each text.

    Texts of one family are in one fold. Where the others have no two labels, nothing is known.
    """
    folds = [_fold(family) for family in whole_texts([each.text for each in examples])]
    found = np.full((len(examples), len(labels)), 1 / len(labels), np.float32)
    for fold in sorted(set(folds)):
        asked = [each for each, its in zip(examples, folds, strict=True) if its == fold]
        others = [each for each, its in zip(examples, folds, strict=True) if its != fold]
        if len({each.label for each in others}) > 1:
            found[np.array(folds) == fold] = Counting(others).believe(asked, labels)
    return found


def _fold(family: str) -> int:
    digest = blake2b(family.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % N_FOLDS
