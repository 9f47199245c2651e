"""The data says which task it is for: pairs, plain texts, or pictures with labels."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from clearhead.data.encoding import detect_encoding, read_head
from clearhead.data.picture_files import looks_like_pictures
from clearhead.data.readers import TABLES

__all__ = ["TASKS", "Task", "which_task"]

Task = Literal["translate", "generate", "images"]
TASKS: Final[tuple[Task, ...]] = ("translate", "generate", "images")
N_LOOKED_AT = 200


def which_task(paths: Sequence[Path], columns: tuple[str, str] | None = None) -> Task:
    """What such files are for.

    Columns, tables and catalogues, and two text files whose lines belong together are pairs. A
    folder, or a text file without columns, is text. A folder of pictures, an .npz and idx files are
    pictures with labels.
    """
    if looks_like_pictures(paths, columns):
        return "images"
    if columns is not None or len(paths) != 1:
        is_folder = any(path.is_dir() for path in paths)
        return (
            "generate" if is_folder or (len(paths) > 2 and not _are_tables(paths)) else "translate"
        )
    (path,) = paths
    if path.is_dir():
        return "generate"
    if _are_tables(paths) or not path.exists():
        return "translate"
    return "translate" if _has_columns(path) else "generate"


def _has_columns(path: Path) -> bool:
    """Whether nearly every line has the same number of tabs; commas are found in any text."""
    head = read_head(path)
    text = head.decode(detect_encoding(path, head).codec, "replace")
    counts = [line.count("\t") for line in text.splitlines()[:N_LOOKED_AT] if line.strip()]
    usual = max(set(counts), key=counts.count, default=0)
    return usual > 0 and counts.count(usual) >= 0.9 * len(counts)


def _are_tables(paths: Sequence[Path]) -> bool:
    return any(path.name.removesuffix(".gz").endswith(TABLES) for path in paths)
