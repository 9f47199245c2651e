"""Plain texts, to continue or to fill gaps in: one file, several, or a folder of them; also code.

Each file is a document. What is no text is counted and left out, and so is a document that came
before; nothing else is changed: spaces and line breaks are part of what is learned.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

from clearhead.data.encoding import detect_encoding, open_text, read_head
from clearhead.data.report import Kinds, Report, list_findings
from clearhead.errors import InputError

__all__ = ["Document", "TextReport", "Texts", "find_texts"]

KINDS: Final[Kinds] = {
    "empty": ("dropped", "empty files"),
    "not text": ("dropped", "files that hold no text"),
    "duplicate": ("dropped", "files with the same text as an earlier one"),
    "leaked": ("dropped", "files whose text is also held out"),
    "undecodable": ("noted", "files with bytes that cannot be decoded"),
    "nul": ("noted", "files with NUL characters"),
}
N_NAMED = 5
CONTINUED: Final = "task: generate, because these are plain texts and no pairs"
"""What the report says first, unless the task is another."""
LEAST = 10_000
"""Characters below which nothing can be learned."""


@dataclass(frozen=True)
class Document:
    """One file."""

    path: Path
    text: str


@dataclass(frozen=True, kw_only=True)
class TextReport(Report):
    """What was found in files of plain text."""

    n_characters: int
    n_lines: int
    alphabet: int
    """How many different characters there are."""
    unit: str = "files"

    def remains(self) -> str:
        """How much text."""
        files = "1 file" if self.n_kept == 1 else f"{self.n_kept:,} files"
        return (
            f"{self.n_characters:,} characters in {self.n_lines:,} lines of {files}, "
            f"{self.alphabet:,} of them different"
        )


class Texts:
    """The documents of some paths, in the order of their names; they are read when asked for."""

    def __init__(self, paths: Sequence[Path], why: str = CONTINUED) -> None:
        self.given, self.why = tuple(paths), why
        self.paths = find_texts(paths)

    def __iter__(self) -> Iterator[Document]:
        """All that can be read as text."""
        for path in self.paths:
            text = _read(path)
            if text:
                yield Document(path, text)

    def examine(self, held_out: Sequence[str] = ()) -> tuple[TextReport, list[Document]]:
        """What is wrong with which file, and the documents that are left."""
        found: dict[str, list[str]] = {}
        kept: list[Document] = []
        seen: set[bytes] = set()
        banned = {_digest(text) for text in held_out}
        alphabet: set[str] = set()
        for path in self.paths:
            text = _read(path)
            kind = "not text" if text is None else "empty" if not text.strip() else None
            key = _digest(text or "")
            if kind is None and key in seen:
                kind = "duplicate"
            if kind is None and key in banned:
                kind = "leaked"
            if kind is not None or text is None:
                found.setdefault(kind or "empty", []).append(path.name)
                continue
            seen.add(key)
            for mark, noted in (("\ufffd", "undecodable"), ("\0", "nul")):
                if mark in text:
                    found.setdefault(noted, []).append(path.name)
            alphabet |= set(text)
            kept.append(Document(path, text))
        return self._report(found, kept, len(alphabet)), kept

    def _report(
        self, found: dict[str, list[str]], kept: Sequence[Document], n_alphabet: int
    ) -> TextReport:
        n_characters = sum(len(document.text) for document in kept)
        few = f"{n_characters:,} characters are too few to learn from: give at least {LEAST:,}"
        return TextReport(
            paths=tuple(map(str, self.given)),
            assumed=(self.why,),
            n_read=len(self.paths),
            n_kept=len(kept),
            n_characters=n_characters,
            n_lines=sum(document.text.count("\n") + 1 for document in kept),
            alphabet=n_alphabet,
            findings=list_findings(
                KINDS,
                {kind: len(names) for kind, names in found.items()},
                {kind: names[:N_NAMED] for kind, names in found.items()},
                len(self.paths),
            ),
            fatal=(few,) if n_characters < LEAST else (),
        )


def find_texts(paths: Sequence[Path]) -> list[Path]:
    """The files of some paths: folders with all below them, but for hidden ones, in order."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            below = sorted(each for each in path.rglob("*") if each.is_file())
            found += [each for each in below if not _is_hidden(each.relative_to(path))]
        elif path.exists():
            found.append(path)
        else:
            raise InputError(f"{path} does not exist: check the name and the folder")
    if not found:
        raise InputError(f"{', '.join(map(str, paths))} holds no files")
    return found


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in path.parts)


def _read(path: Path) -> str | None:
    """The text of a file; none if it holds something else."""
    try:
        head = read_head(path)
    except InputError:
        return ""
    try:
        encoding = detect_encoding(path, head)
    except InputError:
        return None
    with open_text(path, encoding.codec) as file:
        return file.read().replace("\r\n", "\n")


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
