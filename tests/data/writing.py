"""The same pairs written in every format that the readers know."""

import csv
import gzip
import io
import json
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

__all__ = ["PAIRS", "WRITERS", "many_pairs", "write_tsv"]

Pairs = Sequence[tuple[str, str]]

PAIRS = [
    ("How are you?", "आप कैसे हैं?"),
    ('He said "yes", twice.', 'उसने दो बार "हाँ" कहा।'),
    ("a < b & c > d", "क < ख & ग > घ"),
    ("back\\slash", "उल्टी\\रेखा"),
    ("It's 5; or 6", "५ या ६"),
]


def many_pairs(n: int) -> list[tuple[str, str]]:
    """Distinct pairs without any fault."""
    return [(f"This is sentence number {i}.", f"यह वाक्य संख्या {i} है।") for i in range(n)]


def write_tsv(path: Path, pairs: Pairs, encoding: str = "utf-8") -> Path:
    """One pair per line, a tab between."""
    path.write_bytes("".join(f"{s}\t{t}\n" for s, t in pairs).encode(encoding))
    return path


def _tsv(pairs: Pairs) -> bytes:
    return "".join(f"{source}\t{target}\n" for source, target in pairs).encode()


def _csv(pairs: Pairs) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerows([("en", "hi"), *pairs])
    return text.getvalue().encode()


def _jsonl(pairs: Pairs) -> bytes:
    rows = [json.dumps({"id": i, "en": s, "hi": t}) for i, (s, t) in enumerate(pairs)]
    return ("\n".join(rows) + "\n").encode()


def _nested_jsonl(pairs: Pairs) -> bytes:
    rows = [json.dumps({"translation": {"en": s, "hi": t}}, ensure_ascii=False) for s, t in pairs]
    return ("\n".join(rows) + "\n").encode()


def _tmx(pairs: Pairs) -> bytes:
    units = "".join(
        f'<tu><tuv xml:lang="EN"><seg>{escape(source)}</seg></tuv>\n'
        f'<tuv xml:lang="hi"><seg>{escape(target)}</seg></tuv></tu>\n'
        for source, target in pairs
    )
    start = '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4"><header srclang="en"/>'
    return f"{start}<body>{units}</body></tmx>".encode()


def _po(pairs: Pairs) -> bytes:
    def quote(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", '\\n"\n"') + '"'

    entries = [f"#: file.c\nmsgid {quote(s)}\nmsgstr {quote(t)}\n" for s, t in pairs]
    header = (
        'msgid ""\nmsgstr ""\n"Language: hi\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    )
    return "\n".join(["# A catalogue", header, *entries]).encode()


def _mo(pairs: Pairs) -> bytes:
    header = "Language: hi\nContent-Type: text/plain; charset=UTF-8\n"
    messages = [("", header), *pairs]
    n = len(messages)
    texts = [text.encode() for column in zip(*messages, strict=True) for text in column]
    start, table, body = 28 + 16 * n, b"", b""
    for text in texts:
        table += struct.pack("<2I", len(text), start + len(body))
        body += text + b"\0"
    return struct.pack("<7I", 0x950412DE, 0, n, 28, 28 + 8 * n, 0, 0) + table + body


WRITERS: dict[str, Callable[[Pairs], bytes]] = {
    "pairs.tsv": _tsv,
    "pairs.csv": _csv,
    "pairs.jsonl": _jsonl,
    "nested.jsonl": _nested_jsonl,
    "pairs.tmx": _tmx,
    "pairs.po": _po,
    "pairs.mo": _mo,
}
WRITERS |= {
    f"{name}.gz": (lambda pairs, write=write: gzip.compress(write(pairs)))  # type: ignore[misc]
    for name, write in WRITERS.items()
}
