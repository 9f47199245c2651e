"""Texts with a label each: which column is which, and what the doctor says of them.

A text that stands with different labels is left out wherever it stands: nobody knows which of them
is right. Texts are held in memory.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from clearhead.data.cells import CellFile, open_cells
from clearhead.data.columns import KNOWN_PAIRS, LANGUAGE_CODES, is_header, is_identifier
from clearhead.data.fingerprints import normalise
from clearhead.data.pairs import Tally
from clearhead.data.report import Kinds, Report, describe_labels, list_findings
from clearhead.errors import InputError, nearest

__all__ = ["Example", "LabelReport", "LabelledTexts", "looks_like_labels", "sort_labels"]

_LABEL_NAMES = (
    "label labels class classes category categories sentiment topic intent emotion polarity tag "
    "genre stars rating"
)
_TEXT_NAMES = (
    "text sentence review question comment content title tweet message document query utterance "
    "body description headline input prompt article post"
)
LABEL_NAMES: Final = frozenset(_LABEL_NAMES.split())
TEXT_NAMES: Final = frozenset(_TEXT_NAMES.split())
KINDS: Final[Kinds] = {
    "blank text": ("dropped", "the text is blank"),
    "blank label": ("dropped", "the label is blank"),
    "unreadable": ("dropped", "NUL characters, or bytes that cannot be decoded"),
    "duplicate": ("dropped", "duplicate of an earlier text with the same label"),
    "contradiction": ("dropped", "the same text stands with different labels"),
    "leaked": ("dropped", "text is also held out"),
    "rare": ("dropped", "no other text has this label"),
    "ragged": ("noted", "row has more or fewer cells than usual"),
    "long": ("noted", "longer than 2,000 characters: its end may not be read"),
}
"""Kind of finding → what happens to the text, and what it means."""
REPEATS: Final = ("duplicate", "leaked")
MOST_LABELS = 100
"""A column with more values is not taken for labels, unless its name or the user says so."""
MIN_SEEN = 5
"""How often each label is seen, on average, in a column that is taken for labels."""
LONGEST_LABEL = 60
LONG = 2000
MIN_TEXTS = 20
MAX_UNUSABLE = 0.5


class Example(NamedTuple):
    """A text, its label, and where they stand: the line or record, counted from 1."""

    line: int
    text: str
    label: str


@dataclass(frozen=True, kw_only=True)
class LabelReport(Report):
    """What was found in texts with labels."""

    names: tuple[str, str]
    labels: dict[str, int]
    """How many texts of those that are kept have each label."""
    mean_length: float
    """In characters."""
    unit: str = "texts"

    def remains(self) -> str:
        """How many texts, and how many labels."""
        return f"{super().remains()}, with {len(self.labels):,} labels"

    def notes(self) -> list[str]:
        """How many texts each label has, and whether that is uneven."""
        return describe_labels(self.labels, self.unit)


class LabelledTexts:
    """Files of texts with labels, one after the other; lines are counted on from file to file."""

    def __init__(self, paths: Sequence[Path], columns: tuple[str, str] | None = None) -> None:
        if not paths:
            raise InputError("no file was given: give texts with labels (TSV, CSV, JSONL, parquet)")
        self.paths = tuple(paths)
        self._files = [_open(path, columns) for path in paths]
        self.names = self._files[0].names

    @property
    def assumed(self) -> tuple[str, ...]:
        """How the files are read."""
        task = "task: classify, because each text has a label"
        if len(self._files) == 1:
            return (task, *self._files[0].assumed)
        told = [f"{file.cells.path.name}: {s}" for file in self._files for s in file.assumed]
        return (
            task,
            *told,
            f"{len(self._files)} files as one; lines are counted on from file to file",
        )

    def read(self, tally: Tally) -> Iterator[Example]:
        """Every row, written evenly; what is wrong with a row itself goes to the tally."""
        n_before = 0
        for file in self._files:
            n_columns, line = file.cells.n_columns, 0
            for line, cells in file.cells.read():
                if len(cells) != n_columns and (len(cells) > 1 or cells[0].strip()):
                    tally.add("ragged", n_before + line)
                text, label = (cells[n] if n < len(cells) else "" for n in file.places)
                if any(map(str.strip, cells)):
                    yield Example(n_before + line, normalise(text), normalise(label))
            n_before += line

    def whole(self) -> list[Example]:
        """All texts that have a label."""
        return [each for each in self.read(Tally()) if each.text and each.label]

    def examine(self, held_out: Iterable[str] = ()) -> tuple[LabelReport, list[Example]]:
        """What is wrong with which text, and the examples that are left."""
        tally = Tally()
        examples = list(self.read(tally))
        banned = {_key(text) for text in held_out}
        labels_of: dict[str, set[str]] = {}
        for each in examples:
            if each.text and each.label:
                labels_of.setdefault(each.text, set()).add(each.label)
        kept, seen = [], set()
        for each in examples:
            fault = _fault(each)
            if fault is None and _key(each.text) in banned:
                fault = "leaked"
            if fault is None and len(labels_of[each.text]) > 1:
                fault = "contradiction"
            if fault is None and each.text in seen:
                fault = "duplicate"
            if fault is not None:
                tally.add(fault, each.line)
                continue
            seen.add(each.text)
            kept.append(each)
        kept = list(_with_company(kept, tally))
        for each in kept:
            if len(each.text) > LONG:
                tally.add("long", each.line)
        return self._report(tally, len(examples), kept), kept

    def _report(self, tally: Tally, n_read: int, kept: Sequence[Example]) -> LabelReport:
        counts = Counter(each.label for each in kept)
        lines = {kind: sorted(found) for kind, found in tally.lines.items()}
        return LabelReport(
            paths=tuple(map(str, self.paths)),
            names=self.names,
            assumed=self.assumed,
            n_read=n_read,
            n_kept=len(kept),
            labels={label: counts[label] for label in sort_labels(counts)},
            mean_length=sum(len(each.text) for each in kept) / max(1, len(kept)),
            findings=list_findings(KINDS, tally.counts, lines, n_read),
            fatal=tuple(_fatal(tally, counts, len(kept), self.names[1])),
        )


def sort_labels(labels: Iterable[str]) -> list[str]:
    """The labels in their order: numbers by their size, everything else by the alphabet.

    >>> sort_labels(["10", "9", "-1"]), sort_labels(["b", "a", "10"])
    (['-1', '9', '10'], ['10', 'a', 'b'])
    """
    found = sorted(set(labels))
    if all(re.fullmatch(r"-?\d+", label) for label in found):
        return sorted(found, key=int)
    return found


def looks_like_labels(paths: Sequence[Path], columns: tuple[str, str] | None = None) -> bool:
    """Whether files hold texts with labels, and not pairs of texts.

    A header that names a label says so, unless it names a pair, too; and so does one column of
    texts beside one of few values that come again and again.
    """
    try:
        file = open_cells(paths[0], lambda cells: _is_header(cells, columns))
        if columns is not None:
            label = _stated(file, columns)[1]
            is_named = file.header is not None and _is_label(file.header[label])
            return is_named or _has_few_values(file.column(label))
        if file.header is not None and any(map(_is_label, file.header)):
            return not _names_pair(file.header)
        texts = [n for n in range(file.n_columns) if _is_text(file.column(n))]
        return len(texts) == 1 and any(
            n not in texts and _has_few_values(file.column(n)) for n in range(file.n_columns)
        )
    except (InputError, StopIteration):
        return False


@dataclass(frozen=True)
class _Opened:
    """A file whose text and label are found."""

    cells: CellFile
    places: tuple[int, int]
    names: tuple[str, str]
    assumed: tuple[str, ...]


def _open(path: Path, columns: tuple[str, str] | None) -> _Opened:
    file = open_cells(path, lambda cells: _is_header(cells, columns))
    if file.n_columns < 2:
        raise InputError(f"{path} has one column, and a text and its label need two")
    places = _guess(file) if columns is None else _stated(file, columns)
    known = file.header or [f"column {n + 1}" for n in range(file.n_columns)]
    names = known[places[0]], known[places[1]]
    how = "as stated" if columns is not None else "say --columns TEXT,LABEL for others"
    return _Opened(
        file, places, names, (*file.assumed, f"text: {names[0]}, label: {names[1]}; {how}")
    )


def _is_header(cells: Sequence[str], columns: tuple[str, str] | None) -> bool:
    """Whether a first row names the columns: as stated, or with a word for labels."""
    return is_header(cells, columns) or any(map(_is_label, cells))


def _is_label(name: str) -> bool:
    return re.split(r"[\s_-]+", name.strip().lower())[-1] in LABEL_NAMES


def _names_pair(header: Sequence[str]) -> bool:
    plain = [name.lower() for name in header]
    n_languages = sum(re.split("[-_]", name)[0] in LANGUAGE_CODES - {"id"} for name in plain)
    return n_languages > 1 or any({*pair} <= {*plain} for pair in KNOWN_PAIRS)


def _is_text(cells: Sequence[str]) -> bool:
    """Whether a column holds texts: with letters, and mostly different."""
    n_lettered = sum(any(map(str.isalpha, cell)) for cell in cells)
    return n_lettered > len(cells) / 2 and len(set(cells)) > len(cells) / 2


def _has_few_values(cells: Sequence[str]) -> bool:
    values = {cell for cell in cells if cell}
    is_short = all(len(value) <= LONGEST_LABEL for value in values)
    return 2 <= len(values) <= min(MOST_LABELS, len(cells) / MIN_SEEN) and is_short


def _stated(file: CellFile, columns: tuple[str, str]) -> tuple[int, int]:
    plain = [name.lower() for name in file.header or ()]
    places = []
    for name in (name.strip() for name in columns):
        if name.lower() in plain:
            places.append(plain.index(name.lower()))
        elif name.isdecimal() and 1 <= int(name) <= file.n_columns:
            places.append(int(name) - 1)
        elif file.header is None or name.isdecimal():
            raise InputError(
                f"{file.path} has no column {name!r}: say the text and the label by number, from 1 "
                f"to {file.n_columns}"
            )
        else:
            raise InputError(f"{file.path} has no column {name!r}: {nearest(name, file.header)}")
    if places[0] == places[1]:
        raise InputError(f"{columns[0]},{columns[1]} is one column twice: name the text, the label")
    return places[0], places[1]


def _guess(file: CellFile) -> tuple[int, int]:
    """The label by its name or its few values; the text by its name, or the longest cells."""
    places = range(file.n_columns)
    columns = [file.column(n) for n in places]
    names = [name.lower() for name in file.header or [""] * file.n_columns]
    labels = [n for n in places if _is_label(names[n])]
    labels = labels or [n for n in places if _has_few_values(columns[n])]
    if not labels:  # no column is plain: the one with the fewest values
        labels = [min(places, key=lambda n: len(set(columns[n])))]
    label = min(labels, key=lambda n: (len(set(columns[n])), n)) if not any(names) else labels[0]
    others = [n for n in places if n != label and not is_identifier(names[n])]
    others = others or [n for n in places if n != label]
    named = [n for n in others if names[n] in TEXT_NAMES]
    return max(named or others, key=lambda n: sum(map(len, columns[n]))), label


def _key(text: str) -> str:
    """Texts that differ only in capitals and spaces have the same key."""
    return normalise(text).casefold()


def _fault(each: Example) -> str | None:
    """What is wrong with a text taken by itself."""
    if not each.text:
        return "blank text"
    if not each.label:
        return "blank label"
    return "unreadable" if "\0" in each.text or "\ufffd" in each.text else None


def _with_company(kept: Sequence[Example], tally: Tally) -> Iterator[Example]:
    """All but those whose label no other text has."""
    counts = Counter(each.label for each in kept)
    for each in kept:
        if counts[each.label] > 1:
            yield each
        else:
            tally.add("rare", each.line)


def _fatal(tally: Tally, counts: Counter[str], n_kept: int, name: str) -> Iterator[str]:
    """What speaks against training at all, each as a part of a sentence."""
    unusable = {
        kind: n
        for kind, n in tally.counts.items()
        if KINDS[kind][0] == "dropped" and kind not in REPEATS
    }
    n_unusable = sum(unusable.values())
    if tally.counts.get("rare", 0) > max(1, n_kept):
        yield f"most values of {name} stand once: they are no labels, say --columns TEXT,LABEL"
    elif n_unusable > MAX_UNUSABLE * (n_kept + n_unusable):
        worst = max(unusable, key=lambda kind: unusable[kind])
        yield f"{n_unusable:,} texts are unusable, most of them because: {KINDS[worst][1]}"
    if n_kept == 0:
        yield "no usable text remains"
    elif len(counts) == 1:
        yield f"all texts have the same label, {next(iter(counts))}: give at least two"
    elif n_kept < MIN_TEXTS:
        yield f"only {n_kept} texts remain, and at least {MIN_TEXTS} are needed"
