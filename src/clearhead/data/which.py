"""The data says which task it is for: pairs are translated, texts are continued or classified.

Pairs whose second side says the first in short are for summarising; questions on texts have fields
of their own; and pictures are pictures.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, get_args

from clearhead.data.cells import TABLES as CELLS
from clearhead.data.encoding import detect_encoding, read_head
from clearhead.data.labelled import looks_like_labels
from clearhead.data.picture_files import looks_like_pictures
from clearhead.data.question_files import looks_like_questions
from clearhead.data.readers import TABLES
from clearhead.data.summaries import looks_like_summaries
from clearhead.errors import InputError

__all__ = ["TASKS", "Task", "which_task"]

Task = Literal["translate", "generate", "classify", "summarise", "answer", "fill", "images"]
TASKS: Final[tuple[Task, ...]] = get_args(Task)
N_LOOKED_AT = 200


def which_task(paths: Sequence[Path], columns: tuple[str, str] | None = None) -> Task:
    """What such files are for.

    Columns, tables and catalogues, and two text files whose lines belong together are pairs. A
    folder, or a text file without columns, is text, and text is continued; filling gaps in it must
    be asked for. A column of texts beside one of few values are texts with labels. Questions on
    texts are known by their fields. A folder of pictures, an .npz and idx files are pictures with
    labels.
    """
    if looks_like_pictures(paths, columns):
        return "images"
    if looks_like_questions(paths, columns):
        return "answer"
    if _hold_cells(paths) and looks_like_labels(paths, columns):
        return "classify"
    if looks_like_summaries(paths, columns):
        return "summarise"
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


def _hold_cells(paths: Sequence[Path]) -> bool:
    """Whether all are files with columns, and no catalogues."""
    return all(
        path.is_file() and (path.name.removesuffix(".gz").endswith(CELLS) or _is_tabbed(path))
        for path in paths
    )


def _is_tabbed(path: Path) -> bool:
    if _are_tables([path]):  # a catalogue
        return False
    try:
        return _has_columns(path)
    except InputError:
        return False


def _has_columns(path: Path) -> bool:
    """Whether nearly every line has the same number of tabs; commas are found in any text."""
    head = read_head(path)
    text = head.decode(detect_encoding(path, head).codec, "replace")
    counts = [line.count("\t") for line in text.splitlines()[:N_LOOKED_AT] if line.strip()]
    usual = max(set(counts), key=counts.count, default=0)
    return usual > 0 and counts.count(usual) >= 0.9 * len(counts)


def _are_tables(paths: Sequence[Path]) -> bool:
    return any(path.name.removesuffix(".gz").endswith(TABLES) for path in paths)
