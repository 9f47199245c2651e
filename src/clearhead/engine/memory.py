"""What was chosen for models of a shape on this machine; known without loading one of them."""

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

__all__ = ["Choice", "Wanted", "n_cpus", "recall", "remember"]

Wanted = Literal["auto", "float32", "bfloat16", "int8"]


@dataclass(frozen=True)
class Choice:
    """How a model decodes here, and why."""

    precision: str
    n_threads: int
    kernels: str
    """For which instructions; `torch` where the native engine does not serve."""
    reason: str

    def __str__(self) -> str:
        threads = f"{self.n_threads} thread{'s' * (self.n_threads != 1)}"
        return f"{self.precision} on {threads}, {self.kernels}: {self.reason}"


def recall(config: Mapping[str, Any], kernels: str, wanted: str = "auto") -> Choice | None:
    """The choice for a model with this configuration, if one was made."""
    try:
        return Choice(**_all()[_key(config, kernels, wanted)])  # type: ignore[arg-type]
    except (KeyError, TypeError):
        return None


def remember(choice: Choice, config: Mapping[str, Any], kernels: str, wanted: str) -> None:
    """Keep a choice; where nothing can be written, it is made again next time."""
    path = _path()
    found = _all() | {_key(config, kernels, wanted): asdict(choice)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(found, indent=1), "utf-8")
        temporary.replace(path)
    except OSError:
        pass


def n_cpus() -> int:
    """How many processors this program may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def _key(config: Mapping[str, Any], kernels: str, wanted: str) -> str:
    flat = {**config, **config.get("block", {})}
    names = ("tokens", "layers", "heads", "d_model", "d_ff", "d_head")
    sizes = [f"{name}={flat[name]}" for name in sorted(flat) if name.endswith(names)]
    return f"{_processor()}, {n_cpus()} cores, {kernels}, {wanted}, {', '.join(sizes)}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _path() -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "clearhead" / "engine.json"


def _all() -> dict[str, dict[str, object]]:
    try:
        found = json.loads(_path().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
