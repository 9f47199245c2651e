"""The plan of a run on texts with labels: tokens, size and length, and why.

A run begins with random weights, or with a model of others (`Given`), whose size and tokens it then
has; either way the scores of the labels are learned anew.
"""

from dataclasses import dataclass, field
from typing import Any

from clearhead.config import BertConfig, Config
from clearhead.errors import ConfigError, nearest
from clearhead.tasks.steps import Speed, fit_steps, validate_every
from clearhead.text import Kind
from clearhead.training import TrainingConfig

__all__ = ["SIZES", "ClassifyPlan", "LabelFacts", "make_plan"]

USUAL_SECONDS = 20 * 60
"""How long a run may take when nobody says otherwise."""
SIZES: dict[str, dict[str, Any]] = {
    "nano": {"n_layers": 1, "d_model": 128, "d_ff": 256, "n_heads": 4},
    "tiny": {"n_layers": 1, "d_model": 256, "d_ff": 512, "n_heads": 4},
    "small": {"n_layers": 2, "d_model": 256, "d_ff": 512, "n_heads": 4},
    "base": {"n_layers": 4, "d_model": 384, "d_ff": 1536, "n_heads": 6},
}
_RATES = {"nano": 2e-3, "tiny": 1e-3, "small": 5e-4, "base": 5e-4}
MOST_WORDS = 32_000
OF_GIVEN = ("model.dropout", "model.attention_dropout", "model.pooling")
"""Settings of a given model that can be changed."""
HEAD_RATE = 3e-3
FINE_RATE, MOST_FINE_RATE = 0.06, 5e-4
"""For width 1, and the most for any: the wider, the smaller the steps."""
LONGEST = 512
FEWEST_STEPS = 300
MANY_TEXTS = 30_000
TAUGHT = 0.5


@dataclass(frozen=True, kw_only=True)
class ClassifyPlan(Config):
    """Everything that was decided about a run; `--set KEY=VALUE` changes one of them."""

    tokenizer: Kind | None
    """None if the tokens are those of a given model."""
    n_vocabulary: int
    is_lower_cased: bool = False
    """Whether capitals are read as small letters before there are tokens."""
    is_spelled: bool = False
    """Whether words share what is learned of the parts that they are spelled with."""
    context: int
    """How many tokens of a text are read; the rest is cut off."""
    n_batch_tokens: int
    smoothing: float = 0.1
    word_dropout: float = 0.0
    """The share of tokens that are hidden at random, so that no label hangs on a single word."""
    taught: float = 0.0
    """The share of what is to be said of a text that counting words says; the rest is its label."""
    is_body_trained: bool = True
    """Whether the blocks of a given model are trained, or only the scores of the labels."""
    is_embedding_trained: bool = True
    """Whether the vectors of tokens and positions are trained, too. If those of a given model stay
    as they are, words that were not trained on still stand where they stood beside the others."""
    model: BertConfig
    training: TrainingConfig = field(default_factory=TrainingConfig)

    def __post_init__(self) -> None:
        """Refuse a plan that could not be carried out."""
        super().__post_init__()
        for name in ("n_vocabulary", "n_batch_tokens"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be at least 1")
        for name in ("smoothing", "word_dropout", "taught"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be at least 0 and below 1")
        if self.is_spelled and self.tokenizer != "word":
            raise ConfigError(
                f"is_spelled is for whole words, and tokenizer={self.tokenizer}: "
                "set is_spelled=false"
            )
        if not 3 <= self.context <= self.model.n_positions:
            raise ConfigError(
                f"context={self.context} must be from 3 to the {self.model.n_positions} positions "
                "of the model"
            )
        if self.model.head != "classify":
            raise ConfigError(f"model.head={self.model.head!r} gives no labels: classify does")


@dataclass(frozen=True)
class LabelFacts:
    """What is known of the texts to train on."""

    n_texts: int
    n_labels: int
    n_characters: int
    longest: int
    """Of a hundred texts, one has more characters."""
    given: BertConfig | None = None
    """The model to begin with, if there is one."""
    n_tokens: int | None = None
    """The vocabulary that was really learned."""
    n_batches: int | None = None
    """Batches in an epoch."""


def make_plan(
    facts: LabelFacts,
    *,
    size: str | None = None,
    seconds: float | None = None,
    speed: Speed | None = None,
    settings: dict[str, Any] | None = None,
) -> tuple[ClassifyPlan, tuple[str, ...]]:
    """Choose everything from what is known so far, and say why; `settings` override."""
    settings = settings or {}
    begin = _from_random if facts.given is None else _from_given
    plan, n_epochs, reasons = begin(facts, size, settings)
    n_steps = max(FEWEST_STEPS, (facts.n_batches or 1) * n_epochs)
    if "training.n_steps" not in settings:
        reasons["time"] = f"after {n_steps:,} steps such data has little more to give"
    n_steps, told = fit_steps(n_steps, seconds, USUAL_SECONDS, speed, settings)
    reasons |= told
    changes: dict[str, Any] = {
        "training.n_steps": n_steps,
        "training.warm_up": max(1, min(500, n_steps // 10)),
        "training.validate_every": validate_every(n_steps, speed),
        "training.precision": speed.precision if speed else "float32",
    }
    if facts.given is None and "context" in settings:
        changes["model.n_positions"] = settings["context"]
    plan = plan.override({**changes, **settings})
    kept = (text for key, text in reasons.items() if not any(s.startswith(key) for s in settings))
    return plan, tuple(kept)


def _from_random(
    facts: LabelFacts, size: str | None, settings: dict[str, Any]
) -> tuple[ClassifyPlan, int, dict[str, str]]:
    """A small model for what the texts can teach, in how many epochs, and why."""
    for key in ("is_body_trained", "is_embedding_trained"):
        if key in settings:
            raise ConfigError(
                f"{key} is for a model that is given with --from: random weights are trained"
            )
    is_much = facts.n_texts >= MANY_TEXTS
    usual = "small" if is_much else "tiny"
    size = size or usual
    if size not in SIZES:
        raise ConfigError(f"no size {size!r}: {nearest(size, SIZES)}")
    context = _context(facts)
    # Where much is read, and several times, single words and single numbers are learned by heart.
    dropout, hidden = (0.5, 0.2) if is_much else (0.3, 0.0)
    taught = TAUGHT if is_much else 0.0  # from few texts, counting learns too little to teach
    n_epochs = max(2, min(8, 200_000 // facts.n_texts))
    plan = ClassifyPlan(
        tokenizer="word",
        n_vocabulary=MOST_WORDS,
        is_lower_cased=True,
        is_spelled=settings.get("tokenizer", "word") == "word",
        context=context,
        n_batch_tokens=1024,
        word_dropout=hidden,
        taught=taught,
        model=BertConfig(
            n_tokens=facts.n_tokens or MOST_WORDS,
            n_positions=context,
            n_segments=1,
            norm_eps=1e-5,
            dropout=dropout,
            head="classify",
            pooling="mean",
            n_labels=facts.n_labels,
            **SIZES[size],
        ),
        training=TrainingConfig(lr=_RATES[size], average=0.99),
    )
    reasons = {
        "model": f"{facts.n_texts:,} texts can fill a model of size {usual}",
        "tokenizer": "whole words are tokens: a label hangs on words more than on their pieces",
        "model.dropout": f"dropout {dropout} fits so many texts",
        "context": f"nearly all texts have at most {context} tokens",
    }
    if taught:
        reasons["taught"] = "counting words tells how much each word and each pair says of a label"
    return plan, n_epochs, reasons


def _from_given(
    facts: LabelFacts, size: str | None, settings: dict[str, Any]
) -> tuple[ClassifyPlan, int, dict[str, str]]:
    """The size and the tokens are given; the rates are small, for much is known already."""
    assert facts.given is not None
    if size is not None:
        raise ConfigError(f"--size {size}: the model that is given with --from has a size already")
    refused = [
        key
        for key in settings
        if key in ("tokenizer", "n_vocabulary") or (key.startswith("model") and key not in OF_GIVEN)
    ]
    if refused:
        raise ConfigError(
            f"{refused[0]} is that of the model given with --from, and cannot be set; "
            f"{', '.join(OF_GIVEN)} can"
        )
    given = facts.given.override(
        {"head": "classify", "pooling": "mean", "n_labels": facts.n_labels}
    )
    context = min(_context(facts), given.n_positions)
    plan = ClassifyPlan(
        tokenizer=None,
        n_vocabulary=given.n_tokens,
        context=context,
        n_batch_tokens=1024,
        smoothing=0.0,
        is_embedding_trained=False,
        model=given,
        training=TrainingConfig(lr=min(MOST_FINE_RATE, FINE_RATE / given.d_model), average=0.99),
    )
    wished = {key: value for key, value in settings.items() if key == "is_body_trained"}
    is_trained = plan.override(wished).is_body_trained
    if not is_trained:
        plan = plan.override({"training.lr": HEAD_RATE})
    n_epochs = max(2, min(8, 30_000 // facts.n_texts))
    reasons = {
        "training.lr": (
            "a given model is changed with small steps"
            if is_trained
            else "only the scores of the labels are learned, which takes larger steps"
        ),
        "model.pooling": "the mean of all vectors stands for a text, as in models of sentences",
        "context": f"nearly all texts have at most {context} tokens",
    }
    return plan, n_epochs, reasons


def _context(facts: LabelFacts) -> int:
    """A power of two that holds nearly all texts, at some three characters a token."""
    n = 32
    while n < min(LONGEST, facts.longest / 3):
        n *= 2
    return n
