"""A classifier: a text in, one of its labels out, with how sure it is.

classifier = Classifier.load("sentiment")
classifier("A charming film.").label
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import torch

from clearhead.config import BertConfig, ModelConfig
from clearhead.data.rows import Row, RowBatches, rows_in_order
from clearhead.errors import InputError
from clearhead.tasks.classify.corpus import Reader
from clearhead.tasks.loaded import Loaded

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

    from clearhead.models import Bert

    _Base = Loaded[Bert]
else:
    _Base = Loaded

__all__ = ["Classification", "Classifier", "label_logits"]

N_BATCH_TOKENS = 4096


@dataclass(frozen=True)
class Classification:
    """The label of a text, and the probability of every label."""

    text: str
    label: str
    probability: float
    """Of this label; what the model believes, which is more than what it is right in."""
    probabilities: dict[str, float]


class Classifier(_Base):
    """A trained model with its tokenizer and labels: call it with a text, or with several."""

    @property
    def labels(self) -> list[str]:
        """What it may say, in the order of its scores."""
        labels = self.card.get("labels")
        if not isinstance(labels, list) or len(labels) != self.model.config.n_labels:
            raise InputError("the card of this model does not name its labels: it is damaged")
        return [str(label) for label in labels]

    @property
    def reader(self) -> Reader:
        """How it reads a text, as its plan says."""
        plan = self.card.get("plan")
        plan = plan if isinstance(plan, dict) else {}
        n_positions = self.model.config.n_positions
        context = min(int(plan.get("context", n_positions)), n_positions)
        return Reader(self.tokenizer, context, bool(plan.get("is_lower_cased")))

    @overload
    def __call__(self, text: str) -> Classification: ...
    @overload
    def __call__(self, text: list[str]) -> list[Classification]: ...
    def __call__(self, text: str | list[str]) -> Classification | list[Classification]:
        """Say which label a text has, or several in their order."""
        texts = [text] if isinstance(text, str) else list(text)
        if not texts:
            return []
        if any(not each.strip() for each in texts):
            raise InputError("a blank text has no label: give at least one word")
        rows = [Row(tokens, (0,)) for tokens in self.reader.read(texts)]
        labels = self.labels
        answers = []
        for each, row in zip(
            texts, label_logits(self.model, rows).softmax(-1).tolist(), strict=True
        ):
            probabilities = dict(zip(labels, row, strict=True))
            label = max(probabilities, key=lambda name: probabilities[name])
            answers.append(Classification(each, label, probabilities[label], probabilities))
        return answers[0] if isinstance(text, str) else answers

    @classmethod
    def _refuse(cls, config: ModelConfig, folder: str | Path) -> None:
        if not isinstance(config, BertConfig) or config.head != "classify":
            raise InputError(f"{folder} holds no classifier: its model gives no labels")


@torch.no_grad()
def label_logits(model: Bert, rows: Sequence[Row]) -> Float[Tensor, "B Y"]:
    """The logits of every label for each row, in their order."""
    batches = RowBatches(rows, N_BATCH_TOKENS, model.config.pad)
    device = next(model.parameters()).device
    found: list[Any] = [
        (batch, model(batch.tokens.to(device)).float().cpu()) for batch in batches.in_length_order()
    ]
    return rows_in_order(found)
