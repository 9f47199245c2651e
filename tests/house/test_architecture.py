"""The rooms are stacked: a module imports from its own room and from rooms below it, no other.

Imports inside functions and under `TYPE_CHECKING` count too. The package's own `__init__` and
`__main__` stand above all rooms.
"""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

from tests.house.tree import PACKAGE, Module, plant, read_modules, refuse

ROOMS = (  # lowest first
    "errors",
    "shapes",
    "config",
    "text",
    "media",
    "data",
    "vectors",
    "layers",
    "models",
    "decoding",
    "training",
    "engine",
    "convert",
    "observe",
    "tasks",
    "cli",
    "server",
    "web",
)
SHARED = ("causal", "interface")  # what models of a kind have in common
NOT_ROOMS = ("__init__.py", "__main__.py", "__pycache__", "py.typed")


class Import(NamedTuple):
    """One module of the package that another one imports, and where."""

    importer: Module
    line: int
    target: str

    def __str__(self) -> str:
        """Place and target, as an error message begins."""
        return f"{self.importer.place}:{self.line} imports {self.target}"


def find_imports(importer: Module, known: dict[str, Module]) -> Iterator[Import]:
    """Every module of the package that `importer` names, wherever the import stands."""
    for node in ast.walk(importer.tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            # `from a.b import c` names the module a.b.c, or the name c of the module a.b.
            target = name if name in known else name.rpartition(".")[0]
            if target in known:
                yield Import(importer, node.lineno, target)


def relative_imports(package: Path) -> list[str]:
    """Imports that begin with a dot."""
    return [
        f"{module.place}:{node.lineno} imports from {'.' * node.level}{node.module or ''}"
        for module in read_modules(package).values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and node.level
    ]


def upward_imports(package: Path) -> list[str]:
    """Imports from a room that stands higher than the importer's own."""
    known = read_modules(package)
    return [
        f"{found}, but {found.importer.room} is below {known[found.target].room}"
        for module in known.values()
        if module.room in ROOMS
        for found in find_imports(module, known)
        if known[found.target].room is not None
        if _height(known[found.target].room) > _height(module.room)
    ]


def _height(room: str | None) -> int:
    return ROOMS.index(room) if room in ROOMS else len(ROOMS)


def import_cycle(package: Path) -> str | None:
    """A ring of modules that import each other, if there is one.

    Python runs the `__init__` of every package on the way to a module, so these are imports as
    well. Only the packages in which the importer itself lies are left out: they run already.
    """
    known = read_modules(package)
    graph: dict[str, set[str]] = {}
    for module in known.values():
        targets = {found.target for found in find_imports(module, known)}
        on_the_way = {way for target in targets for way in _packages_of(target)}
        graph[module.name] = targets | (on_the_way - {module.name} - _packages_of(module.name))
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " → ".join(reversed(error.args[1]))
    return None


def _packages_of(name: str) -> set[str]:
    """The packages in which a module lies.

    >>> sorted(_packages_of("a.b.c"))
    ['a', 'a.b']
    """
    parts = name.split(".")
    return {".".join(parts[:end]) for end in range(1, len(parts))}


def unknown_places(package: Path) -> list[str]:
    """What lies directly under the package and is no room."""
    return [
        path.name
        for path in sorted(package.iterdir())
        if path.name not in NOT_ROOMS
        if path.name.removesuffix(".py") not in ROOMS
    ]


def models_that_import_models(package: Path) -> list[str]:
    """Models that lean on another model. What they share is a brick, or stands in `SHARED`."""
    known = read_modules(package)
    models = f"{package.name}.models"
    return [
        str(found)
        for module in known.values()
        if module.name.startswith(f"{models}.")
        for found in find_imports(module, known)
        if found.target.startswith(f"{models}.")
        if found.target not in [f"{models}.{name}" for name in SHARED]
    ]


def test_imports_point_down() -> None:
    refuse(upward_imports(PACKAGE))


def test_no_relative_imports() -> None:
    refuse(relative_imports(PACKAGE))


def test_no_import_cycles() -> None:
    cycle = import_cycle(PACKAGE)
    assert cycle is None, f"these modules import each other: {cycle}"


def test_every_place_is_a_known_room() -> None:
    refuse(unknown_places(PACKAGE))


def test_no_model_imports_another() -> None:
    refuse(models_that_import_models(PACKAGE))


def test_an_upward_import_is_found(tmp_path: Path) -> None:
    package = plant(
        tmp_path,
        {
            "layers/tap.py": "def f():\n    from planted.models.gpt import GPT\n",
            "models/gpt.py": "import planted.layers.tap\nfrom planted.config import Config\n",
            "config.py": "from planted import models\n",
        },
    )
    assert upward_imports(package) == [
        "config.py:1 imports planted.models, but config is below models",
        "layers/tap.py:2 imports planted.models.gpt, but layers is below models",
    ]


def test_the_packages_own_files_stand_above_all_rooms(tmp_path: Path) -> None:
    package = plant(
        tmp_path,
        {
            "__init__.py": "from planted.tasks import load\n",
            "__main__.py": "from planted.cli import main\n",
            "tasks.py": "",
            "cli.py": "from planted import __version__\n",
        },
    )
    assert upward_imports(package) == []
    assert import_cycle(package) is None


def test_a_relative_import_is_found(tmp_path: Path) -> None:
    package = plant(tmp_path, {"layers/tap.py": "from . import cache\nfrom ..config import Config"})
    assert relative_imports(package) == [
        "layers/tap.py:1 imports from .",
        "layers/tap.py:2 imports from ..config",
    ]


def test_a_cycle_inside_a_room_is_found(tmp_path: Path) -> None:
    package = plant(
        tmp_path,
        {
            "layers/a.py": "import planted.layers.b",
            "layers/b.py": "def f():\n    from planted.layers import c",
            "layers/c.py": "from planted.layers.a import A",
        },
    )
    cycle = import_cycle(package)
    assert cycle is not None
    ring = cycle.split(" → ")
    assert ring[0] == ring[-1]
    start = ring.index("planted.layers.a")
    assert (ring[:-1] * 2)[start : start + 3] == [f"planted.layers.{name}" for name in "abc"]


def test_a_cycle_through_an_init_is_found(tmp_path: Path) -> None:
    files = {"layers/__init__.py": "from planted.layers.tap import Tap", "layers/tap.py": ""}
    assert import_cycle(plant(tmp_path, files)) is None
    own = files | {"layers/tap.py": "from planted.layers import Tap"}
    assert import_cycle(plant(tmp_path, own)) is not None
    across = {
        "layers/__init__.py": "import planted.shapes.key",
        "shapes/key.py": "import planted.layers.tap",
        "layers/tap.py": "",
    }
    assert import_cycle(plant(tmp_path / "across", across)) is not None


def test_an_unknown_room_is_found(tmp_path: Path) -> None:
    package = plant(
        tmp_path, {"__init__.py": "", "config.py": "", "extras/a.py": "", "odd.txt": ""}
    )
    assert unknown_places(package) == ["extras", "odd.txt"]


def test_a_model_that_imports_another_is_found(tmp_path: Path) -> None:
    files = {
        "models/__init__.py": "from planted.models.gpt import GPT",
        "models/interface.py": "",
        "models/gpt.py": "from planted.models.interface import Model",
        "models/bert.py": "from planted.models.gpt import GPT",
    }
    assert models_that_import_models(plant(tmp_path, files)) == [
        "models/bert.py:1 imports planted.models.gpt"
    ]
