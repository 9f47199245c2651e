"""Which two columns of a table are the pair: said by the user, by a header, or by the content."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from clearhead.errors import InputError, nearest

__all__ = [
    "KNOWN_PAIRS",
    "LANGUAGE_CODES",
    "SENTENCES",
    "SUMMARIES",
    "Choice",
    "Sides",
    "choose_columns",
    "is_header",
    "is_identifier",
    "names_from_path",
]

_CODES = (
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy "
    "da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu "
    "hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb "
    "lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om "
    "or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw "
    "ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu "
    "ara ben ces cmn dan deu ell eng fas fin fra guj heb hin hun ind ita jpn kan kor mal mar nep "
    "nld nor pan pol por ron rus spa srp swa swe tam tel tha tur ukr urd vie zho"
)
_WORDS = (
    "source target src tgt trg input output text translation sentence sentence1 sentence2 original "
    "translated reference question answer article summary document highlights label id lang "
    "language package comment prompt response completion english hindi german french spanish "
    "italian portuguese russian chinese japanese korean arabic bengali tamil telugu marathi "
    "gujarati punjabi urdu turkish dutch polish czech swedish finnish greek hebrew thai vietnamese "
    "indonesian ukrainian romanian hungarian danish norwegian"
)
LANGUAGE_CODES = frozenset(_CODES.split())
HEADER_WORDS = LANGUAGE_CODES | frozenset(_WORDS.split())
KNOWN_PAIRS = (
    ("source", "target"),
    ("src", "tgt"),
    ("src", "trg"),
    ("input", "output"),
    ("question", "answer"),
    ("article", "summary"),
    ("article", "highlights"),
    ("document", "summary"),
    ("original", "translated"),
    ("sentence1", "sentence2"),
    ("prompt", "response"),
    ("prompt", "completion"),
    ("text", "translation"),
)
MIN_DISTINCT = 0.2
LONG_NAMES = ("document", "article", "abstract", "text", "body", "content", "dialogue", "source")
SHORT_NAMES = ("summary", "tldr", "highlights", "headline", "target", "title")


@dataclass(frozen=True)
class Sides:
    """How the two sides of a pair may be called and held."""

    known: tuple[tuple[str, str], ...]
    """Names that belong together, the surest first."""
    joins_lists: bool = False
    """Whether a list of sentences is a text: all of a source, and the first of a target."""

    @cached_property
    def words(self) -> frozenset[str]:
        """What the cells of a header are made of."""
        return HEADER_WORDS | {name for names in self.known for name in names}


SENTENCES = Sides(KNOWN_PAIRS)
SUMMARIES = Sides(
    tuple((long, short) for short in SHORT_NAMES for long in LONG_NAMES), joins_lists=True
)


class Choice(NamedTuple):
    """Two columns by position from 0, their names, and how to tell the user of them."""

    source: int
    target: int
    names: tuple[str, str]
    sentence: str


def is_header(
    cells: Sequence[str], columns: tuple[str, str] | None, sides: Sides = SENTENCES
) -> bool:
    """Whether a first row names the columns and is no pair.

    >>> is_header(["en", "hi"], None), is_header(["no", "nein"], None)
    (True, False)
    """
    plain = [cell.strip().lower() for cell in cells]
    stated = [name.strip().lower() for name in columns or () if not name.isdecimal()]
    if stated and all(name in plain for name in stated):
        return True
    return sum(_is_header_word(cell, sides.words) for cell in plain) >= 2


def is_identifier(name: str) -> bool:
    """Whether a column numbers the rows: `id`, `paper_id`."""
    return re.fullmatch(r"(.*[_ -])?(id|ids|uuid|guid)", name.strip().lower()) is not None


def _is_header_word(cell: str, known: frozenset[str]) -> bool:
    words = re.split(r"[\s_-]+", cell)
    is_code = re.fullmatch(r"[a-z]{2,3}([-_][a-z]{2,4})+", cell) and words[0] in LANGUAGE_CODES
    return bool(is_code) or (len(words) <= 3 and all(word in known for word in words))


def names_from_path(path: Path) -> tuple[str, str] | None:
    """Tell both languages from a name such as `en-hi.tsv` or `train.en-hi.tsv.gz`.

    >>> names_from_path(Path("train.en-hi.tsv.gz")), names_from_path(Path("pairs.tsv"))
    (('en', 'hi'), None)
    """
    for part in path.name.lower().split("."):
        match = re.fullmatch(r"(?:.*[-_])?([a-z]{2,3})[-_]([a-z]{2,3})", part)
        if match and {match[1], match[2]} <= LANGUAGE_CODES and match[1] != match[2]:
            return match[1], match[2]
    return None


def choose_columns(
    header: Sequence[str] | None,
    columns: tuple[str, str] | None,
    rows: Sequence[Sequence[str]],
    path: Path,
    sides: Sides = SENTENCES,
) -> Choice:
    """Choose the source and the target column; `rows` are some of the first ones."""
    usual = Counter(map(len, rows)).most_common(1)  # a stray tab must not add a column
    n_columns = len(header) if header is not None else usual[0][0]
    if n_columns < 2:
        raise InputError(
            f"{path} has one column, and a pair needs two: put a tab between source and target, "
            "or give two files that belong together line by line"
        )
    source, target = _guess(header, rows, n_columns, sides)
    from_path = names_from_path(path) if header is None else None
    if columns is not None:
        stated = columns[0].strip(), columns[1].strip()
        if from_path and set(stated) == set(from_path):  # `en-hi.tsv` names its columns
            order = (source, target) if stated == from_path else (target, source)
            return _choice(order, stated, ", as stated")
        if header is None and n_columns == 2 and not any(map(str.isdecimal, stated)):
            return _choice((0, 1), stated, ", as stated")
        return _stated(header, stated, n_columns, path)
    more = ""
    if n_columns > 2:
        example = [header[i].strip() if header else str(i + 1) for i in (source, target)]
        more = f", chosen from {n_columns}; to choose others, say --columns as in "
        more += f"--columns {','.join(example)}"
    names = (header[source].strip(), header[target].strip()) if header else from_path
    return _choice((source, target), names or ("source", "target"), more)


def _choice(order: tuple[int, int], names: tuple[str, str], more: str) -> Choice:
    source, target = order
    sentence = f"columns: {source + 1} ({names[0]}) → {target + 1} ({names[1]}){more}"
    return Choice(source, target, names, sentence)


def _stated(
    header: Sequence[str] | None, stated: tuple[str, str], n_columns: int, path: Path
) -> Choice:
    source, target = (_position(name, header, n_columns, path) for name in stated)
    if source == target:
        raise InputError(f"{stated[0]},{stated[1]} is one column twice: name two columns of {path}")
    known = header if header is not None else [str(i + 1) for i in range(n_columns)]
    names = known[source].strip(), known[target].strip()
    return _choice((source, target), names, ", as stated")


def _position(name: str, header: Sequence[str] | None, n_columns: int, path: Path) -> int:
    plain = [cell.strip().lower() for cell in header or []]
    if name.lower() in plain:
        return plain.index(name.lower())
    if name.isdecimal():
        if 1 <= int(name) <= n_columns:
            return int(name) - 1
        raise InputError(f"{path} has no column {name}: it has columns 1 to {n_columns}")
    if header is None:
        raise InputError(
            f"{path} has {n_columns} columns and no header that names {name!r}: "
            "say the columns by number, such as --columns 1,2"
        )
    by_language = [i for i, cell in enumerate(plain) if re.split(r"[-_]", cell)[0] == name.lower()]
    if len(by_language) == 1:
        return by_language[0]
    raise InputError(f"{path} has no column {name!r}: {nearest(name, map(str.strip, header))}")


def _guess(
    header: Sequence[str] | None, rows: Sequence[Sequence[str]], n_columns: int, sides: Sides
) -> tuple[int, int]:
    if header is not None:
        plain = [cell.strip().lower() for cell in header]
        for source, target in sides.known:
            if source in plain and target in plain:
                return plain.index(source), plain.index(target)
        languages = [
            i
            for i, cell in enumerate(plain)
            if re.split("[-_]", cell)[0] in LANGUAGE_CODES and not is_identifier(cell)
        ]
        if len(languages) >= 2:
            return languages[0], languages[1]
    texts = [i for i in range(n_columns) if _is_text([row[i] for row in rows if i < len(row)])]
    texts = [i for i in texts if header is None or not is_identifier(header[i])]
    return (texts[0], texts[1]) if len(texts) >= 2 else (0, 1)


def _is_text(cells: Sequence[str]) -> bool:
    """Whether a column holds sentences, and not numbers or the same few words."""
    if not cells:
        return False
    n_lettered = sum(any(map(str.isalpha, cell)) for cell in cells)
    is_varied = len(cells) < 20 or len(set(cells)) >= MIN_DISTINCT * len(cells)
    return n_lettered > len(cells) / 2 and is_varied
