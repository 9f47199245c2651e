"""Files of sentence pairs: what a file holds is told from its content, and said to the user."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clearhead.data.alignment import open_aligned
from clearhead.data.catalogues import MO_MAGIC, open_mo, open_po, open_tmx
from clearhead.data.columns import SENTENCES, Sides
from clearhead.data.encoding import detect_encoding, read_head
from clearhead.data.pairs import Pair, PairFile, Tally
from clearhead.data.tables import find_delimiter, open_json_lines, open_parquet, open_table
from clearhead.errors import InputError
from clearhead.text.normal import language_of

__all__ = ["TABLES", "open_pairs"]

TABLES = (".tsv", ".csv", ".jsonl", ".json", ".tmx", ".po", ".pot", ".mo", ".parquet")
PLACES = {
    *("source", "target", "src", "tgt", "trg", "input", "output", "msgid", "msgstr"),
    *("text", "translation", "original", "translated", "sentence1", "sentence2"),
}


def open_pairs(
    paths: Sequence[Path], columns: tuple[str, str] | None = None, sides: Sides = SENTENCES
) -> PairFile:
    """Open files of pairs, or two text files whose lines belong together.

    Several files that hold pairs by themselves, in any mixture of formats, are read one after
    another as one corpus; their lines are counted on from file to file. The languages they name
    must be the same, in the same order. A file that names none follows the others.

    `columns` states the source and the target for all files, by name or by number from 1; without
    it they are chosen from the header or the content; `sides` says by which names.
    """
    paths = [Path(path) for path in paths]
    for path in paths:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise InputError(f"{path} is a stream: the pairs are read more than once, give a file")
    if len(paths) == 1:
        return _open_one(paths[0], columns, sides)
    are_texts = not any(_extension(path) in TABLES for path in paths)
    if are_texts and len(paths) != 2:
        raise InputError(
            f"{len(paths)} {'text ' * bool(paths)}files were given: give files of pairs (TSV, CSV, "
            "JSONL, TMX, PO, MO, parquet), or two text files whose lines belong together"
        )
    for i, path in enumerate(paths):
        if path.resolve() in [earlier.resolve() for earlier in paths[:i]]:
            what = "the source file and the target file" if are_texts else "each file once"
            raise InputError(f"{path} was given twice: give {what}")
    if are_texts:
        return open_aligned(paths, columns)
    return _join([_open_one(path, columns, sides) for path in paths])


def _join(files: Sequence[PairFile]) -> PairFile:
    """Several files of pairs as one."""
    names = _common_name(files, 0), _common_name(files, 1)

    def read(tally: Tally) -> Iterator[Pair]:
        n_before = 0
        for file in files:
            onward = _OnwardTally(to=tally, n_before=n_before)
            for line, source, target in file.read(onward):
                onward.n_lines = max(onward.n_lines, line)
                yield Pair(n_before + line, source, target)
            n_before += onward.n_lines

    paths = tuple(path for file in files for path in file.paths)
    is_clear = len({path.name for path in paths}) == len(paths)
    assumed = [
        f"{path.name if is_clear else path}: {sentence}"
        for path, file in zip(paths, files, strict=True)
        for sentence in file.assumed
    ]
    assumed.append(
        f"{len(files)} files as one, {names[0]} → {names[1]}; lines are counted on from file to "
        "file, in this order"
    )
    return PairFile(paths, names, tuple(assumed), read)


@dataclass
class _OnwardTally(Tally):
    """Tells another tally of what is met in a later file, with its lines counted on."""

    to: Tally = field(default_factory=Tally)
    n_before: int = 0
    n_lines: int = 0

    def add(self, kind: str, line: int) -> None:
        """Count one more."""
        self.n_lines = max(self.n_lines, line)
        self.to.add(kind, self.n_before + line)


def _common_name(files: Sequence[PairFile], side: int) -> str:
    """What all files that name a side call it; `en` and `en-GB` are the same language."""
    known = [file for file in files if not _is_place(file.names[side])]
    for file in known[1:]:
        if language_of(file.names[side]) != language_of(known[0].names[side]):
            told = [f"{at.paths[0]} holds {' → '.join(at.names)}" for at in (known[0], file)]
            raise InputError(
                f"{told[0]} and {told[1]}: files that are read together need the same languages in "
                "the same order; correct their headers or names, or say --columns SOURCE,TARGET"
            )
    return (known or files)[0].names[side]


def _is_place(name: str) -> bool:
    """Whether a name says where a text stands, and not what it is."""
    return name.isdecimal() or name.lower() in PLACES


def _extension(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _open_one(path: Path, columns: tuple[str, str] | None, sides: Sides) -> PairFile:
    """Bytes that say what they are decide first, then the extension, then the text."""
    head, extension = read_head(path), _extension(path)
    if head.startswith(MO_MAGIC):
        return open_mo(path, columns)
    if head.startswith(b"PAR1"):
        return open_parquet(path, columns, sides)
    encoding = detect_encoding(path, head)
    text = head.decode(encoding.codec, "replace").removeprefix("\ufeff")
    start = text.lstrip()[:2000]
    is_open = extension not in TABLES  # a table may begin with any text, `{0} files` say
    if extension == ".tmx" or (is_open and "<tmx" in start):
        return open_tmx(path, columns)
    if extension in (".po", ".pot") or (is_open and "\nmsgid " in f"\n{start}"):
        return open_po(path, encoding, columns)
    if extension in (".jsonl", ".json") or (is_open and start.startswith("{")):
        return open_json_lines(path, encoding, columns, sides)
    dialect = find_delimiter(text.rpartition("\n")[0] or text, extension)
    if dialect is None:
        hint = (
            "" if extension in TABLES else " (TSV, CSV, JSONL, TMX, PO, MO and parquet are known)"
        )
        raise InputError(
            f"{path} has one column{hint}, and a pair needs two: put a tab between source and "
            "target, or give just two text files that belong together line by line"
        )
    return open_table(path, encoding, columns, dialect, sides)
