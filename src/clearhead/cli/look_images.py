"""What can be looked at in a model of pictures."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clearhead.cli.run_options import refuse_writing
from clearhead.errors import InputError, nearest
from clearhead.observe import views
from clearhead.observe.drawing import Picture
from clearhead.observe.patches import PatchMaps, map_patches
from clearhead.tasks.images.classifier import ImageClassifier

__all__ = ["VIEWS", "look"]


@dataclass(frozen=True)
class _Wish:
    """A picture, the label that is looked for in it, and for heads the place."""

    classifier: ImageClassifier
    file: str
    label: str | None
    place: tuple[int | None, int | None]
    """Block and head."""

    def square(self) -> NDArray[np.uint8]:
        """The picture as the model sees it."""
        return self.classifier.reading.square(self.file)

    def maps(self) -> tuple[str, dict[str, float], PatchMaps]:
        """The label, how probable all are, and the maps of its patches."""
        seen = self.classifier(self.file)
        label = self.label or seen.label
        if label not in self.classifier.labels:
            known = nearest(label, self.classifier.labels)
            raise InputError(f"the model knows no label {label!r}: {known}")
        images = self.classifier.reading.numbers([self.square()])
        place = self.classifier.labels.index(label)
        return label, seen.probabilities, map_patches(self.classifier.model, images, place)


def look(
    folder: Path,
    files: tuple[str, ...],
    *,
    view: str,
    target: str | None = None,
    block: int | None = None,
    head: int | None = None,
    kind: str = "",
    **options: Any,
) -> Picture:
    """Draw a view of what the model sees in one picture; `target` is a label to look for."""
    refuse_writing(options, "looks at pictures")
    if len(files) != 1:
        raise InputError(f"this view shows one picture, and {len(files)} were given")
    return VIEWS[view](_Wish(ImageClassifier.load(folder), files[0], target, (block, head)))


def _patches(wish: _Wish) -> Picture:
    label, probs, maps = wish.maps()
    return views.patches_view(wish.square(), maps, label, probs)


def _heads(wish: _Wish) -> Picture:
    label, _, maps = wish.maps()
    block, head = wish.place
    if head is not None:
        return views.patch_head_view(wish.square(), maps, block or 0, head)
    return views.patch_heads_view(maps, label)


def _cost(wish: _Wish) -> Picture:
    model = wish.classifier.model
    return views.cost_view(model, model.config.n_patches + 1)


VIEWS: Final[dict[str, Callable[[_Wish], Picture]]] = {
    "patches": _patches,
    "heads": _heads,
    "cost": _cost,
}
