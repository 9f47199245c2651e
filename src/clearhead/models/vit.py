"""The Vision Transformer: a picture is a row of patches, read by an encoder as words are.

Dosovitskiy et al. 2021, §3.1, equations 1 to 4.

Departs: the learned positions begin as waves over the plane and not as small random numbers, so
that a model knows from its first step which patches are neighbours.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from clearhead.config import ViTConfig
from clearhead.layers.attention import MultiHeadAttention
from clearhead.layers.blocks import Residual, SelfBlock
from clearhead.layers.dropout import Dropout
from clearhead.layers.feed_forward import FeedForward
from clearhead.layers.labels import LabelScores
from clearhead.layers.norms import LayerNorm
from clearhead.layers.patches import PatchEmbedding
from clearhead.layers.pooling import Pooling
from clearhead.layers.positions import LearnedPositions, plane_waves
from clearhead.layers.stacks import EncoderStack
from clearhead.models.interface import Model

__all__ = ["ViT"]

SPREAD = 0.5
"""How large positions are at first: about as large as the vectors of patches."""


class ViT(Model):
    """Pictures → a vector for each patch, and the logits of labels."""

    def __init__(self, config: ViTConfig) -> None:
        super().__init__()
        self.config = config
        d_model = config.d_model
        self.embedding = PatchEmbedding(
            config.image_size, config.patch_size, config.n_channels, d_model, config.patches
        )
        self.positions = LearnedPositions(config.n_patches + 1, d_model)
        n = config.image_size // config.patch_size
        self.positions.weight.data[1:] = SPREAD * plane_waves(n, n, d_model)
        self.dropout = Dropout(config.dropout)
        blocks = (_block(config) for _ in range(config.n_layers))
        self.encoder = EncoderStack(blocks, LayerNorm(d_model, config.norm_eps))
        self.pooling = Pooling(config.pooling)
        is_classifier = config.head == "classify"
        self.output = LabelScores(d_model, config.n_labels) if is_classifier else nn.Identity()

    def forward(self, images: Float[Tensor, "B channels height width"]) -> Float[Tensor, "B ..."]:
        """Logits of the labels, B Y; without a head the vectors, B S D."""
        if self.config.head == "none":
            return self.output(self.read(images))
        return self.output(self.summarise(images))

    def read(self, images: Float[Tensor, "B channels height width"]) -> Float[Tensor, "B S D"]:
        """A vector for the class token, and one for each patch after it."""
        x = self.embedding(images) + self.positions(self.config.n_patches + 1)
        return self.encoder(self.dropout(x), None)

    def summarise(self, images: Float[Tensor, "B channels height width"]) -> Float[Tensor, "B D"]:
        """One vector for each picture, by `config.pooling`."""
        x = self.read(images)
        is_patch = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
        is_patch[:, 0] = False
        return self.pooling(x, is_patch)

    def streams(self, point: str) -> tuple[str, str]:
        """What stands at the queries and at the keys of a place: the patches of one picture."""
        return "embedding", "embedding"

    def axis_sizes(self) -> dict[str, int]:
        """How long the axes are that do not depend on the input."""
        config = self.config
        return {
            "D": config.d_model,
            "H": config.n_heads,
            "G": config.n_heads,
            "K": config.d_model // config.n_heads,
            "F": config.d_ff,
            "Y": config.n_labels,
        }

    def recompute(self, is_on: bool = True) -> None:
        """Keep less for the backward pass, and compute it again (gradient checkpointing)."""
        self.encoder.recomputes = is_on


def _block(config: ViTConfig) -> SelfBlock:
    attention = MultiHeadAttention(
        config.d_model, config.n_heads, bias=True, dropout=config.attention_dropout
    )
    feed_forward = FeedForward(config.d_model, config.d_ff, "gelu")

    def residual() -> Residual:
        return Residual(LayerNorm(config.d_model, config.norm_eps), config.dropout)

    return SelfBlock(attention, feed_forward, residual)
