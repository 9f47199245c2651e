"""From bytes to text: which encoding a file has, and lines that are read one at a time."""

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple, cast

from clearhead.errors import InputError

__all__ = ["Encoding", "detect_encoding", "open_bytes", "open_text", "read_head", "read_lines"]

HEAD_BYTES = 1 << 20
MAX_CONTROL_SHARE = 0.1

CONTROL = bytes(set(range(32)) - set(b"\t\n\r\f\v\x1b"))
HIGH_CHARACTER = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
BINARY_KINDS = {
    b"PK\x03\x04": "a zip archive or an office document",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"SQLite format": "a database",
}


class Encoding(NamedTuple):
    """How to decode a file, and how to tell the user of it."""

    codec: str
    sentence: str


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """Open a file, unpacked if it is gzip; what goes wrong is told in one sentence."""
    try:
        with path.open("rb") as file:
            is_gzip = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            if is_gzip:
                with gzip.GzipFile(fileobj=file) as unpacked:
                    yield cast("BinaryIO", unpacked)
            else:
                yield file
    except FileNotFoundError:
        raise InputError(f"{path} does not exist: check the name and the folder") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder: give a file of sentence pairs in it") from None
    except EOFError:
        raise InputError(
            f"{path} ends too early: the gzip file is cut off, fetch it again"
        ) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path} is damaged gzip ({error}): fetch it again") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None


def read_head(path: Path) -> bytes:
    """The first megabyte of a file, which must not be empty."""
    with open_bytes(path) as file:
        head = file.read(HEAD_BYTES)
    if not head.strip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n"):
        raise InputError(f"{path} is empty: there is no sentence pair in it")
    return head


def detect_encoding(path: Path, head: bytes) -> Encoding:
    """Tell the encoding from a file's first bytes; what is no text is refused.

    >>> detect_encoding(Path("a"), "é".encode("latin-1")).codec
    'cp1252'
    """
    for start, kind in BINARY_KINDS.items():
        if head.startswith(start):
            raise InputError(f"{path} is {kind}, not text: export the pairs as TSV, CSV or JSONL")
    if head.startswith(codecs.BOM_UTF8):
        return Encoding("utf-8-sig", "encoding: UTF-8, with a byte-order mark")
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return Encoding("utf-16", "encoding: UTF-16, with a byte-order mark")
    if order := _byte_order(head):
        return Encoding(f"utf-16-{order}", f"encoding: UTF-16 {order.upper()}, without a mark")
    if len(head) - len(head.translate(None, CONTROL)) > max(1, MAX_CONTROL_SHARE * len(head)):
        raise InputError(f"{path} is not text: export the pairs as TSV, CSV or JSONL")
    try:
        # A head that is not the whole file may end within a character.
        codecs.getincrementaldecoder("utf-8")().decode(head, final=len(head) < HEAD_BYTES)
    except UnicodeDecodeError:
        n_whole = len(HIGH_CHARACTER.findall(head))
        n_broken = len(re.findall(rb"[\x80-\xff]", HIGH_CHARACTER.sub(b"", head)))
        if n_broken > n_whole:
            return Encoding(
                "cp1252",
                "encoding: Latin-1 (Windows-1252), because the file is not UTF-8; "
                "if letters look wrong, save it as UTF-8",
            )
        return Encoding("utf-8", "encoding: UTF-8, with some bytes that cannot be decoded")
    return Encoding("utf-8", "encoding: UTF-8")


def _byte_order(head: bytes) -> str | None:
    """Which half of each character is zero in UTF-16 without a mark; None if it is not UTF-16."""
    zeros = [head[start::2].count(0) for start in (0, 1)]
    order, line_end = ("le", b"\n\0") if zeros[1] > zeros[0] else ("be", b"\0\n")
    is_regular = max(zeros) > 0.05 * len(head) / 2 and min(zeros) < 0.1 * max(zeros)
    # Stray NULs in other text are not where lines end.
    return order if is_regular and (line_end in head or b"\n" not in head) else None


@contextmanager
def open_text(path: Path, codec: str, newline: str = "\n") -> Iterator[IO[str]]:
    """Open a file as text; bytes that cannot be decoded become U+FFFD, for the doctor to count."""
    with open_bytes(path) as file:
        # A detached wrapper does not close the file a second time.
        text = io.TextIOWrapper(file, encoding=codec, errors="replace", newline=newline)
        try:
            yield text
        finally:
            text.detach()


def read_lines(path: Path, codec: str) -> Iterator[str]:
    r"""The lines of a file without their ends. Only \n and \r\n end a line, as `wc -l` counts."""
    with open_text(path, codec) as text:
        for line in text:
            yield line.removesuffix("\n").removesuffix("\r")
