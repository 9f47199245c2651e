"""Two runs beside each other: what an edit does to each token, and to the answer.

    with model.edit({"decoder.blocks.1.cross_attention.weights": zero(head=3)}) ...

is one run; `compare` makes both, the plain one and the edited one, and says what changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from clearhead.observe.drawing import Picture, columns, table_svg
from clearhead.observe.edit import Edit, edit
from clearhead.observe.forced import Forced
from clearhead.observe.names import name_pieces

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True)
class Comparison:
    """One target, and how probable each of its tokens is in both runs."""

    tokens: list[str]
    before: list[float]
    """Log-probabilities in the plain run."""
    after: list[float]
    """The same in the other run."""
    answers: tuple[str, str] | None = None
    """What the model answers by itself in both runs, if that was asked for."""

    @property
    def changes(self) -> list[float]:
        """By how much each log-probability rose."""
        return [after - before for before, after in zip(self.before, self.after, strict=True)]

    @property
    def total(self) -> float:
        """By how much the log-probability of the whole target rose."""
        return sum(self.changes)

    @property
    def is_other_answer(self) -> bool:
        """Whether the model answers something else."""
        return self.answers is not None and self.answers[0] != self.answers[1]

    def picture(self) -> Picture:
        """Token by token, in every form."""
        title = "Two runs: log-probability of each token"
        note = f"the whole target: {sum(self.before):.2f} → {sum(self.after):.2f}"
        if self.answers:
            first, second = self.answers
            note += f"; answer: {first}" + (
                f" → {second}" if self.is_other_answer else ", unchanged"
            )
        table = [["token", "before", "after", "change"]]
        rows = zip(name_pieces(self.tokens), self.before, self.after, self.changes, strict=True)
        table += [[token, f"{b:.3f}", f"{a:.3f}", f"{c:+.3f}"] for token, b, a, c in rows]
        return Picture(
            title,
            table_svg(table, title=title, note=note),
            f"{title}\n{note}\n\n{columns(table, right=(1, 2, 3))}",
            {
                "tokens": self.tokens, "before": self.before, "after": self.after,
                "changes": self.changes, "answers": self.answers,
            },
        )  # fmt: skip

    def __str__(self) -> str:
        return self.picture().text

    def _repr_html_(self) -> str:
        return self.picture().svg


@torch.no_grad()
def compare(pair: Forced, edits: Mapping[str, Edit | Sequence[Edit]]) -> Comparison:
    """Write the target once as it is, and once with the edits."""
    before = pair.log_probs().tolist()
    with edit(pair.model, edits, decode=pair.decode):
        after = pair.log_probs().tolist()
    return Comparison(pair.target_tokens, before, after)
