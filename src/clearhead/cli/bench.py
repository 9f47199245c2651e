"""`clearhead bench`: how fast a model decodes here, beside the other programs that are installed.

Every program has a process of its own and the same weights, and they take turns; so ratios are
those of times taken one after the other.
"""

import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.table import Table

from clearhead.cli.bench_workers import Job, Outcome, TextJob, Weights, Worker
from clearhead.engine.memory import n_cpus
from clearhead.errors import ClearheadError, InputError
from clearhead.tasks.folder import task_of
from clearhead.text import BOS, EOS, UNK
from clearhead.text.amounts import describe_bytes

__all__ = ["Measured", "Workload", "measure", "show_bench", "workloads"]

N_SOURCE, N_WRITTEN = 20, 25
REST = 0.2
"""Seconds between two turns: threads of the one before may still be awake."""
N_WARMING = 256
OURS, THEIRS, FACE = "Clearhead", "CTranslate2", "Hugging Face"


@dataclass(frozen=True)
class Workload:
    """A job with a name."""

    name: str
    job: Job | TextJob


@dataclass
class Measured:
    """Of one workload: the seconds of each program, turn by turn, and what came out last."""

    name: str
    seconds: dict[str, list[float]] = field(default_factory=dict)
    last: dict[str, Outcome] = field(default_factory=dict)

    def best(self, maker: str) -> str | None:
        """The fastest form of a program, by its median."""
        names = [name for name in self.seconds if name.startswith(maker)]
        return min(names, key=lambda n: statistics.median(self.seconds[n]), default=None)

    def speed_up(self, over: str) -> tuple[float, str] | None:
        """How many times as fast as the best form of another program we are, and the spread."""
        ours, theirs = self.best(OURS), self.best(over)
        if ours is None or theirs is None:
            return None
        pairs = zip(self.seconds[theirs], self.seconds[ours], strict=True)
        ratios = sorted(slow / fast for slow, fast in pairs)
        return statistics.median(ratios), f"{ratios[0]:.2f}–{ratios[-1]:.2f}"


def workloads(n_tokens: int, n_beams: int = 4) -> list[Workload]:
    """One sentence and thirty-two of 20 tokens, 25 tokens written; greedy, and by beam search."""
    drawn = random.Random(0)
    rows = [[drawn.randrange(4, n_tokens) for _ in range(N_SOURCE)] + [2] for _ in range(32)]
    return [
        Workload(
            f"{n} sentence{'s' * (n > 1)}, {'greedy' if beams == 1 else f'beam {beams}'}",
            Job(rows[:n], beams, N_WRITTEN),
        )
        for n in (1, 32)
        for beams in (1, n_beams)
    ]


def measure(
    weights: Weights,
    some: Sequence[Workload],
    *,
    seconds: float,
    n_threads: int,
    precisions: Sequence[str] = ("auto",),
    tell: Callable[[str], None] = lambda line: None,
) -> list[Measured]:
    """Let all installed programs do each workload in turns, for about so many seconds each."""
    with _programs(weights, n_threads, precisions, tell) as programs:
        return [_take_turns(programs, workload, seconds, tell) for workload in some]


def _take_turns(
    programs: dict[str, Worker], workload: Workload, seconds: float, tell: Callable[[str], None]
) -> Measured:
    tell(workload.name)
    found = Measured(workload.name, {name: [] for name in programs})
    for worker in programs.values():
        worker.run(_beginning(workload.job))  # the first turn is not measured
    end = time.perf_counter() + seconds
    order = list(programs.items())
    n_turns = 0
    while n_turns < 3 or time.perf_counter() < end:
        for name, worker in order:
            time.sleep(REST)
            outcome = worker.run(workload.job)
            found.seconds[name].append(outcome.seconds)
            found.last[name] = outcome
        order.reverse()
        n_turns += 1
    return found


def _beginning(job: Job | TextJob) -> Job | TextJob:
    """Enough of a job to warm up: of a long text the first lines."""
    return replace(job, lines=job.lines[:N_WARMING]) if isinstance(job, TextJob) else job


@contextmanager
def _programs(
    weights: Weights, n_threads: int, precisions: Sequence[str], tell: Callable[[str], None]
) -> Iterator[dict[str, Worker]]:
    """Start every program that is installed and can hold the model; say which cannot."""
    programs: dict[str, Worker] = {}
    with tempfile.TemporaryDirectory() as parent:
        for name, kind, settings in _forms(weights, n_threads, precisions, Path(parent), tell):
            try:
                programs[name] = Worker(kind, **settings)
            except ClearheadError as error:
                tell(f"{name} is left out: {error}")
        try:
            yield programs
        finally:
            for worker in programs.values():
                worker.close()


def _forms(
    weights: Weights,
    n_threads: int,
    precisions: Sequence[str],
    parent: Path,
    tell: Callable[[str], None],
) -> Iterator[tuple[str, str, dict[str, object]]]:
    """Every program with the settings that may be its best."""
    weights.save(parent / "clearhead")
    for precision in precisions:
        yield f"{OURS} {precision}", "clearhead", {
            "weights": weights, "folder": str(parent / "clearhead"), "precision": precision,
        }  # fmt: skip
    if find_spec("ctranslate2") is None:
        tell(f"{THEIRS} is not installed: pip install ctranslate2 puts it into this table")
    else:
        folder = parent / "ctranslate2"
        _save_for_ctranslate2(weights, folder)
        for compute in ("float32", "int8"):
            for inter, intra in {(1, n_threads), (n_threads, 1)}:
                name = f"{THEIRS} {compute} {inter}×{intra}"
                yield name, "ctranslate2", {
                    "folder": str(folder), "compute_type": compute, "inter_threads": inter,
                    "intra_threads": intra,
                }  # fmt: skip
    if find_spec("transformers") is None:
        tell(f"{FACE} is not installed: pip install transformers puts it into this table")
    else:
        folder = parent / "transformers"
        _save_for_transformers(weights, folder)
        settings = {"folder": str(folder), "n_threads": n_threads}
        yield f"{FACE} float32", "transformers", settings


def _save_for_transformers(weights: Weights, folder: Path) -> None:
    from transformers.utils import logging

    from clearhead.convert import as_m2m100

    logging.disable_progress_bar()
    as_m2m100(weights.model(), bos=BOS, eos=EOS).save_pretrained(folder)


def _save_for_ctranslate2(weights: Weights, folder: Path) -> None:
    from clearhead.convert import save_for_ctranslate2

    model = weights.model()
    names = [str(token) for token in range(model.config.n_source_tokens)]
    save_for_ctranslate2(model, names, folder, bos=str(BOS), eos=str(EOS), unk=str(UNK))


def show_bench(folder: Path, seconds: float, as_json: bool = False) -> None:
    """Print how fast the model in a folder decodes on this machine."""
    if task_of(folder) != "translate":
        raise InputError(f"{folder} holds no translator: bench measures translating, for now")
    console, errors = Console(highlight=False), Console(stderr=True, highlight=False)
    weights = Weights(folder=folder)
    n_tokens = weights.model().config.n_source_tokens
    n_threads = n_cpus()
    with errors.status("starting") as status:

        def tell(line: str) -> None:
            errors.print(line) if "install" in line or "left out" in line else status.update(line)

        found = measure(
            weights, workloads(n_tokens), seconds=seconds, n_threads=n_threads, tell=tell
        )
    if as_json:
        print(json.dumps([_as_json(each) for each in found], indent=2))
        return
    table = Table("workload", "program", "milliseconds", "ours is", "memory")
    for each in found:
        for number, maker in enumerate((OURS, THEIRS, FACE)):
            if name := each.best(maker):
                ratio = each.speed_up(maker) if maker != OURS else None
                table.add_row(
                    "" if number else each.name,
                    name,
                    f"{1000 * statistics.median(each.seconds[name]):.1f}",
                    f"{ratio[0]:.2f}× as fast ({ratio[1]})" if ratio else "",
                    describe_bytes(each.last[name].n_bytes),
                )
    console.print(table)
    console.print(
        f"{N_SOURCE} tokens read and {N_WRITTEN} written for each sentence, {n_threads} threads; "
        "median of the turns, and the spread of their ratios"
    )


def _as_json(measured: Measured) -> dict[str, object]:
    return {
        "workload": measured.name,
        "seconds": {n: statistics.median(each) for n, each in measured.seconds.items()},
        "n_bytes": {name: outcome.n_bytes for name, outcome in measured.last.items()},
        "speed_up": {maker: measured.speed_up(maker) for maker in (THEIRS, FACE)},
    }
