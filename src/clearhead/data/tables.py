"""Tables of pairs: tab-separated, comma-separated, JSON lines, and parquet."""

import csv
import importlib
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from clearhead.data.columns import SENTENCES, Sides, choose_columns, is_header, is_identifier
from clearhead.data.encoding import Encoding, open_text, read_lines
from clearhead.data.pairs import Pair, PairFile, Tally
from clearhead.errors import InputError

__all__ = [
    "DELIMITER_NAMES",
    "LONE_SURROGATE",
    "N_HEAD_ROWS",
    "Dialect",
    "find_delimiter",
    "flat_record",
    "json_records",
    "open_json_lines",
    "open_parquet",
    "open_table",
    "parquet_records",
    "table_rows",
]

N_HEAD_ROWS = 1000
MAX_CELL = 1_000_000
DELIMITER_NAMES = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Dialect(NamedTuple):
    """How the cells of a table are told apart."""

    delimiter: str
    is_quoted: bool


def open_table(
    path: Path,
    encoding: Encoding,
    columns: tuple[str, str] | None,
    dialect: Dialect,
    sides: Sides = SENTENCES,
) -> PairFile:
    """Open a TSV or CSV file."""
    rows = (cells for _, cells in table_rows(path, encoding.codec, dialect))
    head = list(islice((cells for cells in rows if any(map(str.strip, cells))), N_HEAD_ROWS))
    header = head[0] if is_header(head[0], columns, sides) else None
    body = head[1:] if header else head
    if not body:
        raise InputError(f"{path} holds a header and no rows: there is no sentence pair in it")
    choice = choose_columns(header, columns, body, path, sides)
    n_columns = Counter(map(len, body)).most_common(1)[0][0]

    def read(tally: Tally) -> Iterator[Pair]:
        rows = table_rows(path, encoding.codec, dialect)
        if header:
            next(cells for _, cells in rows if any(map(str.strip, cells)))
        for line, cells in rows:
            if len(cells) != n_columns and (len(cells) > 1 or cells[0].strip()):
                tally.add("ragged", line)
            source = cells[choice.source] if choice.source < len(cells) else ""
            target = cells[choice.target] if choice.target < len(cells) else ""
            yield Pair(line, source, target)

    quotes = "quoted cells" if dialect.is_quoted else "quotes are plain characters"
    assumed = (
        f"format: table with a {DELIMITER_NAMES[dialect.delimiter]} between cells, {quotes}",
        encoding.sentence,
        "header: yes, in the first line" if header else "header: none",
        choice.sentence,
    )
    return PairFile((path,), choice.names, assumed, read)


def table_rows(path: Path, codec: str, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table, each with the line on which it begins."""
    if not dialect.is_quoted:
        for line, text in enumerate(read_lines(path, codec), 1):
            yield line, text.split(dialect.delimiter)
        return
    csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))
    with open_text(path, codec, newline="") as file:
        reader = csv.reader(file, delimiter=dialect.delimiter, strict=True)
        line = 1
        try:
            for cells in reader:
                yield line, cells or [""]
                line = reader.line_num + 1
        except csv.Error as error:
            raise InputError(
                f"{path} has broken quotes in the row that begins on line {line:,} ({error}): "
                "double each quotation mark inside a quoted cell"
            ) from None


def find_delimiter(head: str, extension: str) -> Dialect | None:
    r"""What stands between the cells of a table, by its first lines; None if nothing does.

    >>> find_delimiter("a;b, c\nd;e\n", ".csv")
    Dialect(delimiter=';', is_quoted=True)
    >>> find_delimiter("Yes, it is.\nNo.\n", ".txt") is None
    True
    """
    lines = [line for line in head.split("\n") if line.strip()][:N_HEAD_ROWS]
    if extension != ".csv" and sum("\t" in line for line in lines) > len(lines) / 2:
        return Dialect("\t", _has_quoted_cells(lines))
    # Prose has commas too: without the extension, nearly all rows must have as many cells.
    needed = 0.5 if extension == ".csv" else 0.95
    regularity = {mark: _regularity(lines, mark) for mark in ",;\t|"}
    best = max(regularity, key=lambda mark: regularity[mark])
    if regularity[best] <= needed:
        return None
    return Dialect(best, best != "\t" or _has_quoted_cells(lines))


def _regularity(lines: Sequence[str], delimiter: str) -> float:
    """The share of rows that have the most usual number of cells, if that is two or more."""
    try:
        rows = list(csv.reader(lines, delimiter=delimiter))
    except csv.Error:
        return 0.0
    n_cells, n_rows = Counter(map(len, rows)).most_common(1)[0]
    return n_rows / len(rows) if n_cells > 1 else 0.0


def _has_quoted_cells(lines: Sequence[str]) -> bool:
    """Whether a tab-separated file has quoted cells, with quotes doubled inside them."""
    is_certain = False
    for cell in (cell for line in lines for cell in line.rstrip("\r").split("\t")):
        if '"' not in cell:
            continue
        inside = cell[1:-1]
        if not (len(cell) > 1 and cell[0] == cell[-1] == '"') or '"' in inside.replace('""', ""):
            return False
        is_certain |= '""' in inside
    return is_certain


def open_json_lines(
    path: Path, encoding: Encoding, columns: tuple[str, str] | None, sides: Sides = SENTENCES
) -> PairFile:
    """Open a file with one JSON object per line, nested under `translation` or not."""
    records = partial(json_records, path, encoding.codec)
    return _open_records(path, records, columns, encoding, sides)


def json_records(path: Path, codec: str) -> Iterator[tuple[int, Any]]:
    """What each line holds, with its number."""
    for line, text in enumerate(read_lines(path, codec), 1):
        if not text.strip():
            continue
        if text.strip() in "{[" or text.lstrip().startswith("[{"):
            raise InputError(
                f"{path} is one JSON document: write each pair on a line of its own (JSONL)"
            )
        try:
            yield line, json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(f"line {line:,} of {path} is not JSON: {error.msg}") from None
        except RecursionError:
            raise InputError(f"line {line:,} of {path} is JSON nested too deeply") from None


def open_parquet(path: Path, columns: tuple[str, str] | None, sides: Sides = SENTENCES) -> PairFile:
    """Open a parquet file, if pyarrow is installed."""
    return _open_records(path, parquet_records(path), columns, None, sides)


def parquet_records(path: Path) -> Callable[[], Iterator[tuple[int, Any]]]:
    """What yields the rows of a parquet file, each with its number."""
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise InputError(
            f"{path} is parquet, which needs the package pyarrow: install it (pip install pyarrow) "
            "or export the pairs as JSONL"
        ) from None

    def records() -> Iterator[tuple[int, Any]]:
        line = 0
        for batch in parquet.ParquetFile(path).iter_batches():
            for record in batch.to_pylist():
                line += 1
                yield line, record

    return records


def _open_records(
    path: Path,
    records: Callable[[], Iterator[tuple[int, Any]]],
    columns: tuple[str, str] | None,
    encoding: Encoding | None,
    sides: Sides,
) -> PairFile:
    """Open what yields one mapping per pair."""
    head = [flat_record(path, line, record) for line, record in islice(records(), N_HEAD_ROWS)]
    lists = {key for cells in head for key in cells if sides.joins_lists and _is_list(cells[key])}
    head = [_joined(cells, lists) for cells in head]
    keys = list(dict.fromkeys(key for cells in head for key in cells))
    kinds = {
        key: {type(cells[key]) for cells in head if cells.get(key) is not None} for key in keys
    }
    stated = [name.strip() for name in columns or ()]
    texts = [
        key for key in keys if kinds[key] <= {str} and (key in stated or not is_identifier(key))
    ]
    if len(texts) < 2:
        raise InputError(
            f"{path} has {len(texts)} text field{'s' * (len(texts) != 1)} per record, and a pair "
            f"needs two; its fields are {', '.join(keys) or 'none'}"
        )
    rows = [[cells.get(key) or "" for key in texts] for cells in head]
    choice = choose_columns(texts, columns, rows, path, sides)
    source, target = texts[choice.source], texts[choice.target]
    told = [f"{source}: the sentences of a list are one text"] if source in lists else []
    told += [f"{target}: of a list, the first text is the summary"] if target in lists else []

    def read(_: Tally) -> Iterator[Pair]:
        for line, record in records():
            cells = flat_record(path, line, record)
            cells = _joined(cells, lists & {source}, lists & {target})
            yield Pair(line, _text(path, line, cells, source), _text(path, line, cells, target))

    assumed = ["format: JSON lines", encoding.sentence] if encoding else ["format: parquet"]
    fields = choice.sentence.replace("columns:", "fields:")
    return PairFile((path,), choice.names, (*assumed, fields, *told), read)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, str) for v in value)


def _joined(
    cells: dict[str, Any], whole: Collection[str], first: Collection[str] = ()
) -> dict[str, Any]:
    """The cells, with lists of sentences as texts: joined, or only the first."""
    found = {key: " ".join(cells[key]) for key in whole if _is_list(cells.get(key))}
    found |= {key: cells[key][0] for key in first if _is_list(cells.get(key))}
    found |= {key: "" for key in (*whole, *first) if cells.get(key) == []}
    return cells | found


def flat_record(path: Path, line: int, record: Any) -> dict[str, Any]:
    """A record's cells by name; Hugging Face nests them under `translation`."""
    if isinstance(record, dict) and isinstance(record.get("translation"), dict):
        record = record["translation"]
    if isinstance(record, list):
        record = {str(i): cell for i, cell in enumerate(record, 1)}
    if not isinstance(record, dict):
        raise InputError(f"line {line:,} of {path} holds {record!r:.40}, not an object with fields")
    return record


def _text(path: Path, line: int, cells: dict[str, Any], key: str) -> str:
    value = cells.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(f"{key!r} on line {line:,} of {path} is {value!r:.40}, not text")
    return value if value.isascii() else LONE_SURROGATE.sub("\ufffd", value)
