"""Patches: a picture is cut into squares, and each becomes a vector, as a word does.

z_0 = [x_class; x_p^1 E; …; x_p^N E]                        Dosovitskiy et al. 2021, eq. 1

Departs: the numbers of a patch are ordered by channel, row and column, as in a convolution, and E
has a bias.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from clearhead.errors import InputError
from clearhead.layers.tap import Gauge, Tap

__all__ = ["PatchEmbedding", "cut_patches"]


class PatchEmbedding(nn.Module):
    """Pictures → a vector for each patch, after that of the class token."""

    def __init__(self, image_size: int, patch_size: int, n_channels: int, d_model: int) -> None:
        super().__init__()
        self.image_size, self.patch_size, self.n_channels = image_size, patch_size, n_channels
        self.class_token = nn.Parameter(torch.empty(d_model))
        self.w = nn.Linear(n_channels * patch_size**2, d_model)
        nn.init.normal_(self.class_token, std=0.02)
        nn.init.xavier_uniform_(self.w.weight)
        nn.init.zeros_(self.w.bias)
        # Which patch stands at each position, from 1 on; 0 is the class token.
        self.tokens = Gauge("B T")
        self.vectors = Tap("B T D")

    def forward(self, images: Float[Tensor, "B channels height width"]) -> Float[Tensor, "B T D"]:
        """Cut the pictures, and map each patch by itself."""
        self._check(images)
        vectors = self.w(cut_patches(images, self.patch_size))
        B, n_patches, _ = vectors.shape
        self.tokens.show(lambda: torch.arange(n_patches + 1).expand(B, -1))
        return self.vectors(torch.cat([self.class_token.expand(B, 1, -1), vectors], dim=1))

    def _check(self, images: Tensor) -> None:
        if not images.is_floating_point():
            raise InputError(f"images are {images.dtype}; they must be floats, such as 0 to 1")
        if images.dim() != 4:
            raise InputError(
                f"images have shape {tuple(images.shape)}; it must be (rows, channels, height, "
                "width)"
            )
        B, n_channels, height, width = images.shape
        if B == 0:
            raise InputError("there are no images; give at least one")
        if n_channels != self.n_channels:
            raise InputError(
                f"images have {n_channels} channels; this model reads {self.n_channels}"
            )
        size = self.image_size
        if (height, width) != (size, size):
            raise InputError(
                f"images are {height} × {width} pixels; this model reads {size} × {size}: "
                "resize them"
            )


def cut_patches(
    images: Float[Tensor, "B channels height width"], patch_size: int
) -> Float[Tensor, "B T _"]:
    """Cut pictures into squares, row by row, each a vector of its numbers.

    >>> cut_patches(torch.arange(16.0).view(1, 1, 4, 4), 2)[0, 1].tolist()
    [2.0, 3.0, 6.0, 7.0]
    """
    squares = images.unflatten(3, (-1, patch_size)).unflatten(2, (-1, patch_size))
    # batch, channel, patch row, row in it, patch column, column in it
    return squares.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)
