r"""Long text to sentences and back: a model reads one sentence at a time, and nothing gets lost.

    pieces = split(text, "en")
    translations = [translate(piece.text) for piece in pieces if piece.is_sentence]
    answer = join(pieces, translations)

A sentence ends at a line break, at a mark of its script with the quotes and brackets that close
there, or where it becomes too long. The marks are `.` `!` `?` `…`, the danda `।` `॥`, `۔` and `؟`,
`。` `！` `？`, `።` `។` `။` `།` `։`. White space, the bullet of a list, and what has no letter or
digit, such as `-----` or `👍`, is no sentence and stays as it is.

When in doubt, two sentences stay together: a model can translate both, but not a half of one. So
none ends before a small letter, nor at a full stop without white space after it (`3.14`, `1.2.3`,
`a@b.org`), nor at an abbreviation or an initial.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from clearhead.errors import InputError
from clearhead.text.normal import language_of
from clearhead.text.streaming import graphemes

__all__ = ["MAX_LENGTH", "Piece", "join", "split"]

MAX_LENGTH: Final = 400

NEVER_END: Final = {
    "": "mr mrs ms dr prof cf vs e.g i.e al ca vgl resp incl ph.d",
    "en": "messrs mx fr rev hon gen col maj capt cmdr lt sgt sen rep gov pres supt mt viz approx",
    "de": "hr hrn fr frl bzw z.b d.h u.a o.ä s.o s.u i.d.r z.t v.a ggf evtl sog inkl exkl zzgl geb "
    "gest verh dipl ing mag allg bspw einschl ehem",
    "fr": "mme mlle mgr p.ex c.-à-d av env éd sté",
    "es": "sr sra srta sres dª dra lic ing arq gral cnel tte ud uds pdte avda aprox p.ej ee.uu",
    "it": "sig sigg sig.ra sig.na dott dott.ssa avv ing geom prof.ssa p.es",
    "pt": "sr sra srta sres dra profª exmo exma ilmo eng arq av p.ex aprox",
    "hi": "डॉ डा श्री श्रीमती सुश्री प्रो पं स्व कु मो मि एड ए बी सी डी एफ एच जे के एल एम एन ओ क्यू आर "
    "एस टी यू वी डब्ल्यू एक्स वाई जेड",
}
"""Abbreviations after which a sentence goes on, by language; those of "" are for all languages."""

BEFORE_NUMBER: Final = {
    "": "no nos nr art fig vol pp p cap ch sec tab abs ver v",
    "en": "jan feb mar apr jun jul aug sep sept oct nov dec eq par",
    "de": "abb bd kap anm rn ziff s jan feb mär apr aug sept okt nov dez tel",
    "fr": "n num chap bd tél janv févr avr juil sept oct nov déc",
    "es": "núm pág págs tel",
    "it": "n num pag pagg tel",
    "pt": "n núm pág págs séc tel",
    "hi": "क्र सं पृ नं",
}
"""Abbreviations after which a sentence goes on if a number follows: No. 5, S. 12, Vol. II."""

MAY_END: Final = "st inc ltd corp co jr sr bros ave blvd rd"
STARTERS: Final = {
    "en": "The He She It They We You I A This That These Those But And In On At When If However "
    "There His Her Its Our My Their What Why Who How As After Before For From Then Is Was",
    "de": "Der Die Das Er Sie Es Wir Ich Ein Eine Und Aber In Im Am Auf Dieser Diese Dieses Doch",
    "fr": "Le La Les Il Elle Ils Elles On Nous Vous Je Un Une Et Mais Ce Cette Ces Dans En Pour",
    "es": "El La Los Las Un Una Él Ella Ellos Y Pero En Es Este Esta Esto Se No",
    "it": "Il La Lo Gli Le Un Una E Ma In Questo Questa È Non Si",
    "pt": "O A Os As Um Uma E Mas Ele Ela Em Este Esta É Não",
}
"""Words that begin a sentence after `MAY_END`, an initial or an ordinal: in the U.S. He left."""

ORDINALS: Final = "cs da de et fi hr hu is lb lv nb nn no pl sk sl sr tr"
"""Languages in which 3. means the third."""

_STOPS = ".!?…‼⁇⁈⁉"
_WIDE_STOPS = "。！？｡．"  # no white space follows
_OTHER_STOPS = "।॥۔؟።፧፨។៕။།༎։"  # white space may follow
_CLOSERS = "\"'”’»›)]}*_」』】）〉》〕］｝＂＇"
_OPENERS = "\"'“‘„‚«‹»›([{*_¿¡「『【（〈《〔［｛＂＇-–—"
_BEFORE_WORD = f"{_OPENERS} \xa0\u202f"
_COMMAS = ",;:،؛，、；："
_GOES_ON = f"{_STOPS}{_COMMAS})]}}"
_SHUT = f"[{re.escape(_CLOSERS)}]*"

_END = re.compile(
    rf"([{_STOPS}{_WIDE_STOPS}]+|[{_OTHER_STOPS}](?: ?[{_OTHER_STOPS}])*)"
    rf"({_SHUT}(?:[“«‹](?=\s|$)|[ \xa0\u202f][»”](?=[\s.,;:!?…]|$))?)"
)
_BULLET = re.compile(r"(?:[-–—*•‣◦▪●○·+#>]{1,6}|\(?(?:\d{1,3}|[a-zA-Z])\)|\d{1,3}\.)\s+")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_LETTER = r"[^\W\d_][\u0300-\u036f]*"
_INITIALS = re.compile(rf"(?:{_LETTER}\.-?)*{_LETTER}")  # J, U.S, J.-C
_NUMBER = re.compile(r"\d|[IVXLC]+\b")
_ORDINAL = re.compile(r"\d{1,2}\.\s")
_DATE = re.compile(
    r"\d{1,2}\.\s+(?:Jan|Jän|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Jahrhundert|Weltkrieg)"
)
_BREAKS = (  # where a sentence that is too long is cut, best first
    re.compile(rf"[{_STOPS};:]{_SHUT}(?=\s)|[{_WIDE_STOPS}{_OTHER_STOPS}；：؛]{_SHUT}"),
    re.compile(r"[,،](?=\s)|[，、—]|(?<=\s)–(?=\s)"),
)


class Piece(NamedTuple):
    """A sentence without white space around it, or what stands between two sentences."""

    text: str
    is_sentence: bool


def split(text: str, language: str | None = None, max_length: int = MAX_LENGTH) -> list[Piece]:
    r"""Cut a text into sentences and what is between them; all pieces together are the text.

    No sentence is longer than `max_length` characters: a longer one is cut at ; : and the like,
    then at , or –, then at a space, and if it has none, between two graphemes. `language` is a code
    such as `de` or `pt-BR`, and chooses the abbreviations; without it, all of them are known.

    >>> for piece in split("  Dr. Rao left. डॉ. राव गए।\n"):
    ...     print(piece)
    Piece(text='  ', is_sentence=False)
    Piece(text='Dr. Rao left.', is_sentence=True)
    Piece(text=' ', is_sentence=False)
    Piece(text='डॉ. राव गए।', is_sentence=True)
    Piece(text='\n', is_sentence=False)
    """
    if max_length < 1:
        raise InputError(f"max_length={max_length} leaves no room for a sentence: give 1 or more")
    rules = _rules(language_of(language) if language else "")
    pieces: list[Piece] = []
    between: list[str] = []
    for line in text.splitlines(keepends=True):
        for part in _parts(line, rules, max_length):
            if not part.is_sentence:
                between.append(part.text)
                continue
            if kept := "".join(between):
                pieces.append(Piece(kept, False))
                between.clear()
            pieces.append(part)
    if kept := "".join(between):
        pieces.append(Piece(kept, False))
    return pieces


def join(pieces: Sequence[Piece], translations: Sequence[str]) -> str:
    """Put the translations in the place of the sentences, and keep all that stands between.

    Where two sentences had no space between them, as in Chinese, one is added if the translation is
    written with spaces: if neither side of the joint is Chinese or Japanese. None is added where a
    long word was cut. No white space is taken away.

    >>> join(split("你好。再见。"), ["Hello.", "Goodbye."])
    'Hello. Goodbye.'
    """
    n_sentences = sum(piece.is_sentence for piece in pieces)
    if n_sentences != len(translations):
        raise InputError(
            f"{len(translations)} translations do not fit {n_sentences} sentences: "
            "give one for each sentence"
        )
    remaining = iter(translations)
    parts: list[str] = []
    last = ""  # the last character so far
    before = ""  # the sentence that stood just before
    for piece in pieces:
        text = next(remaining) if piece.is_sentence else piece.text
        if before and piece.is_sentence and _meet(before, piece.text) and _needs_space(last, text):
            parts.append(" ")
        parts.append(text)
        last = text[-1:] or last
        before = piece.text if piece.is_sentence else ""
    return "".join(parts)


def _meet(left: str, right: str) -> bool:
    """Whether two sentences without white space between them meet here, and not parts of a word."""
    if left[-1] in _STOPS + _OTHER_STOPS + _CLOSERS:
        return True
    # Chinese and Japanese, and Thai, Lao, Tibetan, Burmese and Khmer, have no space between words.
    return any(
        _is_east_asian(edge) or "\u0e00" <= edge <= "\u109f" or "\u1780" <= edge <= "\u17ff"
        for edge in (left[-1], right[0])
    )


def _needs_space(left: str, right: str) -> bool:
    edges = left[-1:] + right[:1]
    return len(edges) == 2 and not any(e.isspace() or _is_east_asian(e) for e in edges)


def _is_east_asian(character: str) -> bool:
    """Whether it is Chinese or Japanese, where no space stands between two sentences."""
    is_wide = unicodedata.east_asian_width(character) in ("W", "F")
    return is_wide and not "가" <= character <= "힣"


@dataclass(frozen=True, slots=True)
class _Rules:
    """What is known of a language."""

    never_end: frozenset[str]
    before_number: frozenset[str]
    may_end: frozenset[str]
    starters: frozenset[str]
    has_ordinals: bool


@cache
def _rules(language: str) -> _Rules:
    """Rules of a language; if it has no list of its own, the abbreviations of all languages."""
    chosen = ("", language) if language and language in NEVER_END else tuple(NEVER_END)
    return _Rules(
        never_end=frozenset(" ".join(NEVER_END[name] for name in chosen).split()),
        before_number=frozenset(" ".join(BEFORE_NUMBER[name] for name in chosen).split()),
        may_end=frozenset(MAY_END.split()),
        starters=frozenset(STARTERS.get(language, STARTERS["en"]).split()),
        has_ordinals=language in ORDINALS.split(),
    )


def _parts(line: str, rules: _Rules, max_length: int) -> Iterator[Piece]:
    """Sentences of one line and what is between them, in their order; some may be empty."""
    end = len(line.rstrip())
    if not end:
        yield Piece(line, False)
        return
    begin = len(line) - len(line.lstrip())
    bullet = _BULLET.match(line, begin, end)
    if bullet and not (bullet[0].rstrip()[-1] == "." and _is_ordinal(line, begin, rules)):
        begin = bullet.end()
    yield Piece(line[:begin], False)
    for match in _END.finditer(line, begin, end):
        if match.end() < end and _is_end(line, match, rules):
            yield from _shorten(line[begin : match.end()], max_length)
            begin = match.end()
            while line[begin].isspace():
                begin += 1
            yield Piece(line[match.end() : begin], False)
    yield from _shorten(line[begin:end], max_length)
    yield Piece(line[end:], False)


def _is_end(line: str, match: re.Match[str], rules: _Rules) -> bool:
    """Whether a sentence ends with these marks, which are not the last of the line."""
    stops, closers, after = match[1], match[2], line[match.end()]
    if after in _COMMAS or unicodedata.category(after)[0] == "M":
        return False
    if stops[-1] in _OTHER_STOPS:
        return not (stops[-1] in "॥۔" and after.isdecimal())
    if after.isspace():
        return _is_end_before_space(line, match, rules)
    if stops[-1] in _WIDE_STOPS:
        # 「はい。」と言った goes on, but after a bracket or before a quotation another one begins.
        is_whole = not closers or closers[-1] in ")）】］" or after in _OPENERS
        return is_whole and not (stops[-1] == "．" and after.isdecimal())
    return stops[-1] in "!?" and after.isalpha() and _is_east_asian(after)


def _is_end_before_space(line: str, match: re.Match[str], rules: _Rules) -> bool:
    begin = match.end()
    while line[begin].isspace():
        begin += 1
    if line[begin] in _GOES_ON:
        return False
    following = line[begin : begin + 40].lstrip(_BEFORE_WORD)
    if following[:1].islower():
        return False
    if match[1] != ".":
        return True
    start = match.start()
    words = line[max(0, start - 30) : start]
    word = "" if words[-1:].isspace() or not words else words.split()[-1].lstrip(_OPENERS)
    if word.lower() in rules.never_end:
        return False
    if _NUMBER.match(following) and word.lower() in rules.before_number:
        return False
    is_ordinal = _is_ordinal(line, start - len(word), rules)
    if is_ordinal or word.lower() in rules.may_end or _is_initial(word):
        return re.split(r"['’\s]", following, maxsplit=1)[0] in rules.starters
    return True


def _is_initial(word: str) -> bool:
    """Whether it is J in J. Bach, U.S or z.B; in scripts with small letters, or right to left."""
    if not _INITIALS.fullmatch(word):
        return False
    return word.lower() != word.upper() or unicodedata.bidirectional(word[0]) in ("R", "AL")


def _is_ordinal(line: str, begin: int, rules: _Rules) -> bool:
    """Whether 3. means the third here: in German and the like, or before the name of a month."""
    pattern = _ORDINAL if rules.has_ordinals else _DATE
    return pattern.match(line, begin) is not None


def _shorten(sentence: str, max_length: int) -> Iterator[Piece]:
    """Cut a sentence that is too long, into parts and the white space between them."""
    if not _has_words(sentence):
        yield Piece(sentence, False)
        return
    begin = 0
    while len(sentence) - begin > max_length:
        end = begin + _cut(sentence, begin, max_length)
        yield Piece(sentence[begin:end], _has_words(sentence[begin:end]))
        begin = end
        while sentence[begin].isspace():
            begin += 1
        yield Piece(sentence[end:begin], False)
    yield Piece(sentence[begin:], _has_words(sentence[begin:]))


def _has_words(text: str) -> bool:
    return _LETTER_OR_DIGIT.search(text) is not None


def _cut(sentence: str, begin: int, max_length: int) -> int:
    """After how many characters to cut: at most `max_length`, at the best place there is."""
    least, most = begin + max_length // 4, begin + max_length
    for pattern in _BREAKS:
        ends = [match.end() for match in pattern.finditer(sentence, least, most + 1)]
        if ends := [end for end in ends if end <= most]:
            return ends[-1] - begin
    window = sentence[begin : most + 1]
    if window[-1].isspace():
        return len(window.rstrip())
    words = window.rsplit(maxsplit=1)
    if len(words) == 2:
        return len(words[0])
    # No space at all: between two graphemes, unless a single one is too long.
    return len(window) - len(graphemes(window)[-1]) or max_length
