"""A picture model: a picture in, its label out, with how probable each label is.

classifier = ImageClassifier.load("fashion")
classifier("boot.png").label
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

from clearhead.config import ViTConfig
from clearhead.engine.memory import Wanted
from clearhead.errors import InputError
from clearhead.tasks.folder import open_folder
from clearhead.tasks.images.reading import AnyPicture, Reading
from clearhead.tasks.loaded import LoadedModel

if TYPE_CHECKING:
    from clearhead.models import ViT

    _Base = LoadedModel[ViT]
else:
    _Base = LoadedModel

__all__ = ["N_AT_ONCE", "ImageClassifier", "Seen"]

N_AT_ONCE = 64


@dataclass(frozen=True)
class Seen:
    """What a picture shows."""

    label: str
    """The most probable one."""
    probability: float
    probabilities: dict[str, float]
    """Of every label, the most probable first."""


class ImageClassifier(_Base):
    """A trained model with its labels: call it with a file or an array, or with several."""

    def __init__(self, model: ViT, reading: Reading, card: dict[str, Any]) -> None:
        super().__init__(model, card)
        self.reading = reading

    @classmethod
    def load(cls, folder: str | Path, precision: Wanted = "auto") -> Self:
        """Open a model folder; pictures are always read in float32."""
        found = open_folder(Path(folder))
        config = found.config
        if not isinstance(config, ViTConfig) or config.head != "classify":
            raise InputError(f"{folder} holds a model that does not tell pictures apart")
        if precision not in ("auto", "float32"):
            raise InputError(f"precision {precision!r} is not there for pictures: take float32")
        model: Any = found.model()
        return cls(model, Reading.from_card(found.card, config, Path(folder)), found.card)

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels that it knows."""
        return self.reading.labels

    @overload
    def __call__(self, picture: AnyPicture) -> Seen: ...
    @overload
    def __call__(self, picture: list[AnyPicture]) -> list[Seen]: ...
    def __call__(self, picture: AnyPicture | list[AnyPicture]) -> Seen | list[Seen]:
        """Say what each picture shows: a file, or an array of (height, width) or with channels."""
        if not isinstance(picture, list):
            return self._look([picture])[0]
        return [
            seen
            for begin in range(0, len(picture), N_AT_ONCE)
            for seen in self._look(picture[begin : begin + N_AT_ONCE])
        ]

    def _look(self, pictures: Sequence[AnyPicture]) -> list[Seen]:
        import torch

        images = self.reading.numbers([self.reading.square(each) for each in pictures])
        with torch.no_grad():
            logits = self.model(images.to(next(self.model.parameters()).device))
        return [self._answer(row) for row in logits.double().softmax(-1).tolist()]

    def _answer(self, probs: Sequence[float]) -> Seen:
        order = sorted(range(len(probs)), key=lambda place: -probs[place])
        known = {self.labels[place]: probs[place] for place in order}
        return Seen(self.labels[order[0]], probs[order[0]], known)

    def _names(self, tokens: Sequence[int]) -> list[str]:
        """Patches by row and column; the first vector is the class token's."""
        n = self.model.config.image_size // self.model.config.patch_size
        return [
            "class" if token == 0 else f"{(token - 1) // n},{(token - 1) % n}" for token in tokens
        ]
