"""The plan of a run on pictures: patches, size, what is done to pictures, length, and why."""

from dataclasses import dataclass, field
from typing import Any

from clearhead.config import Config, ViTConfig
from clearhead.data.picture_batches import Changes
from clearhead.errors import ConfigError, nearest
from clearhead.tasks.steps import Speed, fit_steps, validate_every
from clearhead.training import TrainingConfig

__all__ = ["SIZES", "ImagesPlan", "PictureFacts", "make_plan", "patch_size"]

USUAL_SECONDS = 26 * 60
"""How long a run may take when nobody says otherwise."""
MOST_PATCHES = 8
"""So many patches are in a row at most: their number squared is what is attended to."""
SAME_IN_A_MIRROR = 0.6
"""How much of what is known of pictures must still be known of mirrored ones."""

SIZES: dict[str, dict[str, Any]] = {
    "nano": {"n_layers": 2, "d_model": 64, "d_ff": 128, "n_heads": 4},
    "tiny": {"n_layers": 3, "d_model": 96, "d_ff": 192, "n_heads": 4},
    "small": {"n_layers": 4, "d_model": 128, "d_ff": 256, "n_heads": 4},
    "base": {"n_layers": 8, "d_model": 256, "d_ff": 768, "n_heads": 8},
}
_RATES = {"nano": 1e-2, "tiny": 1e-2, "small": 7e-3, "base": 3e-3}


@dataclass(frozen=True, kw_only=True)
class ImagesPlan(Config):
    """Everything that was decided about a run; `--set KEY=VALUE` changes one of them."""

    n_batch_pictures: int
    smoothing: float = 0.1
    changes: Changes = field(default_factory=Changes)
    model: ViTConfig
    training: TrainingConfig = field(default_factory=TrainingConfig)

    def __post_init__(self) -> None:
        """Refuse a plan that could not be carried out."""
        super().__post_init__()
        if self.n_batch_pictures < 1:
            raise ConfigError(f"n_batch_pictures={self.n_batch_pictures} must be at least 1")
        if not 0 <= self.smoothing < 1:
            raise ConfigError(f"smoothing={self.smoothing} must be at least 0 and below 1")
        if self.model.head != "classify":
            raise ConfigError("model.head must be classify: the model has to choose a label")


@dataclass(frozen=True)
class PictureFacts:
    """What is known of the pictures to train on."""

    n_pictures: int
    size: int
    n_channels: int
    n_labels: int
    known: tuple[float, float] = (1.0, 0.0)
    """How well the nearest mean knows pictures, and mirrored ones."""

    @property
    def is_same_in_a_mirror(self) -> bool:
        """Whether a picture turned left to right shows the same, as far as pixels tell."""
        plain, turned = (share - 1 / self.n_labels for share in self.known)
        return turned >= SAME_IN_A_MIRROR * plain


def patch_size(size: int) -> int:
    """The side of a patch: the smallest that gives at most 8 × 8 of them.

    >>> [patch_size(size) for size in (8, 12, 28, 32, 40, 64)]
    [2, 2, 4, 4, 5, 8]
    """
    sides = (side for side in range(2, size) if size % side == 0 and size // side <= MOST_PATCHES)
    return next(sides, size)


def make_plan(
    facts: PictureFacts,
    *,
    size: str | None = None,
    seconds: float | None = None,
    speed: Speed | None = None,
    settings: dict[str, Any] | None = None,
) -> tuple[ImagesPlan, tuple[str, ...]]:
    """Choose everything from what is known so far, and say why; `settings` override."""
    settings = settings or {}
    size = size or "tiny"
    if size not in SIZES:
        raise ConfigError(f"no size {size!r}: {nearest(size, SIZES)}")
    n_rows = max(8, min(128, facts.n_pictures // 20))
    # Few pictures are seen often: their number times the epochs is what a model learns from.
    n_epochs = min(200, max(10, 1_500_000 // facts.n_pictures))
    n_steps = n_epochs * max(1, -(-facts.n_pictures // n_rows))
    side = patch_size(facts.size)
    plain, turned = (f"{100 * share:.0f} %" for share in facts.known)
    is_same = facts.is_same_in_a_mirror
    reasons = {
        "model.patch_size": f"patches of {side} × {side} pixels cut {facts.size} × {facts.size} "
        f"into {(facts.size // side) ** 2}",
        "model.patches": "convolutions make vectors of them: a matrix would have to learn from "
        "many more pictures what edges are",
        "changes.mirrors": f"pictures are {'' if is_same else 'not '}mirrored: by their pixels "
        f"{plain} are known as they are, and {turned} turned left to right",
    }
    n_steps, why = fit_steps(n_steps, seconds, USUAL_SECONDS, speed, settings)
    reasons |= why
    plan = ImagesPlan(
        n_batch_pictures=n_rows,
        changes=Changes(shift=max(1, round(facts.size / 14)), mirrors=is_same),
        model=ViTConfig(
            n_labels=facts.n_labels,
            image_size=facts.size,
            patch_size=side,
            patches="convolutions",
            n_channels=facts.n_channels,
            pooling="mean",
            norm_eps=1e-5,
            **SIZES[size],
        ),
        training=TrainingConfig(
            n_steps=n_steps,
            lr=_RATES[size],
            warm_up=max(1, min(500, n_steps // 10)),
            optimizer="muon",
            weight_decay=0.05,
            validate_every=validate_every(n_steps, speed),
            precision=speed.precision if speed else "float32",
        ),
    )
    kept = (text for key, text in reasons.items() if not any(s.startswith(key) for s in settings))
    return plan.override(settings), tuple(kept)
