"""The plan: what is going to be trained, for how long, and why, before anything is started."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from clearhead.config import Config, TransformerConfig
from clearhead.errors import ConfigError, nearest
from clearhead.tasks.steps import Speed, divide_steps, fit_steps, usual_epochs, validate_every
from clearhead.text import Kind, choose_size
from clearhead.training import TrainingConfig
from clearhead.training.optimizer import OptimizerKind

__all__ = [
    "RECIPES",
    "Facts",
    "Forecast",
    "Plan",
    "Recipe",
    "make_plan",
    "plan_for",
    "smaller_size",
    "usual_size",
]

USUAL_SECONDS = 80 * 60
"""How long a run may take when nobody says otherwise."""
N_FEW_EPOCHS = 3
"""A model that sees its data less often than this is too large for the time."""

N_FEW_PAIRS = 60_000
"""So few pairs are learned by heart, and other words for the same help; see `tasks.diversify`."""
# By number of pairs: the largest size that such data can fill, and its dropout.
_SIZES = [
    (N_FEW_PAIRS, "tiny", 0.3),
    (200_000, "tiny", 0.1),
    (1_000_000, "small", 0.1),
    (float("inf"), "base", 0.1),
]
N_VALIDATED_OF_FEW = 1000
"""Small models answer quickly, and the best of many scores of few sentences is a lucky one."""
_MOST_DECAY = 0.5
N_EPOCHS_TO_RISE = 15
"""Few pairs are learned by heart when they have been seen so often, and hardly before."""
_SMALLER = {"base": "small", "fast": "small", "big": "base", "small": "tiny"}


@dataclass(frozen=True)
class Recipe:
    """How models of a size learn best."""

    lr: float
    optimizer: OptimizerKind = "adam"
    """Small models learn more from a step of Muon. By count of operations it costs a quarter more
    for tiny, and half more for base."""
    n_epochs_to_fade: int | None = None
    """After so many epochs, weight decay has let most of a step fade unless it was learned again;
    without a number there is none."""


RECIPES = {
    "tiny": Recipe(8e-3, "muon"),
    "small": Recipe(1e-3),
    "fast": Recipe(1e-3),
    "base": Recipe(7e-4),
    "big": Recipe(5e-4),
}


@dataclass(frozen=True, kw_only=True)
class Plan(Config):
    """Everything that was decided about a run; `--set KEY=VALUE` changes one of them."""

    tokenizer: Kind = "bpe"
    n_vocabulary: int
    n_batch_tokens: int
    smoothing: float = 0.1
    subword_dropout: float = 0.0
    """The share of merges that are left out at random, so that words are seen in several pieces."""
    n_copies: int = 1
    """How many times each pair is on disk, every time but the first in other pieces."""
    n_first_steps: int = 0
    """Steps of each first model; the last one learns from what they make of the pairs, too. 0 for
    no first models."""
    n_each_way: int = 1
    """First models from source to target, and as many back."""
    n_validated: int = 300
    """Validation pairs that are answered to follow the score; the loss uses all of them."""
    model: TransformerConfig
    training: TrainingConfig = field(default_factory=TrainingConfig)

    @property
    def n_first_models(self) -> int:
        """For both ways together."""
        return 2 * self.n_each_way if self.n_first_steps else 0

    @property
    def n_steps_before(self) -> int:
        """Of all first models together."""
        return self.n_first_models * self.n_first_steps

    @property
    def max_source(self) -> int | None:
        """The most tokens of a source that are read; without a number, all of them."""
        return None

    def __post_init__(self) -> None:
        """Refuse a plan that could not be carried out."""
        super().__post_init__()
        for name in ("n_vocabulary", "n_batch_tokens", "n_validated"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be at least 1")
        for name in ("smoothing", "subword_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be at least 0 and below 1")
        if self.subword_dropout > 0 and self.tokenizer != "bpe":
            raise ConfigError(f"subword_dropout is for bpe, not for tokenizer={self.tokenizer}")
        if self.n_copies < 1:
            raise ConfigError(f"n_copies={self.n_copies} must be at least 1")
        if (self.n_copies > 1) != (self.subword_dropout > 0):
            raise ConfigError(
                f"n_copies={self.n_copies} and subword_dropout={self.subword_dropout} belong "
                "together: copies differ only in their pieces"
            )
        if self.n_first_steps < 0:
            raise ConfigError(f"n_first_steps={self.n_first_steps} must be at least 0")
        if self.n_each_way < 1:
            raise ConfigError(
                f"n_each_way={self.n_each_way} must be at least 1: set n_first_steps=0 for no "
                "first models"
            )
        if self.n_first_steps and self.n_copies > 1:
            raise ConfigError(
                f"n_first_steps={self.n_first_steps} and n_copies={self.n_copies} do not go "
                "together: set n_first_steps=0 to learn from copies"
            )


P = TypeVar("P", bound=Plan)


@dataclass(frozen=True)
class Facts:
    """What is known of the data: counted for training only, the two languages together."""

    n_pairs: int
    n_characters: int
    n_tokens: int | None = None
    """The vocabulary that was really learned."""
    n_batches: int | None = None
    """Batches in an epoch."""


@dataclass(frozen=True)
class Forecast:
    """What the plan is expected to take, and why it is as it is."""

    n_parameters: int
    n_pairs: int
    n_batches: int
    n_epochs: float
    padding: float
    tokens_per_second: float
    seconds: float
    n_bytes: int
    reasons: tuple[str, ...]
    unit: str = "pairs"
    """What is counted as `n_pairs`: texts or pictures, say."""
    counted: str = "tokens"
    """What is counted as `tokens_per_second`."""
    guessed: str = "token"
    """What the loss is the mean over: one label for each text, say."""


def make_plan(
    facts: Facts,
    *,
    size: str | None = None,
    seconds: float | None = None,
    speed: Speed | None = None,
    settings: dict[str, Any] | None = None,
) -> tuple[Plan, tuple[str, ...]]:
    """Choose everything for pairs of sentences, and say why; `settings` override.

    Without `speed` and the counts of tokens and batches it is a first plan, good for learning a
    vocabulary and for trying some steps.
    """
    n_tokens = _batch_tokens(facts.n_characters)
    chosen = {
        "n_vocabulary": choose_size(facts.n_pairs, facts.n_characters),
        "n_batch_tokens": n_tokens,
    }
    why = {"n_batch_tokens": f"{n_tokens:,} tokens to a batch make some hundred steps an epoch"}
    is_few, settings = facts.n_pairs <= N_FEW_PAIRS, settings or {}
    if is_few:
        chosen["n_validated"] = N_VALIDATED_OF_FEW
    if is_few and "model.block.dropout" not in settings:
        why["training.dropout_rise"] = (
            f"dropout grows from nothing in {N_EPOCHS_TO_RISE} epochs: what has hardly been seen "
            "is not learned by heart yet"
        )
    return plan_for(Plan, facts, chosen, why, size, seconds, speed, settings, is_few=is_few)


def plan_for(
    kind: type[P],
    facts: Facts,
    chosen: Mapping[str, Any],
    why: Mapping[str, str],
    size: str | None,
    seconds: float | None,
    speed: Speed | None,
    settings: dict[str, Any],
    recipes: Mapping[str, Recipe] = RECIPES,
    is_few: bool = False,
) -> tuple[P, tuple[str, ...]]:
    """A plan of any kind: what is `chosen` about its data, and `why`; the rest is chosen here.

    Few pairs have first models. The time is theirs, too; if it is too short, there are none.
    """
    usual, dropout = _usual(facts.n_pairs)
    size = size or usual
    if size not in recipes:
        raise ConfigError(f"no preset {size!r}: {nearest(size, recipes)}")
    recipe = recipes[size]
    reasons = {
        "model": f"{facts.n_pairs:,} pairs can fill a model of size {usual}",
        "model.block.dropout": f"dropout {dropout} fits so many pairs",
        **why,
    }
    decay = _weight_decay(recipe, facts.n_batches)
    if 0 < decay < _MOST_DECAY:
        epochs = f"{recipe.n_epochs_to_fade} epochs what is not learned again"
        reasons["training.weight_decay"] = f"weight decay lets fade in some {epochs}"
    n_each_way, n_first, n_steps, told = _share_time(facts, seconds, speed, settings, is_few)
    reasons |= told
    n_batches = (facts.n_batches or 1) * (1 + 2 * n_each_way if n_first else 1)
    plan = kind(
        **chosen,
        n_first_steps=n_first,
        n_each_way=n_each_way,
        model=TransformerConfig.preset(
            size,
            facts.n_tokens or chosen["n_vocabulary"],
            # With the norm before each part, the first thousand steps bring much more.
            **{"block.dropout": dropout, "block.norm": "pre"},
        ),
        training=TrainingConfig(
            n_steps=n_steps,
            lr=recipe.lr,
            warm_up=max(1, min(2000, n_steps // 10)),
            optimizer=recipe.optimizer,
            weight_decay=decay,
            dropout_rise=N_EPOCHS_TO_RISE * n_batches if is_few else 0,
            validate_every=validate_every(n_steps, speed),
            precision=speed.precision if speed else "float32",
        ),
    )
    kept = (text for key, text in reasons.items() if not any(s.startswith(key) for s in settings))
    return plan.override(settings), tuple(kept)


def _share_time(
    facts: Facts,
    seconds: float | None,
    speed: Speed | None,
    settings: dict[str, Any],
    has_first_models: bool,
) -> tuple[int, int, int, dict[str, str]]:
    """First models for each way, steps of each, steps of the last one; and why."""
    n_epochs = usual_epochs(facts.n_pairs, has_first_models)
    n_steps = round((facts.n_batches or 1) * n_epochs)
    n_steps, told = fit_steps(n_steps, seconds, USUAL_SECONDS, speed, settings)
    n_each_way, n_first, n_steps = divide_steps(
        n_steps, facts.n_batches or 1, has_first_models, settings
    )
    if n_first:
        told["n_first_steps"] = (
            f"few pairs teach more in other words: {2 * n_each_way} first models translate them, "
            f"{n_each_way} each way"
        )
    if speed is not None and "time" not in told and "training.n_steps" not in settings:
        told["time"] = f"after {n_epochs:.0f} epochs such data has little more to give"
    return n_each_way, n_first, n_steps, told


def usual_size(n_pairs: int) -> str:
    """Return the size that so many pairs can fill.

    >>> [usual_size(n) for n in (500, 29_000, 300_000, 5_000_000)]
    ['tiny', 'tiny', 'small', 'base']
    """
    return _usual(n_pairs)[0]


def _usual(n_pairs: int) -> tuple[str, float]:
    return next((name, dropout) for limit, name, dropout in _SIZES if n_pairs <= limit)


def smaller_size(plan: Plan, size: str, facts: Facts) -> str | None:
    """Return the next smaller size if a model sees its data too rarely in the time."""
    if not facts.n_batches or plan.training.n_steps >= N_FEW_EPOCHS * facts.n_batches:
        return None
    return _SMALLER.get(size)


def _batch_tokens(n_characters: int) -> int:
    """About a hundred batches to an epoch, none smaller than 512 tokens or larger than 4,096.

    >>> [_batch_tokens(n) for n in (100_000, 1_000_000, 100_000_000)]
    [512, 1024, 4096]
    """
    n_target_tokens = n_characters / 2 / 4.5
    return int(min(4096, max(512, n_target_tokens / 100 // 256 * 256)))


def _weight_decay(recipe: Recipe, n_batches: int | None) -> float:
    """A step fades to 1/e within 1 / (lr · decay) steps; the more data, the longer that may take.

    Wang & Aitchison 2024 find that the best time is always about the same number of epochs.

    >>> fading = Recipe(8e-3, n_epochs_to_fade=3)
    >>> [_weight_decay(fading, n) for n in (None, 50, 535)], _weight_decay(Recipe(1e-3), 535)
    ([0.0, 0.5, 0.078], 0.0)
    """
    if n_batches is None or recipe.n_epochs_to_fade is None:
        return 0.0
    decay = 1 / (recipe.lr * recipe.n_epochs_to_fade * n_batches)
    return min(_MOST_DECAY, float(f"{decay:.2g}"))
