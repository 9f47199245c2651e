"""Public names: what a module offers, it says; what it does not say, no other module uses.

The rule, for every module of the package but `__main__`, which is a script:

- it has a docstring and a literal `__all__`, sorted as ruff's RUF022 sorts it;
- every name in `__all__` exists;
- every class and function at the top of the module is in `__all__`, or begins with an underscore;
- every other name at the top (a constant, a type alias) is in `__all__` as soon as another module
  of the package uses it, and may stay out of it as long as none does;
- so no module takes a name from another one that is not in the other one's `__all__`.

The verbs of the command line (`@main.command()`) are reached by their command, never by their
Python name, and need not be listed.
"""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.tree import PACKAGE, ROOT, Module, plant, read_modules, refuse

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
NAMELESS = {"common", "helper", "helpers", "misc", "util", "utils"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def listed_names(module: Module) -> list[str] | None:
    """What `__all__` says, or None when there is none."""
    for node in module.tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                return list(ast.literal_eval(value))
            case ast.AnnAssign(target=ast.Name(id="__all__"), value=ast.expr() as value):
                return list(ast.literal_eval(value))
    return None


def sort_key(name: str) -> tuple[int, list[tuple[int, str]]]:
    """Order names as ruff does: CONSTANTS, then Classes, then the rest; numbers by their value."""
    kind = 0 if len(name) > 1 and name == name.upper() else 1 if name[0].isupper() else 2
    parts = re.split(r"(\d+)", name)
    return kind, [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def without_all(package: Path) -> list[str]:
    """Modules that do not say what they offer."""
    return [m.place for m in _importable(package) if listed_names(m) is None]


def unsorted_all(package: Path) -> list[str]:
    """Modules whose `__all__` is out of order, with the right order."""
    found = []
    for module in _importable(package):
        names = listed_names(module) or []
        if names != sorted(set(names), key=sort_key):
            found.append(f"{module.place}: {sorted(set(names), key=sort_key)}")
    return found


def unlisted_definitions(package: Path) -> list[str]:
    """Public classes and functions that are missing from `__all__`."""
    return [
        f"{module.place}:{node.lineno} {node.name}: list it in __all__, or underscore it"
        for module in _importable(package)
        for node in module.tree.body
        if isinstance(node, ast.ClassDef | Function)
        if not node.name.startswith("_") and not _is_verb(node)
        if node.name not in (listed_names(module) or [])
    ]


def unlisted_uses(package: Path) -> list[str]:
    """Names that a module takes from another one, which does not list them."""
    known = read_modules(package)
    return [
        f"{user.place}:{line} uses {name}, which is not in __all__ of {source}"
        for user in known.values()
        for line, source, name in _uses(user, known)
        if name not in (listed_names(known[source]) or [])
    ]


def _importable(package: Path) -> list[Module]:
    return [m for m in read_modules(package).values() if m.path.name != "__main__.py"]


def _is_verb(node: ast.stmt) -> bool:
    decorators = node.decorator_list if isinstance(node, Function) else []
    return any(
        isinstance(decorator, ast.Call)
        and isinstance(decorator.func, ast.Attribute)
        and decorator.func.attr == "command"
        for decorator in decorators
    )


def _uses(user: Module, known: dict[str, Module]) -> Iterator[tuple[int, str, str]]:
    """(line, module, name) for `from module import name` and for `module.name`."""
    modules = {}
    for node in ast.walk(user.tree):
        if isinstance(node, ast.ImportFrom) and node.module in known:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if full in known:
                    modules[alias.asname or alias.name] = full
                else:
                    yield node.lineno, node.module, alias.name
    for node in ast.walk(user.tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in modules:
                yield node.lineno, modules[name], attr


def long_functions(package: Path) -> list[str]:
    """Functions that do not fit on a screen."""
    return [
        f"{module.place}:{node.lineno} {node.name} has {_n_lines(node)} lines"
        for module in read_modules(package).values()
        for node in ast.walk(module.tree)
        if isinstance(node, Function) and _n_lines(node) > MAX_FUNCTION_LINES
    ]


def _n_lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def long_files(package: Path) -> list[str]:
    """Files that are two files."""
    lengths = {m.place: len(m.text.splitlines()) for m in read_modules(package).values()}
    return [f"{place} has {n} lines" for place, n in lengths.items() if n > MAX_FILE_LINES]


def nameless_files(folder: Path) -> list[str]:
    """Files and folders whose name does not say what is in them."""
    paths = sorted({part for path in folder.rglob("*.py") for part in (path, path.parent)})
    return [path.relative_to(folder).as_posix() for path in paths if path.stem in NAMELESS]


def test_every_module_says_what_it_offers() -> None:
    refuse(without_all(PACKAGE))


def test_all_is_sorted() -> None:
    refuse(unsorted_all(PACKAGE))


def test_public_classes_and_functions_are_listed() -> None:
    refuse(unlisted_definitions(PACKAGE))


def test_modules_use_only_listed_names_of_others() -> None:
    refuse(unlisted_uses(PACKAGE))


@pytest.mark.parametrize("name", [m.name for m in _importable(PACKAGE)])
def test_every_listed_name_exists(name: str) -> None:
    module = importlib.import_module(name)
    refuse([entry for entry in module.__all__ if not hasattr(module, entry)])


def test_every_module_has_a_docstring() -> None:
    modules = read_modules(PACKAGE).values()
    refuse([m.place for m in modules if not ast.get_docstring(m.tree)])


def test_files_and_functions_are_short() -> None:
    refuse(long_files(PACKAGE))
    refuse(long_functions(PACKAGE))


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks"])
def test_file_names_say_what_is_in_them(folder: str) -> None:
    refuse(nameless_files(ROOT / folder))


def test_our_order_is_ruffs_order(tmp_path: Path) -> None:
    names = ["b", "a10", "a9", "A", "RMSNorm", "LayerNorm", "KeyValue", "KeysValues", "T5", "BPE"]
    names += ["_A", "__version__", "MAX_1", "points", "load"]
    path = tmp_path / "sorted_names.py"
    path.write_text(f"__all__ = {sorted(names, key=sort_key)!r}\n", encoding="utf-8")
    ruff = Path(sys.executable).with_name("ruff")
    command = [str(ruff), "check", "--isolated", "--no-cache", "--select", "RUF022", str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def test_broken_rules_are_found(tmp_path: Path) -> None:
    package = plant(
        tmp_path,
        {
            "a.py": "class B: ...\ndef f(): ...\ndef _g(): ...\nC = 1\nD = 2\n__all__ = ['f', 'X']",
            "b.py": "from planted import a\nfrom planted.a import C, f\na._g()\n__all__ = []",
            "c.py": "@main.command()\ndef verb(): ...\n",
            "utils.py": "__all__ = []\ndef _long():\n" + "    ...\n" * 401,
        },
    )
    assert without_all(package) == ["__init__.py", "c.py"]
    assert unsorted_all(package) == ["a.py: ['X', 'f']"]
    assert unlisted_definitions(package) == ["a.py:1 B: list it in __all__, or underscore it"]
    assert unlisted_uses(package) == [
        "b.py:2 uses C, which is not in __all__ of planted.a",
        "b.py:3 uses _g, which is not in __all__ of planted.a",
    ]
    assert long_files(package) == ["utils.py has 403 lines"]
    assert long_functions(package) == ["utils.py:2 _long has 402 lines"]
    assert nameless_files(package) == ["utils.py"]
