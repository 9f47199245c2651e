"""A training run, whatever is trained: claim a folder, plan, go on or begin, train, score, save.

A task describes its run as a `Job`: what its data is, how it plans, what a batch and its loss are,
and how a model is scored. Everything else is the same for all and stands here.
"""

import json
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import torch
from torch import Tensor

from clearhead.errors import ClearheadError, InputError
from clearhead.models import Model
from clearhead.tasks.folder import put_weights
from clearhead.tasks.plan import Forecast
from clearhead.tasks.probe import probe
from clearhead.tasks.steps import Speed
from clearhead.training import Outcome, Trainer, TrainingConfig, pick_device
from clearhead.training.checkpoint import read_checkpoint, write_bytes
from clearhead.training.device import Device
from clearhead.training.loop import BatchSource

__all__ = [
    "AnyPlan",
    "BatchesOf",
    "Before",
    "Job",
    "Loss",
    "Result",
    "Tell",
    "Wish",
    "carry_out",
    "claim",
    "nothing_left_behind",
]

Tell = Callable[[str, dict[str, Any]], None]
B = TypeVar("B")
C = TypeVar("C", covariant=True)
Loss = Callable[[B], tuple[Tensor, Tensor, int]]
N_PROBED = 8


class AnyPlan(Protocol):
    """What every plan has."""

    @property
    def training(self) -> TrainingConfig:
        """How the model is trained."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        ...


P = TypeVar("P", bound=AnyPlan)


class BatchesOf(BatchSource[C], Protocol[C]):
    """The data of a run, and some of it to try."""

    def some(self, n_batches: int) -> Sequence[C]:
        """A few batches, a largest one first."""
        ...

    def n_batches(self, epoch: int) -> int:
        """How many batches an epoch has."""
        ...

    def padding_share(self, epoch: int = 0) -> float:
        """Which part of the batches is padding."""
        ...


@dataclass(frozen=True)
class Wish:
    """What the user asked for beside the data; the same wish goes on with the same run."""

    size: str | None
    seconds: float | None
    settings: dict[str, Any]

    def __str__(self) -> str:
        """The options as they would be written."""
        given = [f"--size {self.size}"] if self.size else []
        given += [f"--time {self.seconds:g}s"] if self.seconds else []
        return " ".join([*given, *(f"--set {key}={value}" for key, value in self.settings.items())])


@dataclass(frozen=True)
class Result(Generic[P]):
    """What came of a run: the best weights are in the model."""

    model: Model
    plan: P
    forecast: Forecast
    outcome: Outcome
    journal: list[dict[str, Any]]


@dataclass(frozen=True)
class Before:
    """What a run has before its training itself: other models, which make more examples."""

    n_models: int = 0
    n_steps: int = 0
    """Of all of them together."""
    growth: int = 1
    """How many times as many examples there may be after it."""


class Job(ABC, Generic[P, B]):
    """What a task says of one run. `prepare` is called before anything that needs tokens."""

    n_examples: int
    """How many pairs, texts or pictures are trained on."""
    unit: str = "pairs"
    """What they are called."""
    counted: str = "tokens"
    """What the speed is told in."""
    guessed: str = "token"
    """What the loss is told for: one of these."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Other data has another one."""

    @abstractmethod
    def read_plan(self, data: dict[str, Any]) -> P:
        """A plan that was saved."""

    @abstractmethod
    def plan(self, wish: Wish, speed: Speed | None) -> tuple[P, tuple[str, ...]]:
        """Choose everything from what is known so far, and say why."""

    def smaller(self, plan: P, wish: Wish) -> Wish | None:
        """A wish for a smaller model, if this one is too large for the time."""
        return None

    @abstractmethod
    def prepare(self, plan: P, folder: Path, tell: Tell) -> None:
        """Write what the batches are made of, unless that is done already."""

    def run_before(self, plan: P, folder: Path, device: torch.device, tell: Tell) -> float:
        """Do what the plan has before the training itself; return how many seconds it took."""
        return 0.0

    def before(self, plan: P) -> Before:
        """How much that is."""
        return Before()

    @abstractmethod
    def batches(self, plan: P) -> BatchesOf[B]:
        """The training data in batches."""

    def n_batches(self, batches: BatchesOf[B], plan: P) -> int:
        """In how many batches all examples come once."""
        return max(1, batches.n_batches(0))

    @abstractmethod
    def build(self, plan: P) -> Model:
        """The model with random weights."""

    @abstractmethod
    def loss(self, model: Model, plan: P) -> Loss[B]:
        """How far the model is from what a batch asks for."""

    @abstractmethod
    def validate(self, model: Model, plan: P) -> dict[str, Any]:
        """The score of the model on the validation part (higher is better), and its loss."""


def carry_out(
    job: Job[P, B], to: Path, training: Path, wish: Wish, device: Device, tell: Tell
) -> Result[P]:
    """Train what the job describes; go on with what was begun in `training`."""
    where = pick_device(device)
    plan, forecast = _prepare(job, wish, training, where, tell)
    _check_space(to, forecast.n_parameters * (1 + job.before(plan).n_models))
    tell("plan", {"plan": plan, "forecast": forecast})
    seconds = job.run_before(plan, training, where, tell)
    model = _build(job, plan, where)
    trainer = Trainer(
        model,
        job.batches(plan),
        job.loss(model, plan),
        lambda: job.validate(model, plan),
        plan.training,
        training,
        tell,
    )
    outcome = trainer.run()
    outcome = replace(outcome, seconds=outcome.seconds + seconds)
    put_weights(model, read_checkpoint(trainer.checkpoints.best)[0], trainer.checkpoints.best)
    return Result(model.eval(), plan, forecast, outcome, trainer.journal.read())


def claim(to: Path) -> Path:
    """Make the folder for the run, or refuse one that cannot be written or holds something else."""
    training = to / "training"
    if to.exists() and not to.is_dir():
        raise InputError(f"{to} is a file; give the name of a folder for the model")
    if (to / "config.json").exists() and not (training / "plan.json").exists():
        raise InputError(f"{to} holds another model; give another folder, or remove this one")
    try:
        training.mkdir(parents=True, exist_ok=True)
        (training / "claim").write_text("")
        (training / "claim").unlink()
    except OSError as error:
        raise InputError(f"{training} cannot be written: {error.strerror}") from None
    return training


@contextmanager
def nothing_left_behind(*folders: Path) -> Iterator[None]:
    """If something is refused, remove these folders, unless they hold something."""
    try:
        yield
    except ClearheadError:
        for folder in folders:
            with suppress(OSError):
                folder.rmdir()
        raise


def _check_space(to: Path, n_parameters: int) -> None:
    """Refuse a disk that cannot hold the checkpoints, before hours are spent."""
    # Weights, average and Adam's two, for three checkpoints; the best weights, and the model.
    needed = 4 * n_parameters * (3 * 4 + 2)
    free = shutil.disk_usage(to).free
    if free < needed:
        raise InputError(
            f"{to} has {free / 1e6:,.0f} MB left, and the checkpoints need {needed / 1e6:,.0f} MB; "
            f"make room, or give a folder on another disk"
        )


def _prepare(
    job: Job[P, B], wish: Wish, training: Path, device: torch.device, tell: Tell
) -> tuple[P, Forecast]:
    """The plan of the run that was begun here, or a new one; with the tokens it needs."""
    path = training / "plan.json"
    run = {"data": job.fingerprint, "asked": asdict(wish)}
    saved = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    if saved is not None:
        if saved["data"] != run["data"]:
            raise InputError(
                f"{training} holds a run on other data; give another folder, or remove this one"
            )
        if saved["asked"] != run["asked"]:
            asked = str(Wish(**saved["asked"])) or "without options"
            raise InputError(
                f"{training} holds a run that was asked for otherwise ({asked}); give the same "
                f"options to go on with it, or another folder to start anew"
            )
        plan = job.read_plan(saved["plan"])
        forecast = Forecast(**{**saved["forecast"], "reasons": tuple(saved["forecast"]["reasons"])})
        job.prepare(plan, training, tell)
        return plan, forecast
    shutil.rmtree(training / "tokens", ignore_errors=True)  # of a run that never got to its plan
    plan, _ = job.plan(wish, None)
    job.prepare(plan, training, tell)
    plan, forecast = _measured_plan(job, wish, device, tell)
    write_bytes(
        path,
        json.dumps(
            {**run, "plan": plan.to_dict(), "forecast": asdict(forecast)}, indent=2
        ).encode(),
    )
    return plan, forecast


def _measured_plan(
    job: Job[P, B], wish: Wish, device: torch.device, tell: Tell
) -> tuple[P, Forecast]:
    """Try some steps of what the data asks for, and of smaller models until the time suffices."""
    while True:
        plan, _ = job.plan(wish, None)
        batches = job.batches(plan)
        model = _build(job, plan, device)
        tell("probe", {"name": f"{model.n_parameters:,} parameters"})
        speed = probe(model, job.loss(model, plan), batches.some(N_PROBED), plan.training.optimizer)
        plan, reasons = job.plan(wish, speed)
        smaller = job.smaller(plan, wish)
        if smaller is None:
            break
        wish = smaller
    before = job.before(plan)
    n_batches = job.n_batches(batches, plan) * before.growth
    n_taken = plan.training.n_steps * plan.training.n_accumulated
    forecast = Forecast(
        n_parameters=model.n_parameters,
        n_pairs=job.n_examples,
        n_batches=n_batches,
        n_epochs=round(n_taken / n_batches, 1),
        padding=batches.padding_share(),
        tokens_per_second=speed.tokens_per_second,
        seconds=(n_taken + before.n_steps) * speed.seconds_per_step,
        n_bytes=speed.n_bytes,
        reasons=reasons,
        unit=job.unit,
        counted=job.counted,
        guessed=job.guessed,
    )
    return plan, forecast


def _build(job: Job[P, B], plan: P, device: torch.device) -> Model:
    torch.manual_seed(plan.training.seed)
    with torch.device(device):
        return job.build(plan)
