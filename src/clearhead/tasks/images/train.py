"""From labelled pictures to a model that knows them: doctor → plan → training → scores."""

import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from clearhead.config import ViTConfig
from clearhead.data.picture_batches import PictureBatch, PictureBatches
from clearhead.data.pictures import Pictures
from clearhead.models import Model, ViT
from clearhead.tasks.folder import ModelFolder, save_folder
from clearhead.tasks.images.baselines import mirrored_share
from clearhead.tasks.images.classifier import ImageClassifier
from clearhead.tasks.images.corpus import PictureCorpus, survey_pictures
from clearhead.tasks.images.evaluate import guess_pictures, score_pictures
from clearhead.tasks.images.mistakes import show_mistakes
from clearhead.tasks.images.plan import ImagesPlan, PictureFacts, make_plan
from clearhead.tasks.job import BatchesOf, Job, Tell, Wish, carry_out, claim, nothing_left_behind
from clearhead.tasks.report import write_report
from clearhead.tasks.steps import Speed
from clearhead.training import smoothed_loss
from clearhead.training.device import Device

__all__ = ["train_classifier"]

N_VALIDATED = 2000
"""Pictures of the validation part that are followed in training."""


def train_classifier(
    pictures: Pictures,
    to: Path,
    *,
    validation: Pictures | None = None,
    test: Pictures | None = None,
    size: str | None = None,
    seconds: float | None = None,
    settings: dict[str, Any] | None = None,
    device: Device = "auto",
    tell: Tell = lambda *_: None,
) -> ImageClassifier:
    """Train a model on `pictures` and write it to the folder `to`; resumes what was begun there."""
    wish = Wish(size, seconds, settings or {})
    side, patch = (_asked(wish.settings, name) for name in ("image_size", "patch_size"))
    facts = PictureFacts(1000, side or 8 * (patch or 4), 3, 10)
    make_plan(facts, size=size, settings=wish.settings)  # wrong names fail here
    training = claim(to)
    with nothing_left_behind(training, to):
        corpus = survey_pictures(pictures, validation, test, side, tell)
        job = _Looking(corpus)
        job.plan(wish, None)  # patches that do not fit these pictures fail here
    result = carry_out(job, to, training, wish, device, tell)
    model = cast(ViT, result.model)
    found = guess_pictures(model, corpus.test, corpus.reading)
    scores = score_pictures(found, corpus.test, corpus.train)
    card = {
        "task": "images",
        "n_parameters": model.n_parameters,
        "reading": corpus.reading.to_dict(),
        "data": {**corpus.report.to_dict(), "fingerprint": corpus.fingerprint},
        "held_out": {
            "validation": len(corpus.validation),
            "test": len(corpus.test),
            "unit": "pictures",
        },
        "plan": result.plan.to_dict(),
        "forecast": asdict(result.forecast),
        "training": asdict(result.outcome),
        "scores": [asdict(each) for each in scores],
        "confusion": found.confusion.to_dict()["confusion"],
    }
    save_folder(to, ModelFolder(model, None, card))
    report = to / "report.html"
    more = {
        "Confusions": found.confusion.html(),
        "Mistakes": show_mistakes(found, corpus.test),
    }
    write_report(report, card, result.journal, [], more)
    tell("scores", {"scores": scores, "outcome": result.outcome, "folder": to, "report": report})
    return ImageClassifier(model, corpus.reading, card)


def _asked(settings: dict[str, Any], name: str) -> int | None:
    """A number of pixels, if the user says it; pictures are read at this size."""
    if f"model.{name}" not in settings:
        return None
    one_pixel = ViTConfig(n_labels=1, patch_size=1)
    return one_pixel.override({"image_size": settings[f"model.{name}"]}).image_size


class _Looking(Job[ImagesPlan, PictureBatch]):
    """What is to be known of a run on pictures."""

    unit = "pictures"
    counted, guessed = "pictures", "picture"

    def __init__(self, corpus: PictureCorpus) -> None:
        self.corpus, self.n_examples = corpus, len(corpus.train)
        self.validated = corpus.validation.take(range(min(N_VALIDATED, len(corpus.validation))))
        reading = corpus.reading
        self.facts = PictureFacts(
            self.n_examples,
            reading.size,
            reading.n_channels,
            len(reading.labels),
            mirrored_share(corpus.train),
        )

    @property
    def fingerprint(self) -> str:
        """Of all pictures, and of what is held out."""
        return self.corpus.fingerprint

    def read_plan(self, data: dict[str, Any]) -> ImagesPlan:
        """Refuses what a plan does not have."""
        return ImagesPlan.from_dict(data)

    def plan(self, wish: Wish, speed: Speed | None) -> tuple[ImagesPlan, tuple[str, ...]]:
        """From the pictures' number, size and look."""
        seconds = None if speed is None else wish.seconds
        return make_plan(
            self.facts, size=wish.size, seconds=seconds, speed=speed, settings=wish.settings
        )

    def prepare(self, plan: ImagesPlan, folder: Path, tell: Tell) -> None:
        """Nothing: the pictures are in memory."""

    def batches(self, plan: ImagesPlan) -> BatchesOf[PictureBatch]:
        """Pictures in another order in each epoch, changed at random."""
        reading = self.corpus.reading
        return PictureBatches(
            self.corpus.train,
            plan.n_batch_pictures,
            reading.mean,
            reading.std,
            plan.changes,
            plan.training.seed,
        )

    def build(self, plan: ImagesPlan) -> ViT:
        """An encoder of patches."""
        return ViT(plan.model)

    def loss(
        self, model: Model, plan: ImagesPlan
    ) -> Callable[[PictureBatch], tuple[Tensor, Tensor, int]]:
        """Cross-entropy of the labels, of which each picture has one."""
        vit, device = cast(ViT, model), next(model.parameters()).device

        def loss(batch: PictureBatch) -> tuple[Tensor, Tensor, int]:
            batch = batch.to(device)
            x, labels = vit.summarise(batch.images)[:, None], batch.labels[:, None]
            w = cast(torch.nn.Linear, vit.output.w)
            is_label = torch.ones_like(labels, dtype=torch.bool)
            both = smoothed_loss(x, w.weight, labels, is_label, plan.smoothing, w.bias)
            return *both, len(labels)

        return loss

    def validate(self, model: Model, plan: ImagesPlan) -> dict[str, Any]:
        """The share of validation pictures that are known."""
        start = time.perf_counter()
        found = guess_pictures(cast(ViT, model), self.validated, self.corpus.reading)
        accuracy = 100 * found.confusion.accuracy
        return {
            "score": accuracy,
            "measure": "accuracy",
            "told": f"accuracy {accuracy:.2f} %",
            "loss": found.loss,
            "samples": [],
            "seconds": time.perf_counter() - start,
        }
