"""The plan of a run that learns to fill gaps: vocabulary, context, size and length, and why."""

from dataclasses import dataclass, field
from typing import Any, Literal

from clearhead.config import BertConfig, Config
from clearhead.config.bert import BERT_SIZES
from clearhead.errors import ConfigError, nearest
from clearhead.tasks.steps import Speed, fit_steps, validate_every
from clearhead.training import TrainingConfig

__all__ = ["SIZES", "FillFacts", "FillPlan", "make_plan", "smaller_size", "usual_size"]

USUAL_SECONDS = 18 * 60
"""How long a run may take when nobody says otherwise."""
FEW_CHARACTERS = 500_000
"""So few are soon known by heart."""
CONTEXT = 128
N_AROUND = 2
"""Tokens before and after each window."""
N_EPOCHS = 60
"""Gaps are others each time, so that texts can be read often."""
N_FEW_EPOCHS = 15
"""A model that reads its texts less often than this is too large for the time."""

SIZES: dict[str, dict[str, Any]] = {
    "tiny": BERT_SIZES["tiny"],
    "mini": BERT_SIZES["mini"],
    "small": {"n_layers": 4, "d_model": 512, "d_ff": 2048, "n_heads": 8},
    "base": BERT_SIZES["base"],
}
"""Four of Turc et al. 2019 and Devlin et al. 2019."""


@dataclass(frozen=True, kw_only=True)
class FillPlan(Config):
    """Everything that was decided about a run; `--set KEY=VALUE` changes one of them."""

    tokenizer: Literal["bpe", "unigram", "word", "char", "foreign"]
    n_vocabulary: int
    context: int
    """How many tokens the model sees at once, with those around the text."""
    n_batch_tokens: int
    hidden: float = 0.15
    """The share of tokens that are hidden."""
    has_whole_words: bool = False
    """Whether words are hidden with all their pieces."""
    model: BertConfig
    training: TrainingConfig = field(default_factory=TrainingConfig)

    def __post_init__(self) -> None:
        """Refuse a plan that could not be carried out."""
        super().__post_init__()
        for name in ("n_vocabulary", "n_batch_tokens"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be at least 1")
        if not N_AROUND < self.context <= self.model.n_positions:
            raise ConfigError(
                f"context={self.context} must be above {N_AROUND}, for a token stands before and "
                f"after each text, and at most model.n_positions={self.model.n_positions}"
            )
        if not 0 < self.hidden < 1:
            raise ConfigError(f"hidden={self.hidden} must be above 0 and below 1")
        if self.model.head != "fill":
            raise ConfigError(f"model.head={self.model.head!r} fills no gaps: leave it at fill")

    @property
    def n_text(self) -> int:
        """Tokens of a window."""
        return self.context - N_AROUND

    @property
    def n_rows(self) -> int:
        """Windows in a batch."""
        return max(1, self.n_batch_tokens // self.context)


@dataclass(frozen=True)
class FillFacts:
    """What is known of the texts to train on."""

    n_characters: int
    n_tokens: int | None = None
    """The vocabulary that was really learned."""
    n_batches: int | None = None
    """Batches in an epoch."""
    start: BertConfig | None = None
    """The model to begin with, if there is one."""
    is_foreign: bool = False
    """Whether its vocabulary was made by others."""


def make_plan(
    facts: FillFacts,
    *,
    size: str | None = None,
    seconds: float | None = None,
    speed: Speed | None = None,
    settings: dict[str, Any] | None = None,
) -> tuple[FillPlan, tuple[str, ...]]:
    """Choose everything from what is known so far, and say why; `settings` override."""
    settings = settings or {}
    usual = usual_size(facts.n_characters)
    size = size or usual
    if size not in SIZES:
        raise ConfigError(f"no size {size!r}: {nearest(size, SIZES)}")
    n_vocabulary = _vocabulary(facts.n_characters)
    if facts.start is None:
        # Gaps are others each time: only short texts are learned by heart, and dropout slows down.
        dropout = 0.1 if facts.n_characters < FEW_CHARACTERS else 0.0
        both: dict[str, Any] = {"dropout": dropout, "attention_dropout": dropout}
        model = BertConfig(n_tokens=facts.n_tokens or n_vocabulary, **SIZES[size], **both)
        changes = {"model.n_positions": settings.get("context", CONTEXT)}
        reasons = {
            "model": f"{facts.n_characters:,} characters can fill a model of size {usual}"
            + (f"; it is {size}, as asked or for the time" if size != usual else ""),
            "model.dropout": f"dropout {dropout} fits so much text",
            "n_vocabulary": "pieces of words are tokens; a rare one is never learned",
        }
    else:
        model, changes = facts.start, {}
        n_vocabulary = model.n_tokens
        reasons = {"model": "size and vocabulary are those of the model it begins with"}
    n_steps, told = fit_steps(
        N_EPOCHS * (facts.n_batches or 1), seconds, USUAL_SECONDS, speed, settings
    )
    plan = FillPlan(
        tokenizer="foreign" if facts.is_foreign else "bpe",
        n_vocabulary=n_vocabulary,
        context=min(CONTEXT, model.n_positions),
        n_batch_tokens=2048,
        model=model,
        training=TrainingConfig(
            n_steps=n_steps,
            lr=_rate(model.d_model) / (1 if facts.start is None else 5),
            warm_up=max(1, min(1000, n_steps // 10)),
            validate_every=validate_every(n_steps, speed),
            precision=speed.precision if speed else "float32",
        ),
    )
    reasons |= told
    kept = (text for key, text in reasons.items() if not any(s.startswith(key) for s in settings))
    return plan.override(changes | settings), tuple(kept)


def usual_size(n_characters: int) -> str:
    """Return the size that so many characters can fill.

    >>> [usual_size(n) for n in (100_000, 1_100_000, 100_000_000)]
    ['tiny', 'mini', 'small']
    """
    return "tiny" if n_characters < 200_000 else "mini" if n_characters < 50_000_000 else "small"


def smaller_size(plan: FillPlan, size: str, facts: FillFacts) -> str | None:
    """Return the next smaller size if a model sees its texts too rarely in the time."""
    if not facts.n_batches or plan.training.n_steps >= N_FEW_EPOCHS * facts.n_batches:
        return None
    return {"base": "small", "small": "mini", "mini": "tiny"}.get(size)


def _vocabulary(n_characters: int) -> int:
    """One token for 128 characters, at least 512 and at most 8,192.

    >>> [_vocabulary(n) for n in (20_000, 500_000, 1_100_000)]
    [512, 3904, 8192]
    """
    return min(8192, max(512, n_characters // 128 // 64 * 64))


def _rate(d_model: int) -> float:
    """The highest learning rate: the wider the model, the smaller.

    >>> _rate(128), _rate(256)
    (0.002, 0.001)
    """
    return 0.256 / d_model
