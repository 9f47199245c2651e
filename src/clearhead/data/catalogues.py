"""Catalogues of translations: gettext PO and MO, as programs carry them, and TMX memories."""

import re
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from clearhead.data.columns import choose_columns
from clearhead.data.encoding import Encoding, open_bytes, read_lines
from clearhead.data.pairs import Pair, PairFile, Tally
from clearhead.errors import InputError

__all__ = ["MO_MAGIC", "Entry", "open_mo", "open_po", "open_tmx"]

MO_MAGIC = (b"\xde\x12\x04\x95", b"\x95\x04\x12\xde")
XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
N_HEAD_UNITS = 500

PO_LINE = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[(\d+)\])?)?\s*"(.*)"\s*')
PO_ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)")
PO_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


class Entry(NamedTuple):
    """One message of a PO file, with the line of its `msgid`."""

    line: int
    source: str
    target: str
    is_fuzzy: bool


def open_po(path: Path, encoding: Encoding, columns: tuple[str, str] | None) -> PairFile:
    """Open a gettext source catalogue. Of plural forms the first is taken, with the singular."""
    first = next(_po_entries(path, encoding.codec), None)
    if first is None:
        raise InputError(f"{path} holds no gettext message: there is no sentence pair in it")
    language = _language(first.target) if not first.source else None

    def read(tally: Tally) -> Iterator[Pair]:
        for line, source, target, is_fuzzy in _po_entries(path, encoding.codec):
            if not source:
                continue  # the header
            if is_fuzzy or not target:
                tally.add("fuzzy" if is_fuzzy else "untranslated", line)
            else:
                yield Pair(line, source, target)

    names, flip = _catalogue_columns(path, language, columns)
    assumed = ("format: gettext PO", encoding.sentence, f"source: {names[0]}, target: {names[1]}")
    return PairFile((path,), names, assumed, _flipped(read) if flip else read)


def _language(header: str) -> str | None:
    found = re.search(r"^Language:[ \t]*([\w@-]+)", header, flags=re.MULTILINE)
    return found[1] if found else None


def _catalogue_columns(
    path: Path, language: str | None, columns: tuple[str, str] | None
) -> tuple[tuple[str, str], bool]:
    """The names of both sides, and whether the user wants them the other way round."""
    header = ["msgid", re.split("[_@-]", language)[0] if language else "msgstr"]
    if columns is None:
        return (header[0], header[1]), False
    stated = [name.strip() for name in columns]
    unknown = [name for name in stated if not name.isdecimal() and name not in header]
    if len(unknown) == 2 and language is None:  # nothing contradicts the user's names
        header = unknown
    elif len(unknown) == 1 and header[1] in stated:  # a catalogue does not name its source
        header[0] = unknown[0]
    choice = choose_columns(header, columns, [], path)
    return choice.names, choice.source == 1


def _flipped(read: Callable[[Tally], Iterator[Pair]]) -> Callable[[Tally], Iterator[Pair]]:
    def backwards(tally: Tally) -> Iterator[Pair]:
        return (Pair(line, target, source) for line, source, target in read(tally))

    return backwards


def _po_entries(path: Path, codec: str) -> Iterator[Entry]:
    """The entries of a PO file, the header (with an empty source) included."""
    parts: dict[str, list[str]] = {}
    line, keyword, is_fuzzy, next_fuzzy = 0, "", False, False
    for number, text in enumerate(read_lines(path, codec), 1):
        text = text.strip()
        if text.startswith("#"):
            next_fuzzy |= text.startswith("#,") and "fuzzy" in text
            continue
        if not text:
            continue
        match = PO_LINE.fullmatch(text)
        if match is None:
            raise InputError(
                f'line {number:,} of {path} is not gettext: {text!r:.40} has no "text"'
            )
        begins_entry = match[1] == "msgctxt" or (match[1] == "msgid" and keyword != "msgctxt")
        if begins_entry:
            if "msgstr" in parts:
                yield _entry(line, parts, is_fuzzy)
            parts, is_fuzzy, next_fuzzy = {}, next_fuzzy, False
        if match[1] == "msgid":
            line = number
        keyword = ("msgstr" if match[2] == "0" else match[1]) if match[1] else keyword
        if not keyword:
            raise InputError(f"line {number:,} of {path} is a text without msgid or msgstr")
        parts.setdefault(keyword, []).append(match[3])
    if "msgstr" in parts:
        yield _entry(line, parts, is_fuzzy)


def _entry(line: int, parts: dict[str, list[str]], is_fuzzy: bool) -> Entry:
    source, target = (_unescape("".join(parts.get(part, []))) for part in ("msgid", "msgstr"))
    return Entry(line, source, target, is_fuzzy and bool(source))


def _unescape(text: str) -> str:
    r"""Read the escapes of a gettext string.

    >>> _unescape(r"\"a\\b\"")
    '"a\\b"'
    """
    if "\\" not in text:
        return text
    return PO_ESCAPE.sub(lambda found: _character(found[1]), text)


def _character(escape: str) -> str:
    if escape[0] in "01234567":
        return chr(int(escape, 8))
    if escape[0] == "x" and len(escape) > 1:
        return chr(int(escape[1:], 16))
    return PO_ESCAPES.get(escape, escape)


def open_mo(path: Path, columns: tuple[str, str] | None) -> PairFile:
    """Open a compiled gettext catalogue."""
    messages = dict(_mo_messages(path))
    header = messages.get(b"", b"")
    charset = re.search(rb"charset=([\w.-]+)", header)
    codec = charset[1].decode("ascii") if charset else "utf-8"
    try:
        language = _language(header.decode(codec, "replace"))
    except LookupError:
        raise InputError(f"{path} names an unknown charset {codec!r} in its header") from None

    def read(tally: Tally) -> Iterator[Pair]:
        for number, (key, value) in enumerate(_mo_messages(path), 1):
            # A context ends with \4, and plural forms are divided by \0.
            source = key.rpartition(b"\4")[2].split(b"\0")[0].decode(codec, "replace")
            target = value.split(b"\0")[0].decode(codec, "replace")
            if source and target:
                yield Pair(number, source, target)
            elif source:
                tally.add("untranslated", number)

    names, flip = _catalogue_columns(path, language, columns)
    assumed = (
        "format: gettext MO (compiled)",
        f"encoding: {codec}",
        f"source: {names[0]}, target: {names[1]}",
    )
    return PairFile((path,), names, assumed, _flipped(read) if flip else read)


def _mo_messages(path: Path) -> Iterator[tuple[bytes, bytes]]:
    """Key and value of every message; the format is read by position, so the file is held."""
    with open_bytes(path) as file:
        data = file.read()
    order = "<" if data.startswith(MO_MAGIC[0]) else ">"
    try:
        n, keys, values = struct.unpack_from(f"{order}3I", data, 8)
        for i in range(n):
            found = []
            for table in (keys, values):
                length, start = struct.unpack_from(f"{order}2I", data, table + 8 * i)
                if start + length > len(data):
                    raise struct.error
                found.append(data[start : start + length])
            yield found[0], found[1]
    except struct.error:
        raise InputError(f"{path} ends too early: the MO file is cut off, make it again") from None


def open_tmx(path: Path, columns: tuple[str, str] | None) -> PairFile:
    """Open a translation memory, from the XML format TMX."""
    head = [segments for _, segments in islice(_tmx_units(path), N_HEAD_UNITS)]
    counts = Counter(language for segments in head for language in segments)
    # The most usual languages, in the order in which the file has them.
    languages = [name for name, n in counts.items() if n >= 0.5 * max(counts.values())]
    if len(counts) < 2:
        raise InputError(f"{path} has texts in {len(counts)} language(s), and a pair needs two")
    if len(languages) < 2 or columns is not None:
        languages = [name for name, _ in counts.most_common()]
    rows = [[segments.get(name, "") for name in languages] for segments in head]
    choice = choose_columns(languages, columns, rows, path)
    source, target = choice.names

    def read(tally: Tally) -> Iterator[Pair]:
        for number, segments in _tmx_units(path):
            if source in segments and target in segments:
                yield Pair(number, segments[source], segments[target])
            else:
                tally.add("incomplete", number)

    sentence = f"languages: {source} → {target}"
    if len(counts) > 2:
        sentence += f", chosen from {', '.join(counts)}; say which with --columns"
    assumed = ("format: TMX, lines are translation units", "encoding: as the XML says", sentence)
    return PairFile((path,), choice.names, assumed, read)


def _tmx_units(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The segments of each translation unit by language; what was read is let go."""
    number = 0
    with open_bytes(path) as file:
        try:
            events = ElementTree.iterparse(file, events=("start", "end"))
            _, root = next(events)
            for event, element in events:
                if event == "start" or element.tag != "tu":
                    continue
                number += 1
                segments = {}
                for variant in element.iter("tuv"):
                    language = variant.get(XML_LANG) or variant.get("lang") or ""
                    segment = variant.find("seg")
                    segments[language.lower()] = "" if segment is None else _plain_text(segment)
                yield number, segments
                for part in root:
                    part.clear()
        except (ElementTree.ParseError, LookupError, ValueError) as error:
            raise InputError(f"{path} is not valid XML ({error}): export the TMX again") from None


def _plain_text(segment: ElementTree.Element) -> str:
    """A segment's text without the codes of formatting, which stand inside `bpt`, `ph` and such."""
    text = segment.text or ""
    for child in segment:
        text += (_plain_text(child) if child.tag in ("hi", "mrk", "g") else "") + (child.tail or "")
    return text
