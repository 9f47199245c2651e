"""The plan of a summariser: that of a translator, for texts that are longer than sentences."""

from dataclasses import dataclass
from typing import Any, Final

from clearhead.errors import ConfigError
from clearhead.tasks.plan import RECIPES, Facts, Plan, Recipe, plan_for
from clearhead.tasks.steps import Speed
from clearhead.text import choose_size

__all__ = ["MAX_SOURCE", "SummaryPlan", "make_summary_plan"]

MAX_SOURCE: Final = 512
N_BATCH_TOKENS = 4096
N_VALIDATED = 100
N_SENTENCE_PAIR = 130
"""Characters of a usual pair of sentences: the vocabulary is chosen as for so many of them."""
_RECIPES = {**RECIPES, "tiny": Recipe(8e-3, "muon", n_epochs_to_fade=3)}


@dataclass(frozen=True, kw_only=True)
class SummaryPlan(Plan):
    """Everything that was decided about a run; `--set KEY=VALUE` changes one of them."""

    max_source: int = MAX_SOURCE
    """The most tokens of a text that are read."""

    def __post_init__(self) -> None:
        """Refuse a plan that could not be carried out."""
        super().__post_init__()
        if self.max_source < 1:
            raise ConfigError(f"max_source={self.max_source} must be at least 1")
        if self.n_first_steps:
            raise ConfigError(
                f"n_first_steps={self.n_first_steps} is for translations: nothing leads back from "
                "a summary to its text"
            )
        if self.model.positions == "learned" and self.max_source >= self.model.max_length:
            raise ConfigError(
                f"max_source={self.max_source} and the end of the text need more positions than "
                f"model.max_length={self.model.max_length}: raise it, or read less"
            )


def make_summary_plan(
    facts: Facts,
    *,
    size: str | None = None,
    seconds: float | None = None,
    speed: Speed | None = None,
    settings: dict[str, Any] | None = None,
) -> tuple[SummaryPlan, tuple[str, ...]]:
    """Choose everything for texts and their summaries, and say why; `settings` override."""
    n_characters = facts.n_characters
    chosen = {
        "n_vocabulary": choose_size(n_characters // N_SENTENCE_PAIR, n_characters),
        "n_batch_tokens": N_BATCH_TOKENS,
        "max_source": MAX_SOURCE,
        "n_validated": N_VALIDATED,
    }
    why = {
        "n_batch_tokens": f"{N_BATCH_TOKENS:,} tokens to a batch are some texts of usual length",
        "max_source": f"of a text the first {MAX_SOURCE} tokens are read: the time for one grows "
        "with the square of its length",
    }
    return plan_for(SummaryPlan, facts, chosen, why, size, seconds, speed, settings or {}, _RECIPES)
