"""A model of code: the Python standard library, with nothing set by hand, beside gzip and xz."""

import shutil
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path

from measure import Figure

from clearhead.data.texts import Texts
from clearhead.tasks.generate.train import train_generator

__all__ = ["FIGURES"]

LEFT_OUT = {"site-packages", "test", "tests", "idlelib", "__pycache__"}


def _code(data: Path, quick: bool) -> list[Figure]:
    """Train on this Python's own library; the data is not needed."""
    library = Path(sysconfig.get_paths()["stdlib"])
    with tempfile.TemporaryDirectory() as name:
        code, model = Path(name) / "code", Path(name) / "model"
        for path in sorted(library.rglob("*.py")):
            here = path.relative_to(library)
            if not LEFT_OUT & set(here.parts):
                (code / here.parent).mkdir(parents=True, exist_ok=True)
                shutil.copy(path, code / here)
        found = train_generator(Texts([code]), model, seconds=60 if quick else None)
    scores = {score["name"]: score["value"] for score in found.card["scores"]}
    return [
        *(
            Figure(name, value, "bits")
            for name, value in scores.items()
            if name.startswith("bits per byte")
        ),
        Figure("training", found.card["training"]["seconds"] / 60, "minutes"),
        Figure("parameters", found.card["n_parameters"] / 1e6, "millions"),
    ]


FIGURES: dict[str, Callable[[Path, bool], list[Figure]]] = {"code": _code}
