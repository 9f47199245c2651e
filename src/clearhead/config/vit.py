"""The size of a Vision Transformer: which pictures it reads, and with how much."""

from dataclasses import dataclass
from typing import Any, Final, Literal

from clearhead.config.base import Config
from clearhead.config.block import PatchKind, PoolingKind, check_heads
from clearhead.errors import ConfigError, nearest

__all__ = ["VIT_SIZES", "ViTConfig"]


@dataclass(frozen=True, kw_only=True)
class ViTConfig(Config):
    """Pictures, patches, width and depth. The defaults are the paper's ViT-B/16."""

    n_labels: int
    image_size: int = 224
    """Height and width of every picture, in pixels."""
    patch_size: int = 16
    """Height and width of a patch."""
    patches: PatchKind = "linear"
    """How a patch becomes a vector: its pixels by a matrix, or convolutions over the picture."""
    n_channels: int = 3
    """Numbers of a pixel: 3 for colours, 1 for grey."""
    n_layers: int = 12
    d_model: int = 768
    d_ff: int = 3072
    n_heads: int = 12
    norm_eps: float = 1e-12
    dropout: float = 0.0
    attention_dropout: float = 0.0
    head: Literal["classify", "none"] = "classify"
    """Logits of the labels, or vectors alone."""
    pooling: PoolingKind = "first"
    """What stands for a whole picture: the class token's vector, or the mean of the patches'."""

    def __post_init__(self) -> None:
        """Check what can be checked before anything is built."""
        super().__post_init__()
        sizes = ("n_labels", "image_size", "patch_size", "n_channels", "n_layers", "d_ff")
        for name in sizes:
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be at least 1")
        if self.image_size % self.patch_size:
            raise ConfigError(
                f"image_size={self.image_size} must be a multiple of patch_size={self.patch_size}"
            )
        check_heads(self.d_model, self.n_heads, self.n_heads)
        for name in ("dropout", "attention_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be at least 0 and below 1")
        if not self.norm_eps > 0:
            raise ConfigError(f"norm_eps={self.norm_eps} must be above 0")

    @property
    def n_patches(self) -> int:
        """How many patches a picture is cut into."""
        return (self.image_size // self.patch_size) ** 2

    @classmethod
    def preset(cls, name: str, n_labels: int, **changes: Any) -> "ViTConfig":
        """Return a size by name, for `n_labels` labels; `changes` as in `override`.

        >>> ViTConfig.preset("tiny", 10).n_patches
        49
        >>> ViTConfig.preset("tiny", 10, image_size=32, n_channels=3).n_patches
        64
        """
        if name not in VIT_SIZES:
            raise ConfigError(f"no preset {name!r}: {nearest(name, VIT_SIZES)}")
        return cls.from_dict({"n_labels": n_labels} | VIT_SIZES[name]).override(changes)


VIT_SIZES: Final[dict[str, dict[str, Any]]] = {
    # Grey pictures of 28 × 28; below a million parameters, and so with 32 × 32 in colour.
    "tiny": {
        "image_size": 28,
        "patch_size": 4,
        "n_channels": 1,
        "n_layers": 6,
        "d_model": 128,
        "d_ff": 256,
        "n_heads": 4,
    },
    "base": {},
}
"""Sizes by name; what a preset does not say is as in the paper's ViT-B/16."""
