"""Tables as they are: rows of cells, whatever they are for, from TSV, CSV, JSON lines and parquet.

Numbers and truth values of records are written as text, so that a label may be any of them.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from clearhead.data.encoding import Encoding, detect_encoding, read_head
from clearhead.data.tables import (
    DELIMITER_NAMES,
    LONE_SURROGATE,
    N_HEAD_ROWS,
    find_delimiter,
    flat_record,
    json_records,
    parquet_records,
    table_rows,
)
from clearhead.errors import InputError

__all__ = ["TABLES", "CellFile", "open_cells"]

TABLES = (".tsv", ".csv", ".jsonl", ".json", ".parquet")
Rows = Iterator[tuple[int, list[str]]]


@dataclass(frozen=True)
class CellFile:
    """A table that can be read again and again; `head` are its first rows."""

    path: Path
    header: tuple[str, ...] | None
    """The names of the columns, if the file says them."""
    head: list[list[str]]
    assumed: tuple[str, ...]
    read: Callable[[], Rows]
    """Every row with its line or record, counted from 1; blank ones, too."""

    @property
    def n_columns(self) -> int:
        """As many as most rows have: a stray tab must not add one."""
        if self.header is not None:
            return len(self.header)
        return Counter(map(len, self.head)).most_common(1)[0][0]

    def column(self, place: int) -> list[str]:
        """The first cells of a column."""
        return [row[place].strip() for row in self.head if place < len(row)]


def open_cells(path: Path, is_header: Callable[[Sequence[str]], bool]) -> CellFile:
    """Open a table; `is_header` says whether a first row names the columns."""
    extension = Path(path.name.lower().removesuffix(".gz")).suffix
    head = read_head(path)
    if head.startswith(b"PAR1"):
        return _open_records(path, parquet_records(path), ("format: parquet",))
    encoding = detect_encoding(path, head)
    text = head.decode(encoding.codec, "replace").removeprefix("\ufeff")
    if extension in (".jsonl", ".json") or (
        extension not in TABLES and text.lstrip().startswith("{")
    ):
        assumed = ("format: JSON lines", encoding.sentence)
        return _open_records(path, lambda: json_records(path, encoding.codec), assumed)
    return _open_table(path, encoding, text, extension, is_header)


def _open_table(
    path: Path,
    encoding: Encoding,
    text: str,
    extension: str,
    is_header: Callable[[Sequence[str]], bool],
) -> CellFile:
    dialect = find_delimiter(text.rpartition("\n")[0] or text, extension)
    if dialect is None:
        raise InputError(
            f"{path} has one column, and two are needed: put a tab between them, or give CSV, "
            "JSON lines or parquet"
        )
    rows = (cells for _, cells in table_rows(path, encoding.codec, dialect))
    head = list(islice((cells for cells in rows if any(map(str.strip, cells))), N_HEAD_ROWS))
    header = tuple(cell.strip() for cell in head[0]) if is_header(head[0]) else None
    body = head[1:] if header else head
    if not body:
        raise InputError(f"{path} holds a header and no rows")

    def read() -> Rows:
        rows = table_rows(path, encoding.codec, dialect)
        if header:
            next(cells for _, cells in rows if any(map(str.strip, cells)))
        yield from rows

    quotes = "quoted cells" if dialect.is_quoted else "quotes are plain characters"
    assumed = (
        f"format: table with a {DELIMITER_NAMES[dialect.delimiter]} between cells, {quotes}",
        encoding.sentence,
        "header: yes, in the first line" if header else "header: none",
    )
    return CellFile(path, header, body, assumed, read)


def _open_records(
    path: Path, records: Callable[[], Iterator[tuple[int, Any]]], assumed: tuple[str, ...]
) -> CellFile:
    head = [flat_record(path, line, record) for line, record in islice(records(), N_HEAD_ROWS)]
    nested = {key for cells in head for key, value in cells.items() if _is_nested(value)}
    keys = dict.fromkeys(key for cells in head for key in cells if key not in nested)

    def read() -> Rows:
        for line, record in records():
            cells = flat_record(path, line, record)
            yield line, [_write(cells.get(key)) for key in keys]

    return CellFile(
        path,
        tuple(keys),
        [[_write(cells.get(key)) for key in keys] for cells in head],
        assumed,
        read,
    )


def _is_nested(value: Any) -> bool:
    return isinstance(value, list | dict)


def _write(value: Any) -> str:
    """A value of a record as text.

    >>> [_write(value) for value in ("a", 3, 3.0, 0.5, True, None)]
    ['a', '3', '3', '0.5', 'true', '']
    """
    if isinstance(value, str):
        return value if value.isascii() else LONE_SURROGATE.sub("\ufffd", value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
