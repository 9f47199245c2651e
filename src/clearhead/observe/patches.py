"""Which patches of a picture the answer comes from: by attention, through all blocks, by gradient.

The vector that is classified reads the patches: that of the class token, or the mean of all. What
it reads in one head, what comes to it through all blocks (`rollout`), and how much each patch adds
to the log-probability of a label (integrated gradients) are maps over the picture.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clearhead.models import ViT
from clearhead.observe.attribution import integrate_gradients
from clearhead.observe.rollout import rollout
from clearhead.observe.watch import watch

__all__ = ["PatchMaps", "map_patches"]

N_STEPS = 16

Map = NDArray[np.floating]


@dataclass(frozen=True)
class PatchMaps:
    """Maps over the patches of one picture, each with a row for each row of patches."""

    heads: NDArray[np.floating]
    """Block, head, row, column: the weight of each patch; the class token has the rest."""
    rollout: Map
    attribution: Map
    """What each patch adds to the log-probability of the label; below zero, takes from it."""

    @property
    def attention(self) -> Map:
        """The mean of the last block's heads."""
        last: Map = self.heads[-1].mean(0)
        return last


def map_patches(model: ViT, images: Tensor, label: int) -> PatchMaps:
    """Look at one picture, (1, channels, height, width) as the model reads it."""
    config = model.config
    n = config.image_size // config.patch_size
    names = [f"encoder.blocks.{block}.self_attention.weights" for block in range(config.n_layers)]
    with torch.no_grad(), watch(model, *names) as seen:
        model(images)
    weights = [seen.steps(name)[0].tensor.float() for name in names]

    def to_map(rows: Tensor) -> Map:
        """What is classified reads, without the class token: (…, S, S) → (…, row, column)."""
        read = rows[..., 0, 1:] if config.pooling == "first" else rows[..., 1:, 1:].mean(-2)
        return np.asarray(read.unflatten(-1, (n, n)).numpy())

    added = integrate_gradients(
        model, "embedding.vectors", _log_prob(model, images, label), N_STEPS
    )
    return PatchMaps(
        np.stack([to_map(each) for each in weights]),
        to_map(rollout(weights)),
        np.asarray(added[0, 1:].unflatten(0, (n, n)).detach().cpu().numpy()),
    )


def _log_prob(model: ViT, images: Tensor, label: int) -> Callable[[], Tensor]:
    return lambda: model(images).float().log_softmax(-1)[0, label : label + 1]
