"""The Vision Transformer of Hugging Face: its patches are embedded by a convolution."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from clearhead.config import ViTConfig
from clearhead.convert.families.bert import both, count_labels, name_labels, read_labels
from clearhead.convert.family import Entry, Family
from clearhead.errors import ConfigError
from clearhead.models import ViT

__all__ = ["ViTFamily"]

ARCHITECTURES: Final[dict[str, Literal["classify", "none"]]] = {
    "ViTModel": "none",
    "ViTForImageClassification": "classify",
}


class ViTFamily(Family[ViTConfig]):
    """`ViTModel`, without its pooler, and `ViTForImageClassification`."""

    model_type = "vit"
    architecture = "ViTForImageClassification"
    ignored = ("*pooler.dense.*", "*embeddings.mask_token")

    def read_config(self, theirs: Mapping[str, Any]) -> ViTConfig:
        """Refuses other activations, pictures that are not square and unknown heads."""
        act = theirs.get("hidden_act", "gelu")
        if act != "gelu":
            raise ConfigError(f"hidden_act={act!r} is not known here: gelu is")
        if not theirs.get("qkv_bias", True):
            raise ConfigError("qkv_bias=False is not known here: attention with biases is")
        architecture, *_ = theirs.get("architectures") or ["ViTModel"]
        if architecture not in ARCHITECTURES:
            known = ", ".join(ARCHITECTURES)
            raise ConfigError(f"architecture {architecture!r} is not known here: {known} are")
        return ViTConfig(
            n_labels=count_labels(theirs),
            image_size=_side(theirs, "image_size"),
            patch_size=_side(theirs, "patch_size"),
            n_channels=theirs.get("num_channels", 3),
            n_layers=theirs["num_hidden_layers"],
            d_model=theirs["hidden_size"],
            d_ff=theirs["intermediate_size"],
            n_heads=theirs["num_attention_heads"],
            norm_eps=theirs.get("layer_norm_eps", 1e-12),
            dropout=theirs.get("hidden_dropout_prob", 0.0),
            attention_dropout=theirs.get("attention_probs_dropout_prob", 0.0),
            head=ARCHITECTURES[architecture],
        )

    def write_config(self, config: ViTConfig) -> dict[str, Any]:
        """All that their classes need; they have no classifier of the mean, and no convolutions."""
        if config.patches != "linear":
            raise ConfigError(
                f"patches={config.patches!r} have no class in transformers: linear have"
            )
        if config.head == "classify" and config.pooling == "mean":
            raise ConfigError(
                "pooling='mean' under a classifier has no class in transformers: first has"
            )
        return {
            "image_size": config.image_size,
            "patch_size": config.patch_size,
            "num_channels": config.n_channels,
            "num_hidden_layers": config.n_layers,
            "hidden_size": config.d_model,
            "intermediate_size": config.d_ff,
            "num_attention_heads": config.n_heads,
            "layer_norm_eps": config.norm_eps,
            "hidden_dropout_prob": config.dropout,
            "attention_probs_dropout_prob": config.attention_dropout,
            "hidden_act": "gelu",
            "qkv_bias": True,
            **name_labels(read_labels({}, config.n_labels)),
        }

    def architecture_of(self, config: ViTConfig) -> str:
        """The class that has this head."""
        (found,) = (name for name, head in ARCHITECTURES.items() if head == config.head)
        return found

    def rename(self, name: str, config: ViTConfig) -> str:
        """With `vit.` in front where a classifier stands beside."""
        name = name.removeprefix("vit.")
        return name if name.startswith("classifier.") else f"{_prefix(config)}{name}"

    def entries(self, config: ViTConfig) -> list[Entry]:
        """The embeddings, block by block, the last norm and the classifier."""
        prefix, d_model = _prefix(config), config.d_model
        table, n_positions = f"{prefix}embeddings", config.n_patches + 1
        n_channels, side = config.n_channels, config.patch_size
        found = [
            Entry(
                "embedding.class_token",
                (f"{table}.cls_token",),
                shapes=((d_model,), (1, 1, d_model)),
            ),
            Entry(
                "embedding.w.weight",
                (f"{table}.patch_embeddings.projection.weight",),
                shapes=((d_model, n_channels * side**2), (d_model, n_channels, side, side)),
            ),
            Entry("embedding.w.bias", (f"{table}.patch_embeddings.projection.bias",)),
            Entry(
                "positions.weight",
                (f"{table}.position_embeddings",),
                shapes=((n_positions, d_model), (1, n_positions, d_model)),
            ),
        ]
        for n in range(config.n_layers):
            found += _block(config, f"encoder.blocks.{n}", f"{prefix}encoder.layer.{n}")
        found += both("encoder.norm", f"{prefix}layernorm")
        return found if config.head == "none" else [*found, *both("output.w", "classifier")]

    def build(self, config: ViTConfig) -> ViT:
        """Our Vision Transformer."""
        return ViT(config)


def _prefix(config: ViTConfig) -> str:
    return "" if config.head == "none" else "vit."


def _block(config: ViTConfig, ours: str, theirs: str) -> list[Entry]:
    names = [f"{theirs}.attention.attention.{part}" for part in ("query", "key", "value")]
    rows = (config.d_model,) * 3
    return [
        Entry(f"{ours}.self_attention.w_qkv", tuple(f"{n}.weight" for n in names), rows),
        Entry(f"{ours}.self_attention.b_qkv", tuple(f"{n}.bias" for n in names), rows),
        *both(f"{ours}.self_attention.w_o", f"{theirs}.attention.output.dense"),
        *both(f"{ours}.self_attention_residual.norm", f"{theirs}.layernorm_before"),
        *both(f"{ours}.feed_forward.w_1", f"{theirs}.intermediate.dense"),
        *both(f"{ours}.feed_forward.w_2", f"{theirs}.output.dense"),
        *both(f"{ours}.feed_forward_residual.norm", f"{theirs}.layernorm_after"),
    ]


def _side(theirs: Mapping[str, Any], name: str) -> int:
    """Height and width, which must be one number."""
    size = theirs[name]
    sides = {int(side) for side in (size if isinstance(size, list | tuple) else [size])}
    if len(sides) != 1:
        raise ConfigError(f"{name}={size} is not a square: only squares are known here")
    return sides.pop()
