"""The source tree as text and syntax, read without importing it."""

import ast
from pathlib import Path
from typing import NamedTuple

__all__ = ["PACKAGE", "ROOT", "Module", "plant", "read_modules", "refuse"]

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "clearhead"


class Module(NamedTuple):
    """One file of a package: `a.b` is `a/b.py`, and a package is its `__init__`."""

    name: str
    path: Path
    place: str
    """The path inside the package, for messages."""
    text: str
    tree: ast.Module

    @property
    def room(self) -> str | None:
        """The folder or file directly under the package; the package's own file has none."""
        parts = self.name.split(".")
        return parts[1] if len(parts) > 1 else None


def read_modules(package: Path) -> dict[str, Module]:
    """Every module below `package`, by name."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package)
        parts = [package.name, *inside.with_suffix("").parts]
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text(encoding="utf-8")
        found[name] = Module(name, path, inside.as_posix(), text, ast.parse(text))
    return found


def plant(folder: Path, files: dict[str, str]) -> Path:
    """Write a small package of these files into `folder`, to see whether a check bites."""
    package = folder / "planted"
    for place, text in files.items():
        path = package / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        for folder_of_modules in (package, path.parent):
            (folder_of_modules / "__init__.py").touch()
    return package


def refuse(found: list[str]) -> None:
    """Fail when something was found, and show all of it."""
    assert not found, "\n" + "\n".join(found)
