"""The loop: batch → loss → gradient → step, until the validation score stops rising.

It knows nothing of languages or models: the task says how to compute the loss of a batch and how
to score the model. It goes on from the last checkpoint bit by bit as if it had never stopped:
weights, optimizer, average, random numbers and the place in the data are all in there.
"""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import torch
from torch import Tensor, nn

from clearhead.errors import ClearheadError, InputError
from clearhead.layers import Dropout
from clearhead.training.checkpoint import Checkpoints, read_checkpoint, write_checkpoint
from clearhead.training.journal import Journal
from clearhead.training.memory import GiveBack
from clearhead.training.optimizer import Optimizer
from clearhead.training.schedule import dropout_share, learning_rate
from clearhead.training.settings import TrainingConfig

__all__ = ["BatchSource", "Interrupted", "Outcome", "Trainer"]

A = TypeVar("A")
C = TypeVar("C", covariant=True)

N_BAD_STEPS = 20
SPIKE = 20.0
"""A gradient so many times as large as usual is left out: one bad batch must not undo hours."""
N_TO_KNOW = 100
"""Steps before it is known what is usual."""


class Interrupted(ClearheadError):  # noqa: N818 - not a mistake of anybody
    """The run was asked to stop; its state is saved, and the same command goes on."""


class BatchSource(Protocol[C]):
    """The data of a run: the same batches in the same order for the same epoch."""

    def epoch(self, number: int, start: int = 0) -> Iterator[C]:
        """Return the batches of an epoch from number `start` on."""
        ...


@dataclass
class _Progress:
    """Where a run is: all of it is in the checkpoint."""

    step: int = 0
    epoch: int = 0
    batch: int = 0
    n_tokens: int = 0
    n_bad_steps: int = 0
    n_bad_in_a_row: int = 0
    usual_norm: float = 0.0
    best_score: float = -math.inf
    best_loss: float = math.inf
    best_step: int = 0
    n_without_gain: int = 0
    validated_step: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    step: int
    best_step: int
    best_score: float
    reason: str
    seconds: float


class Trainer(Generic[A]):
    """Trains `model`; `validate` scores it (higher is better), and `tell` hears what happens.

    `loss` returns for a batch the summed loss, the sum to report (in nats, without smoothing), and
    how many tokens these are.
    """

    def __init__(
        self,
        model: nn.Module,
        batches: BatchSource[A],
        loss: Callable[[A], tuple[Tensor, Tensor, int]],
        validate: Callable[[], dict[str, Any]],
        config: TrainingConfig,
        folder: Path,
        tell: Callable[[str, dict[str, Any]], None] = lambda kind, facts: None,
    ) -> None:
        self.model, self.batches, self.loss, self.validate = model, batches, loss, validate
        self.config, self.tell = config, tell
        folder.mkdir(parents=True, exist_ok=True)
        self.checkpoints = Checkpoints(folder)
        self.journal = Journal(folder / "journal.jsonl")
        self.progress = _Progress()
        self.parameters = dict(model.named_parameters())
        self.dropouts = [each for each in model.modules() if isinstance(each, Dropout)]
        self.device = next(model.parameters()).device
        self.optimizer = Optimizer(
            self.parameters, config.optimizer, config.weight_decay, config.precision
        )
        self.averages = {name: p.detach().clone() for name, p in self.parameters.items()}
        self._stop = threading.Event()
        self._give_back = GiveBack()

    def run(self) -> Outcome:
        """Train to the end, from the last checkpoint if there is one."""
        torch.manual_seed(self.config.seed)
        self._resume()
        start = time.perf_counter() - self.progress.seconds
        with _stop_signals(self._stop):
            reason = self._next_reason_to_end()
            while reason is None:
                self._epoch(start)
                reason = self._next_reason_to_end()
        if self.progress.validated_step < self.progress.step:
            self._validate()
        self._save()
        self._note("end", reason=reason)
        progress = self.progress
        return Outcome(
            progress.step, progress.best_step, progress.best_score, reason, progress.seconds
        )

    def _next_reason_to_end(self) -> str | None:
        if self.progress.n_without_gain >= self.config.patience:
            return f"no better score in {self.config.patience} validations"
        if self.progress.step >= self.config.n_steps:
            return f"{self.config.n_steps:,} steps are done"
        return None

    def _epoch(self, start: float) -> None:
        """Go through the rest of one epoch, or to the end of the run."""
        progress, config = self.progress, self.config
        n_before = progress.batch
        group: list[A] = []
        for batch in self.batches.epoch(progress.epoch, start=progress.batch):
            group.append(batch)
            if len(group) < config.n_accumulated:
                continue
            self._step(group)
            progress.batch += len(group)
            progress.seconds = time.perf_counter() - start
            group = []
            if progress.step % config.validate_every == 0:
                self._validate()
                self._save()
            if self._stop.is_set():
                self._save()
                raise Interrupted(
                    f"stopped at step {progress.step}; everything is saved, and the same command "
                    f"goes on from there"
                )
            if self._next_reason_to_end() is not None:
                return
        if progress.batch == n_before == 0:
            raise InputError(
                f"an epoch has fewer than n_accumulated={config.n_accumulated} batches; "
                f"accumulate fewer, or make the batches smaller"
            )
        # What is left of the last group is too small for a step; the next epoch has it again.
        progress.epoch, progress.batch = progress.epoch + 1, 0

    def _step(self, group: list[A]) -> None:
        """One step over the batches of a group, as if they were one batch."""
        self.model.train()
        progress, config = self.progress, self.config
        share = dropout_share(progress.step + 1, config.dropout_rise)
        for each in self.dropouts:
            each.share = share
        rate = learning_rate(
            progress.step + 1,
            config.schedule,
            lr=config.lr,
            warm_up=config.warm_up,
            n_steps=config.n_steps,
        )
        started = time.perf_counter()
        total, n_tokens = 0.0, 0
        is_half = config.precision == "bfloat16"
        for batch in group:
            with torch.autocast(self.device.type, torch.bfloat16, enabled=is_half):
                loss, plain, n = self.loss(batch)
            loss.backward()
            total, n_tokens = total + float(plain), n_tokens + n
        for parameter in self.parameters.values():
            if parameter.grad is not None:
                parameter.grad.div_(n_tokens)
        norm = float(nn.utils.clip_grad_norm_(self.parameters.values(), config.clip))
        progress.step += 1
        progress.n_tokens += n_tokens
        if trouble := self._trouble(total, norm):
            self._skip(trouble, total / n_tokens, norm)
        else:
            self._move(rate)
            progress.n_bad_in_a_row = 0
        self.optimizer.clear()
        self._give_back()
        seconds = time.perf_counter() - started
        self._note(
            "step",
            loss=total / n_tokens,
            rate=rate,
            norm=norm,
            tokens_per_second=n_tokens / seconds,
            epoch=progress.epoch,
        )

    def _move(self, rate: float) -> None:
        """Let the optimizer change the weights, and the average follow."""
        self.optimizer.step(rate)
        if self.config.average:
            # At the start the average of few steps follows faster.
            step = self.progress.step
            keep = min(self.config.average, (1 + step) / (10 + step))
            torch._foreach_lerp_(
                list(self.averages.values()),
                [p.detach() for p in self.parameters.values()],
                1 - keep,
            )

    def _trouble(self, total: float, norm: float) -> str | None:
        """Why this step must not be taken, if so."""
        progress = self.progress
        if not (math.isfinite(total) and math.isfinite(norm)):
            return "the loss or its gradient is not a finite number"
        limit = SPIKE * progress.usual_norm
        is_spike = progress.step > N_TO_KNOW and norm > limit
        # What lasts becomes usual: a spike moves the mean, too, but not by more than the limit.
        seen = min(norm, limit) if is_spike else norm
        share = max(0.02, 1 / progress.step)
        progress.usual_norm += share * (seen - progress.usual_norm)
        if is_spike:
            return f"its gradient is {SPIKE * norm / limit:.0f} times as large as usual"
        return None

    def _skip(self, reason: str, total: float, norm: float) -> None:
        """Leave out a step, and say why; give up after too many."""
        self.progress.n_bad_steps += 1
        self.progress.n_bad_in_a_row += 1
        self._note("skipped", loss=total, norm=norm, reason=reason)
        if self.progress.n_bad_in_a_row >= N_BAD_STEPS:
            raise InputError(
                f"{N_BAD_STEPS} steps in a row were left out, up to step {self.progress.step}, "
                f"because {reason}; a lower training.lr usually helps"
            )

    def _validate(self) -> None:
        """Score the averaged weights, and keep them if they are the best."""
        progress = self.progress
        progress.validated_step = progress.step
        self.model.eval()
        generator_state = torch.get_rng_state()
        with self._averaged(), torch.no_grad():
            scores = self.validate()
            loss = scores.get("loss", math.inf)
            is_lowest = loss < progress.best_loss
            progress.n_without_gain = 0 if is_lowest else progress.n_without_gain + 1
            is_best = scores["score"] > progress.best_score
            # Among equals, at the start where nothing is right yet, the loss decides.
            if is_best or (scores["score"] == progress.best_score and is_lowest):
                progress.best_score, progress.best_step = scores["score"], progress.step
                progress.n_without_gain = 0
                facts = {"step": progress.step, "scores": scores}
                write_checkpoint(self.checkpoints.best, self.parameters, facts)
            progress.best_loss = min(loss, progress.best_loss)
        torch.set_rng_state(generator_state)
        best = {"best_score": progress.best_score, "best_step": progress.best_step}
        self._note("validation", **scores, **best)

    @contextmanager
    def _averaged(self) -> Iterator[None]:
        """Put the averaged weights in place of the current ones for a while."""
        if not self.config.average:
            yield
            return
        current = {name: p.detach().clone() for name, p in self.parameters.items()}
        self._put(self.averages)
        try:
            yield
        finally:
            self._put(current)

    def _put(self, weights: dict[str, Tensor]) -> None:
        with torch.no_grad():
            for name, parameter in self.parameters.items():
                parameter.copy_(weights[name])

    def _save(self) -> None:
        """Write the whole state of the run."""
        tensors: dict[str, Tensor] = {f"weight.{name}": p for name, p in self.parameters.items()}
        tensors |= {f"average.{name}": value for name, value in self.averages.items()}
        for name, parameter in self.parameters.items():
            for key, value in self.optimizer.state(parameter).items():
                tensors[f"adam.{key}.{name}"] = value
        tensors["random"] = torch.get_rng_state()
        facts = {"progress": vars(self.progress), "config": self.config.to_dict()}
        self.checkpoints.save(self.progress.step, tensors, facts)

    def _resume(self) -> None:
        """Go on from the last checkpoint."""
        path = self.checkpoints.last()
        if path is None:
            self.journal.rewind(-1)
            return
        tensors, facts = read_checkpoint(path)
        if TrainingConfig.from_dict(facts["config"]) != self.config:
            raise InputError(
                f"{path.parent} holds a run with other settings; give the same settings to go on, "
                f"or another folder to start anew"
            )
        self.progress = _Progress(**facts["progress"])
        self._put({name: tensors[f"weight.{name}"] for name in self.parameters})
        self.averages = {name: tensors[f"average.{name}"] for name in self.parameters}
        for name, parameter in self.parameters.items():
            for key in ("step", "exp_avg", "exp_avg_sq", "momentum"):
                if (value := tensors.get(f"adam.{key}.{name}")) is not None:
                    self.optimizer.state(parameter)[key] = value
        torch.set_rng_state(tensors["random"])
        progress = self.progress
        facts = {"step": progress.step, "n_steps": self.config.n_steps}
        best = {"best_score": progress.best_score, "best_step": progress.best_step}
        self.tell("resume", {**facts, **best})
        self.journal.rewind(self.progress.step)

    def _note(self, kind: str, **facts: Any) -> None:
        self.journal.write(kind, self.progress.step, **facts)
        self.tell(kind, {"step": self.progress.step, **facts})


@contextmanager
def _stop_signals(stop: threading.Event) -> Iterator[None]:
    """Turn Ctrl-C and SIGTERM into a wish to stop after the step; a second one stops at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def wish(number: int, frame: object) -> None:
        stop.set()
        for each, handler in old.items():
            signal.signal(each, handler)

    for number in old:
        signal.signal(number, wish)
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
