"""Patches: a picture is cut into squares, and each becomes a vector, as a word does.

z_0 = [x_class; x_p^1 E; …; x_p^N E]                        Dosovitskiy et al. 2021, eq. 1

Departs: the numbers of a patch are ordered by channel, row and column, as in a convolution, and E
has a bias.

A few thousand pictures are too few to find out what edges and corners are. `Convolutions` brings it
along: small windows that slide over the picture, and of each square the largest number is kept.
"""

from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from clearhead.config.block import PatchKind
from clearhead.errors import InputError
from clearhead.layers.tap import Gauge, Tap

__all__ = ["Convolutions", "PatchEmbedding", "cut_patches"]


class PatchEmbedding(nn.Module):
    """Pictures → a vector for each patch, after that of the class token."""

    w: "nn.Linear | Convolutions"

    def __init__(
        self,
        image_size: int,
        patch_size: int,
        n_channels: int,
        d_model: int,
        kind: PatchKind = "linear",
    ) -> None:
        super().__init__()
        self.image_size, self.patch_size, self.n_channels = image_size, patch_size, n_channels
        self.class_token = nn.Parameter(torch.empty(d_model))
        nn.init.normal_(self.class_token, std=0.02)
        if kind == "linear":
            self.w = nn.Linear(n_channels * patch_size**2, d_model)
            nn.init.xavier_uniform_(self.w.weight)
            nn.init.zeros_(self.w.bias)
        else:
            self.w = Convolutions(n_channels, patch_size, d_model)
        # Which patch stands at each position, from 1 on; 0 is the class token.
        self.tokens = Gauge("B T")
        self.vectors = Tap("B T D")

    def forward(self, images: Float[Tensor, "B channels height width"]) -> Float[Tensor, "B T D"]:
        """Make a vector of each patch: by itself, or with what is around it."""
        self._check(images)
        is_linear = isinstance(self.w, nn.Linear)
        vectors = self.w(cut_patches(images, self.patch_size) if is_linear else images)
        B, n_patches, _ = vectors.shape
        self.tokens.show(lambda: torch.arange(n_patches + 1).expand(B, -1))
        return self.vectors(torch.cat([self.class_token.expand(B, 1, -1), vectors], dim=1))

    @property
    def n_products(self) -> int:
        """Multiplications for one picture."""
        if isinstance(self.w, Convolutions):
            return self.w.n_products(self.image_size)
        return (self.image_size // self.patch_size) ** 2 * self.w.weight.numel()

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


class Convolutions(nn.Module):
    """Pictures → a vector for each patch, which has seen a little beyond its edges.

    conv 3 × 3 → ReLU → the largest of each square, once for each prime factor of the patch size
    (Hassani et al. 2021, §3.2, there with squares that overlap).
    """

    def __init__(self, n_channels: int, patch_size: int, d_model: int) -> None:
        super().__init__()
        self.factors = _prime_factors(patch_size)
        n_between = max(1, d_model // 3)
        widths = [n_channels, *[n_between] * (len(self.factors) - 1), d_model]
        self.stages = nn.ModuleList(nn.Conv2d(n, m, 3, padding=1) for n, m in pairwise(widths))

    def forward(self, images: Float[Tensor, "B channels height width"]) -> Float[Tensor, "B T D"]:
        """Row by row, as `cut_patches` has them."""
        x = images
        for stage, factor in zip(self.stages, self.factors, strict=True):
            x = F.max_pool2d(F.relu(stage(x)), factor)
        return x.flatten(2).mT

    def n_products(self, image_size: int) -> int:
        """Multiplications for one picture of this size."""
        total, side = 0, image_size
        for stage, factor in zip(self.stages, self.factors, strict=True):
            assert isinstance(stage, nn.Conv2d)
            total += side**2 * stage.weight.numel()
            side //= factor
        return total


def _prime_factors(number: int) -> list[int]:
    """Small ones first; 1 has itself.

    >>> [_prime_factors(number) for number in (1, 4, 7, 12)]
    [[1], [2, 2], [7], [2, 2, 3]]
    """
    found, factor = [], 2
    while number > 1:
        while number % factor == 0:
            found.append(factor)
            number //= factor
        factor += 1
    return found or [1]


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
