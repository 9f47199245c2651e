"""The plan of a run on plain texts: tokens, context, size and length, and why."""

from dataclasses import dataclass, field
from typing import Any

from clearhead.config import Config, LlamaConfig, MixtralConfig
from clearhead.errors import ConfigError, nearest
from clearhead.tasks.steps import Speed, fit_steps, validate_every
from clearhead.text import Kind
from clearhead.training import TrainingConfig

__all__ = ["SIZES", "GeneratePlan", "TextFacts", "make_plan"]

USUAL_SECONDS = 15 * 60
"""How long a run may take when nobody says otherwise."""
MANY_CHARACTERS = 5_000_000
"""Fewer are best learned character by character: words come too rarely."""

SIZES: dict[str, dict[str, Any]] = {
    "nano": {"n_layers": 4, "d_model": 128, "d_ff": 344, "n_heads": 4},
    "tiny": {"n_layers": 4, "d_model": 192, "d_ff": 512, "n_heads": 6},
    "small": {"n_layers": 6, "d_model": 384, "d_ff": 1024, "n_heads": 6},
    "base": {"n_layers": 12, "d_model": 768, "d_ff": 2048, "n_heads": 12},
}
_RATES = {"nano": 4e-3, "tiny": 3e-3, "small": 1.5e-3, "base": 6e-4}


@dataclass(frozen=True, kw_only=True)
class GeneratePlan(Config):
    """Everything that was decided about a run; `--set KEY=VALUE` changes one of them."""

    tokenizer: Kind
    n_vocabulary: int
    context: int
    """How many tokens the model sees at once in training."""
    n_batch_tokens: int
    n_experts: int = 1
    """Above 1, each block has so many feed-forward networks, of which a token visits some."""
    n_chosen: int = 2
    """How many experts a token visits; each has that part of `model.d_ff`."""
    balance: float = 0.01
    """How much an even use of the experts counts (Fedus et al. 2022, §2.2)."""
    model: LlamaConfig
    training: TrainingConfig = field(default_factory=TrainingConfig)

    def __post_init__(self) -> None:
        """Refuse a plan that could not be carried out."""
        super().__post_init__()
        for name in ("n_vocabulary", "context", "n_batch_tokens"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be at least 1")
        if self.balance < 0:
            raise ConfigError(f"balance={self.balance} must be at least 0")
        if self.n_experts < 1:
            raise ConfigError(f"n_experts={self.n_experts} must be at least 1")
        assert self.decoder  # making it refuses experts that do not fit

    @property
    def decoder(self) -> LlamaConfig:
        """What is built: the model, or the same with experts, where a token costs as much."""
        if self.n_experts == 1:
            return self.model
        parts = {"n_experts": self.n_experts, "n_chosen": self.n_chosen}
        width = max(1, self.model.d_ff // max(1, self.n_chosen))
        return MixtralConfig.from_dict({**self.model.to_dict(), "d_ff": width, **parts})

    @property
    def n_rows(self) -> int:
        """Windows in a batch."""
        return max(1, self.n_batch_tokens // self.context)


@dataclass(frozen=True)
class TextFacts:
    """What is known of the texts to train on."""

    n_characters: int
    n_tokens: int | None = None
    """The vocabulary that was really learned."""
    n_batches: int | None = None
    """Batches in an epoch."""


def make_plan(
    facts: TextFacts,
    *,
    size: str | None = None,
    seconds: float | None = None,
    speed: Speed | None = None,
    settings: dict[str, Any] | None = None,
) -> tuple[GeneratePlan, tuple[str, ...]]:
    """Choose everything from what is known so far, and say why; `settings` override."""
    settings = settings or {}
    is_small = facts.n_characters < MANY_CHARACTERS
    usual = "tiny" if facts.n_characters < 20_000_000 else "small"
    size = size or usual
    if size not in SIZES:
        raise ConfigError(f"no size {size!r}: {nearest(size, SIZES)}")
    kind: Kind = "char" if is_small else "bpe"
    # Small texts are seen many times; dropout keeps them from being learned by heart.
    dropout = 0.1 if facts.n_characters < 2_000_000 else 0.0
    n_steps = (facts.n_batches or 1) * (30 if is_small else 5)
    reasons = {
        "model": f"{facts.n_characters:,} characters can fill a model of size {usual}",
        "tokenizer": (
            "each character is a token, because words come too rarely in so little text"
            if is_small
            else "pieces of words are tokens: there is enough text to learn them from"
        ),
        "model.dropout": f"dropout {dropout} fits so much text",
    }
    n_steps, told = fit_steps(n_steps, seconds, USUAL_SECONDS, speed, settings)
    reasons |= told
    n_vocabulary = 512 if is_small else 8192
    plan = GeneratePlan(
        tokenizer=kind,
        n_vocabulary=n_vocabulary,
        context=128 if is_small else 256,
        n_batch_tokens=2048,
        model=LlamaConfig(n_tokens=facts.n_tokens or n_vocabulary, dropout=dropout, **SIZES[size]),
        training=TrainingConfig(
            n_steps=n_steps,
            lr=_RATES[size],
            warm_up=max(1, min(500, n_steps // 10)),
            validate_every=validate_every(n_steps, speed),
            precision=speed.precision if speed else "float32",
        ),
    )
    kept = (text for key, text in reasons.items() if not any(s.startswith(key) for s in settings))
    return plan.override(settings), tuple(kept)
