"""`clearhead train`: from the words of a command line to a training run on the screen."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from clearhead.data.which import which_task
from clearhead.errors import ConfigError, InputError, nearest
from clearhead.tasks.verbs import verbs_of

if TYPE_CHECKING:
    from clearhead.training.device import Device

__all__ = ["read_settings", "read_time", "show_training"]

N_SECONDS = {"h": 3600, "m": 60, "s": 1}
INTERRUPTED = 130
"""The exit code of a program that was stopped by Ctrl-C."""


def show_training(
    files: Sequence[Path],
    columns: tuple[str, str] | None,
    *,
    to: Path,
    validation: Sequence[Path],
    test: Sequence[Path],
    size: str | None,
    time: str | None,
    settings: Sequence[str],
    device: "Device",
    task: str | None = None,
    start: Path | None = None,
) -> None:
    """Train on `files`; a run that was asked to stop exits with code 130."""
    seconds = None if time is None else read_time(time)
    changes = read_settings(settings)
    verbs = verbs_of(task := task or which_task(files, columns))
    if size is not None and size not in verbs.sizes():
        raise ConfigError(f"no size {size!r} for the task {task}: {nearest(size, verbs.sizes())}")
    data = verbs.open_data(files, columns)
    if start is not None and not verbs.takes_model:
        raise InputError(
            f"--from {start}: the task {task} begins with random weights; leave it out"
        )
    held_out = [verbs.open_data(each, columns) if each else None for each in (validation, test)]
    more = {} if start is None else {"start": start}

    # These load torch, which takes seconds: a mistyped option is told before.
    from clearhead.cli.live import Live
    from clearhead.training import Interrupted

    console = Console(highlight=False)
    try:
        with Live(console) as live:
            verbs.train(
                data,
                to,
                validation=held_out[0],
                test=held_out[1],
                size=size,
                seconds=seconds,
                settings=changes,
                device=device,
                tell=live,
                **more,
            )
    except Interrupted as stopped:
        console.print(Text(str(stopped)), soft_wrap=True)
        raise SystemExit(INTERRUPTED) from None


def read_time(text: str) -> float:
    """Read the option `--time` as seconds.

    >>> read_time("90s"), read_time("1h30m"), read_time("1.5h")
    (90.0, 5400.0, 5400.0)
    """
    number = r"(\d+(?:\.\d+)?)"
    found = re.fullmatch(
        rf"(?:{number}h)?\s*(?:{number}m)?\s*(?:{number}s)?", text.strip(), flags=re.IGNORECASE
    )
    if found is None or not any(found.groups()):
        raise InputError(
            f"--time {text!r} is not a time: write hours, minutes and seconds with their letters, "
            "such as 90s, 30m, 2h or 1h30m"
        )
    parts = zip(found.groups(default="0"), N_SECONDS.values(), strict=True)
    seconds = sum(float(amount) * unit for amount, unit in parts)
    if not 0 < seconds < math.inf:
        raise InputError(f"--time {text!r} leaves no time to train: give more than 0, such as 30m")
    return seconds


def read_settings(texts: Sequence[str]) -> dict[str, str]:
    """Read the options `--set KEY=VALUE`; what a value means is known by the plan.

    >>> read_settings(["training.lr=0.001", "n_vocabulary=8000"])
    {'training.lr': '0.001', 'n_vocabulary': '8000'}
    """
    settings: dict[str, str] = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not (key and equals and value):
            raise InputError(
                f"--set {text!r} is not KEY=VALUE: name the setting and its value, such as "
                "training.lr=0.001"
            )
        if key in settings:
            raise InputError(
                f"--set gives {key} twice, as {settings[key]} and as {value}: give it once"
            )
        settings[key] = value
    return settings
