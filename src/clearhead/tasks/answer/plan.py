"""The plan of a run on questions: tokens, windows, size and length, and why."""

from dataclasses import dataclass, field
from typing import Any

from clearhead.config import BertConfig, Config
from clearhead.errors import ConfigError, nearest
from clearhead.tasks.answer.reading import ReadingConfig
from clearhead.tasks.steps import Speed, fit_steps, validate_every
from clearhead.text import Kind, choose_size
from clearhead.training import TrainingConfig

__all__ = ["SIZES", "AnswerPlan", "QuestionFacts", "make_plan"]

USUAL_SECONDS = 18 * 60
"""How long a run may take when nobody says otherwise."""
FEW = 50_000
"""Questions below which a model with random weights learns little of a language."""

SIZES: dict[str, dict[str, Any]] = {
    "nano": {"n_layers": 2, "d_model": 64, "d_ff": 256, "n_heads": 2},
    "tiny": {"n_layers": 2, "d_model": 128, "d_ff": 512, "n_heads": 4},
    "small": {"n_layers": 4, "d_model": 256, "d_ff": 1024, "n_heads": 4},
    "base": {"n_layers": 12, "d_model": 768, "d_ff": 3072, "n_heads": 12},
}
_RATES = {"nano": 3e-3, "tiny": 2e-3, "small": 7e-4, "base": 1e-4}
RATE_OF_TRAINED = 1e-4
"""For an encoder that knows its language already."""
RATE_OF_HEAD = 3e-3


@dataclass(frozen=True, kw_only=True)
class AnswerPlan(Config):
    """Everything that was decided about a run; `--set KEY=VALUE` changes one of them."""

    tokenizer: Kind | None
    """Nothing if the tokens are those of an encoder that was there already."""
    n_vocabulary: int
    n_batch_tokens: int
    is_body_trained: bool = True
    """Whether the whole encoder learns, or only what finds the two ends."""
    reading: ReadingConfig
    model: BertConfig
    training: TrainingConfig = field(default_factory=TrainingConfig)

    def __post_init__(self) -> None:
        """Refuse a plan that could not be carried out."""
        super().__post_init__()
        for name in ("n_vocabulary", "n_batch_tokens"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be at least 1")
        if self.model.head != "span":
            raise ConfigError(f"model.head={self.model.head!r} must be span: answers are spans")
        for name, needed in (
            ("n_positions", self.reading.n_window),
            ("n_segments", self.reading.n_segments),
        ):
            if getattr(self.model, name) < needed:
                raise ConfigError(
                    f"model.{name}={getattr(self.model, name)} is too small: the windows need "
                    f"{needed}; see reading.n_window and reading.n_hints"
                )


@dataclass(frozen=True)
class QuestionFacts:
    """What is known of the questions to train on."""

    n_questions: int
    n_characters: int
    has_refusals: bool = False
    n_tokens: int | None = None
    """The vocabulary that was really learned."""
    n_batches: int | None = None
    """Batches in an epoch."""


def make_plan(
    facts: QuestionFacts,
    *,
    size: str | None = None,
    seconds: float | None = None,
    speed: Speed | None = None,
    settings: dict[str, Any] | None = None,
    body: BertConfig | None = None,
) -> tuple[AnswerPlan, tuple[str, ...]]:
    """Choose everything from what is known so far, and say why; `settings` override.

    `body` is the configuration of an encoder to begin with, its head changed to spans.
    """
    settings = settings or {}
    usual = "nano" if facts.n_questions < 20_000 else "tiny" if facts.n_questions < FEW else "small"
    size = size or usual
    if size not in SIZES:
        raise ConfigError(f"no size {size!r}: {nearest(size, SIZES)}")
    reading, model, reasons = (
        _begin(facts, size, settings) if body is None else _go_on(facts, body, settings)
    )
    n_epochs = 12 if body is None else 3
    n_steps = (facts.n_batches or 1) * n_epochs
    n_steps, told = fit_steps(n_steps, seconds, USUAL_SECONDS, speed, settings)
    reasons |= told
    is_frozen = str(settings.get("is_body_trained", "true")).lower() == "false"
    rate = RATE_OF_HEAD if is_frozen else RATE_OF_TRAINED
    plan = AnswerPlan(
        tokenizer="bpe" if body is None else None,
        n_vocabulary=model.n_tokens,
        n_batch_tokens=2048,
        reading=reading,
        model=model,
        training=TrainingConfig(
            n_steps=n_steps,
            lr=_RATES[size] if body is None else rate,
            warm_up=max(1, min(500, n_steps // 10)),
            validate_every=validate_every(n_steps, speed),
            precision=speed.precision if speed else "float32",
        ),
    )
    kept = (text for key, text in reasons.items() if not any(s.startswith(key) for s in settings))
    return plan.override(settings), tuple(kept)


Chosen = tuple[ReadingConfig, BertConfig, dict[str, str]]


def _begin(facts: QuestionFacts, size: str, settings: dict[str, Any]) -> Chosen:
    """A model with random weights, and hints that make up for some of what it cannot know."""
    reading = _reading(settings, n_hints=4, has_refusals=facts.has_refusals)
    n_vocabulary = choose_size(facts.n_questions, facts.n_characters)
    model = BertConfig(
        n_tokens=facts.n_tokens or n_vocabulary,
        n_positions=reading.n_window,
        n_segments=reading.n_segments,
        head="span",
        **SIZES[size],
    )
    few = f"{facts.n_questions:,} questions teach a model with random weights little of a language"
    reasons = {
        "few": f"{few}: expect no more than word overlap reaches, or give an encoder (--from)",
        "reading.n_hints": "segments tell the model which words the question and the context share",
    }
    if facts.n_questions >= FEW:
        reasons["few"] = f"{facts.n_questions:,} questions can fill a model of size {size}"
    return reading, model, reasons


def _go_on(facts: QuestionFacts, body: BertConfig, settings: dict[str, Any]) -> Chosen:
    """An encoder that is there: its sizes decide."""
    n_window = min(384, body.n_positions)
    reading = _reading(
        settings,
        n_window=n_window,
        n_overlap=n_window // 3,
        n_question=n_window // 6,
        has_refusals=facts.has_refusals,
    )
    reasons = {
        "reading.n_window": f"the encoder has learned {body.n_positions} positions",
        "training.lr": "a trained encoder is changed with care: the learning rate is low",
    }
    return reading, body, reasons


def _reading(settings: dict[str, Any], **chosen: Any) -> ReadingConfig:
    """How texts are read; the model is made to fit what the settings ask for."""
    asked = {
        key.removeprefix("reading."): value
        for key, value in settings.items()
        if key.startswith("reading.")
    }
    return ReadingConfig(**chosen).override(asked)
