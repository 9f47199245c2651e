"""The display of a training run: a live region at the bottom of a terminal, or plain lines.

It hears what happens as `tell(kind, facts)`. The report, the plan and the validations are printed
and stay; progress, loss and samples are drawn anew below them. Drawing is done by a thread some
times a second, so that hearing of a step costs next to nothing.
"""

import math
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live as Region
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from clearhead.cli.check import show_report
from clearhead.cli.live_course import Course, sparkline
from clearhead.cli.live_words import next_lines, plan_lines, prose, result_lines, sample_lines
from clearhead.data import Report
from clearhead.text.amounts import describe_time

__all__ = ["Live"]

N_PER_SECOND = 4
PLAIN_SHARE = 0.05
PLAIN_SECONDS = 30.0
"""Plain lines of progress are this share of the steps and this time apart, both at least."""
HINT = "Ctrl-C saves and stops; the same command goes on."


class Live:
    """Shows on `console` what it is told; use it as a context manager around the training.

    `names_next` is for commands to try at the end, which not every user of this display wants.
    """

    def __init__(
        self,
        console: Console,
        clock: Callable[[], float] = time.monotonic,
        *,
        names_next: bool = True,
    ) -> None:
        self.console, self.clock, self.names_next = console, clock, names_next
        self.course = Course()
        self._per_step = 0.0
        self._note, self._counted, self._guessed = "examining the data", "tokens", "token"
        self._is_training = False
        self._printed = -math.inf, -math.inf  # step and time of the last plain line of progress
        self._lock = threading.Lock()  # never held while rich is called: its own locks come first
        self._region: Region | None = None
        if console.is_interactive:
            kind = "line" if console.options.ascii_only else "dots"
            self._spinner = Spinner(kind, style="cyan")
            self._region = Region(
                console=console,
                get_renderable=self._draw,
                refresh_per_second=N_PER_SECOND,
                transient=True,
            )

    def __enter__(self) -> Self:
        """Begin to draw."""
        if self._region is not None:
            self._region.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Clear the live region; of a run that breaks off, say where it was."""
        if self._region is not None:
            self._region.stop()
        if error is not None and self._is_training:
            self._print(prose(self._progress(), self._width))

    def __call__(self, kind: str, facts: dict[str, Any]) -> None:
        """Hear that something happened. What this display does not know, it does not show."""
        hear = getattr(self, f"_on_{kind}", None)
        if hear is not None:
            hear(facts)

    def _on_report(self, facts: dict[str, Any]) -> None:
        report: Report = facts["report"]
        if self._region is not None:
            show_report(report, self.console)
        else:
            lines = report.lines()[: -1 if report.is_fatal else None]  # a fatal verdict is an error
            self._print([Text(" · ".join(report.paths)), *(Text(f"  {line}") for line in lines)])
        with self._lock:
            self._note = "preparing the data"

    def _on_tokenizer(self, facts: dict[str, Any]) -> None:
        self._set_note(
            f"learning a vocabulary of {facts['n_tokens']:,} tokens from {facts['n_pairs']:,} "
            f"{facts.get('unit', 'pairs')}"
        )

    def _on_counting(self, facts: dict[str, Any]) -> None:
        self._set_note(f"counting the words of {facts['n_texts']:,} texts, to teach with")

    def _on_probe(self, facts: dict[str, Any]) -> None:
        self._set_note(f"trying some steps to learn the speed of this machine ({facts['name']})")

    def _on_plan(self, facts: dict[str, Any]) -> None:
        plan, forecast = facts["plan"], facts["forecast"]
        n_steps, n_before = plan.training.n_steps, getattr(plan, "n_steps_before", 0)
        with self._lock:
            self._per_step = forecast.seconds / (n_steps + n_before)
            self.course = Course(n_steps, self._per_step)
            self._note = "beginning to train"
            self._counted, self._guessed = forecast.counted, forecast.guessed
        self._print(plan_lines(plan, forecast, self._width))

    def _on_first_model(self, facts: dict[str, Any]) -> None:
        self._begin_model(facts)
        number = f"first model {facts['number']} of {facts['n_models']}"
        self._print([Text(), Text(f"{number}: {facts['languages']}", style="bold")])

    def _on_translating(self, facts: dict[str, Any]) -> None:
        with self._lock:
            self._is_training = False
        self._set_note(
            f"the first models translate the pairs ({facts['n_done']:,} of {facts['n_pairs']:,})"
        )

    def _on_last_model(self, facts: dict[str, Any]) -> None:
        self._begin_model(facts)
        text = f"the last model learns from {facts['n_pairs']:,} pairs, old and new"
        self._print([Text(), Text(text, style="bold")])

    def _begin_model(self, facts: dict[str, Any]) -> None:
        with self._lock:
            per_step = self._per_step * facts.get("n_at_once", 1)
            self.course = Course(facts["n_steps"], per_step, facts["n_after"])
            self._is_training, self._note = False, "beginning to train"
            self._printed = -math.inf, -math.inf

    def _on_resume(self, facts: dict[str, Any]) -> None:
        with self._lock:
            self.course.note_resume(facts)
        self._print([Text(f"going on from step {facts['step']:,} of {facts['n_steps']:,}")])

    def _on_step(self, facts: dict[str, Any]) -> None:
        now = self.clock()
        with self._lock:
            self.course.note_step(facts, now)
            self._is_training = True
        if self._region is None:
            step, then = self._printed
            is_far = self.course.step - step >= PLAIN_SHARE * self.course.n_steps
            if is_far and now - then >= PLAIN_SECONDS:
                self._printed = self.course.step, now
                self._print(prose(self._progress(), self._width))

    def _on_skipped(self, facts: dict[str, Any]) -> None:
        loss, norm = facts["loss"], facts["norm"]
        is_finite = math.isfinite(loss) and math.isfinite(norm)
        what = "jumped up" if is_finite else "was not a finite number"
        text = (
            f"step {facts['step']:,} was left out, because its loss or gradient {what} "
            f"(loss {loss:.4g}, gradient norm {norm:.4g}); the weights are as before"
        )
        self._print(prose(text, self._width, style="yellow"))

    def _on_validation(self, facts: dict[str, Any]) -> None:
        with self._lock:
            is_best = self.course.note_validation(facts)
        told = facts.get("told") or f"BLEU {facts['bleu']:.2f}"
        line = Text(f"step {facts['step']:,} · ").append(told, style="bold")
        if "told" not in facts and facts["score"] != facts["bleu"]:
            line.append(f" · score {facts['score']:.2f}")
        line.append(f" · loss {facts['loss']:.3f}")
        if facts.get("seconds") is not None:
            line.append(f" · {describe_time(facts['seconds'])}")
        line.append(" · ").append(self._best(is_best), style="green" if is_best else "dim")
        self._print([line])
        if self._region is None:
            self._print(sample_lines(facts["samples"], indent=4))

    def _on_end(self, facts: dict[str, Any]) -> None:
        with self._lock:
            self._is_training, self._note = False, "scoring what was held out for the test"
            samples, step = self.course.samples, self.course.validated_step
        if self._region is not None and samples:  # they vanish with the live region
            title = Text(f"Samples of step {step:,}", style="bold")
            self._print([Text(), title, *sample_lines(samples), Text()])
        self._print([Text(f"finished at step {facts['step']:,}: {facts['reason']}", style="green")])

    def _on_scores(self, facts: dict[str, Any]) -> None:
        self._set_note("")
        self._print(result_lines(**facts, width=self._width))
        if self.names_next:
            self._print(next_lines(facts["folder"], self.course.samples, self._counted))

    def _set_note(self, note: str) -> None:
        """Say what is being done: on a terminal until the next note, else as a line."""
        with self._lock:
            self._note = note
        if self._region is None and note:
            self._print([Text(note)])

    def _best(self, is_best: bool) -> str:
        """How a score stands among those that are known."""
        course = self.course
        since = "" if course.knows_all else f" since step {course.resumed_step:,}"
        if is_best:
            return f"best{since or ' so far'}"
        # What should be small is scored with its sign changed.
        return f"best{since} is {abs(course.best_score):.2f} at step {course.best_step:,}"

    @property
    def _width(self) -> int | None:
        """How wide a line of prose may be: plain lines are not broken."""
        return None if self._region is None else self.console.width

    def _print(self, lines: Sequence[Text]) -> None:
        for line in lines:  # unbroken, so that paths, commands and signatures can be copied
            self.console.print(line, soft_wrap=True)

    def _progress(self) -> str:
        course = self.course
        left = describe_time(course.time_left(self.clock()))
        return (
            f"step {course.step:,} of {course.n_steps:,} ({course.share:.0%}) · "
            f"epoch {course.epoch + 1} · loss {course.loss:.3f} · "
            f"{course.tokens_per_second:,.0f} {self._counted}/s · "
            f"learning rate {course.rate:.2g} · {left} left"
        )

    def _draw(self) -> RenderableType:
        """The live region; called by rich, also from its own thread."""
        with self._lock:
            if not self._is_training:
                self._spinner.update(text=Text(self._note))
                return self._spinner if self._note else Text()
            return self._draw_progress()

    def _draw_progress(self) -> RenderableType:
        course, now, width = self.course, self.clock(), self.console.width
        bar = Table.grid(padding=(0, 2), expand=True)
        bar.add_column(ratio=1)
        bar.add_column(no_wrap=True)
        where = f"{course.share:4.0%}  step {course.step:,} of {course.n_steps:,}"
        bar.add_row(ProgressBar(max(1, course.n_steps), course.step), Text(where))
        pace = Text.assemble(
            (f"{describe_time(course.time_left(now))} left", "bold"),
            f" · {describe_time(course.time_gone(now))} gone · epoch {course.epoch + 1}",
            f" · {course.tokens_per_second:,.0f} {self._counted}/s",
        )
        loss = Text.assemble("loss ", (f"{course.loss:.3f}", "bold"))
        loss.append(f" nats per {self._guessed}")
        if not self.console.options.ascii_only:
            loss.append(f"  {sparkline(course.losses)}", style="cyan")
        loss.append(f" · learning rate {course.rate:.2g}")
        parts: list[RenderableType] = [Text(), bar, pace, loss]
        if course.samples:
            score = Text.assemble(
                "validation score ",
                (f"{abs(course.score):.2f}", "bold"),
                f" at step {course.validated_step:,}",
            )
            if course.best_step != course.validated_step:
                score.append(f" · {self._best(False)}")
            parts += [score, Text(), *sample_lines(course.samples, width - 1)]
        parts += [Text(HINT, style="dim italic")]
        for part in parts:
            if isinstance(part, Text):
                part.no_wrap, part.overflow = True, "ellipsis"
        return Group(*parts)
