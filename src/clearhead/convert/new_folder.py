"""Folders and files that are written whole or not at all."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clearhead.errors import InputError

__all__ = ["check_new", "check_new_file", "new_file", "new_folder"]


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Give a folder under another name; it gets its own when the block ends without an error.

    A folder that is there already must be empty.
    """
    check_new(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}") from None
    try:
        yield part
        part.chmod(0o755)  # the temporary one was for us alone
        part.replace(folder)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """The same for a file, which must not be there."""
    check_new_file(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}-"))
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
    try:
        yield folder / path.name
        (folder / path.name).replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_new(folder: Path) -> None:
    """Refuse a place that holds something."""
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"{folder} holds something already: name a folder that is new or empty")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: name a folder that is new or empty")


def check_new_file(path: Path) -> None:
    """Refuse a name that is taken."""
    if path.exists():
        raise InputError(f"{path} is there already: name a file that is new")
