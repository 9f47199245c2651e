"""Files of sentence pairs: what a file holds is told from its content, and said to the user."""

from collections.abc import Sequence
from pathlib import Path

from clearhead.data.alignment import open_aligned
from clearhead.data.catalogues import MO_MAGIC, open_mo, open_po, open_tmx
from clearhead.data.encoding import detect_encoding, read_head
from clearhead.data.pairs import PairFile
from clearhead.data.tables import find_delimiter, open_json_lines, open_parquet, open_table
from clearhead.errors import InputError

__all__ = ["open_pairs"]

TABLES = (".tsv", ".csv", ".jsonl", ".json", ".tmx", ".po", ".pot", ".mo", ".parquet")


def open_pairs(paths: Sequence[Path], columns: tuple[str, str] | None = None) -> PairFile:
    """Open one file of pairs, or two text files whose lines belong together.

    `columns` states the source and the target, by name or by number from 1; without it they are
    chosen from the header or the content.
    """
    paths = [Path(path) for path in paths]
    for path in paths:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise InputError(f"{path} is a stream: the pairs are read more than once, give a file")
    if len(paths) == 1:
        return _open_one(paths[0], columns)
    if len(paths) != 2:
        raise InputError(
            f"{len(paths)} files were given: give one file of pairs, or two text files whose lines "
            "belong together"
        )
    tables = [path.name for path in paths if _extension(path) in TABLES]
    if tables:
        raise InputError(
            f"{tables[0]} holds pairs by itself: give one such file at a time, or join them first; "
            "two files are read as source and target, line by line"
        )
    if paths[0].resolve() == paths[1].resolve():
        raise InputError(f"{paths[0]} was given twice: give the source file and the target file")
    return open_aligned(paths, columns)


def _extension(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _open_one(path: Path, columns: tuple[str, str] | None) -> PairFile:
    """Bytes that say what they are decide first, then the extension, then the text."""
    head, extension = read_head(path), _extension(path)
    if head.startswith(MO_MAGIC):
        return open_mo(path, columns)
    if head.startswith(b"PAR1"):
        return open_parquet(path, columns)
    encoding = detect_encoding(path, head)
    text = head.decode(encoding.codec, "replace").removeprefix("\ufeff")
    start = text.lstrip()[:2000]
    is_open = extension not in TABLES  # a table may begin with any text, `{0} files` say
    if extension == ".tmx" or (is_open and "<tmx" in start):
        return open_tmx(path, columns)
    if extension in (".po", ".pot") or (is_open and "\nmsgid " in f"\n{start}"):
        return open_po(path, encoding, columns)
    if extension in (".jsonl", ".json") or (is_open and start.startswith("{")):
        return open_json_lines(path, encoding, columns)
    dialect = find_delimiter(text.rpartition("\n")[0] or text, extension)
    if dialect is None:
        hint = (
            "" if extension in TABLES else " (TSV, CSV, JSONL, TMX, PO, MO and parquet are known)"
        )
        raise InputError(
            f"{path} has one column{hint}, and a pair needs two: put a tab between source and "
            "target, or give two files that belong together line by line"
        )
    return open_table(path, encoding, columns, dialect)
