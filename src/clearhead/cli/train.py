"""`clearhead train`: from the words of a command line to a training run on the screen."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from clearhead.data import PairFile, open_pairs
from clearhead.data.texts import Texts
from clearhead.data.which import which_task
from clearhead.errors import ConfigError, InputError, nearest

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
) -> None:
    """Train on `files`; a run that was asked to stop exits with code 130."""
    seconds = None if time is None else read_time(time)
    changes = read_settings(settings)
    given, held_out = _open_all(files, columns, (validation, test), task)

    # These load torch, which takes seconds: a mistyped option is told before.
    from clearhead.cli.live import Live
    from clearhead.config import PRESETS
    from clearhead.tasks.generate.plan import SIZES
    from clearhead.tasks.generate.train import train_generator
    from clearhead.tasks.train import train
    from clearhead.training import Interrupted

    sizes = SIZES if isinstance(given, Texts) else PRESETS
    if size is not None and size not in sizes:
        raise ConfigError(f"no size {size!r}: {nearest(size, sizes)}")
    console = Console(highlight=False)
    run: Any = train_generator if isinstance(given, Texts) else train
    try:
        with Live(console) as live:
            run(
                given,
                to,
                validation=held_out[0],
                test=held_out[1],
                size=size,
                seconds=seconds,
                settings=changes,
                device=device,
                tell=live,
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


def _open_all(
    files: Sequence[Path],
    columns: tuple[str, str] | None,
    held_out: Sequence[Sequence[Path]],
    task: str | None,
) -> tuple[PairFile | Texts, list[PairFile | Texts | None]]:
    """The data, as the task that is asked for reads it, or as what it is."""
    task = task or which_task(files, columns)

    def read(paths: Sequence[Path]) -> PairFile | Texts:
        return Texts(paths) if task == "generate" else open_pairs(paths, columns)

    return read(files), [read(paths) if paths else None for paths in held_out]
