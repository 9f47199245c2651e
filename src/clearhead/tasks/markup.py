"""Texts, numbers and tables as HTML, in which no text can become markup or move its neighbours."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from clearhead.tasks.charts import is_number

__all__ = [
    "UNKNOWN",
    "escaped",
    "isolate",
    "language_code",
    "pairs",
    "say_count",
    "say_number",
    "say_share",
    "table",
]

UNKNOWN = "–"
NO_LANGUAGES = {"src", "tgt", "trg", "ref", "hyp", "col", "one", "two", "in", "out"}
"""Names of columns that only look like codes of languages."""

# What cannot be seen gets a picture: control characters, and halves of surrogate pairs.
_PICTURES = {
    **{code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"},
    **dict.fromkeys([*range(0x7F, 0xA0), *range(0xD800, 0xE000)], 0xFFFD),
}


def escaped(value: Any) -> str:
    r"""Anything as text that HTML takes for nothing else.

    >>> escaped("</p> & \0")
    '&lt;/p&gt; &amp; ␀'
    """
    return escape(str(value).translate(_PICTURES))


def isolate(value: Any, language: str = "") -> str:
    """A text from data: its own direction, whatever is around it, and its language if known."""
    lang = f' lang="{escaped(language)}"' if language else ""
    return f'<bdi dir="auto"{lang}>{escaped(value)}</bdi>'


def language_code(name: Any) -> str:
    """The name of a column as the code of a language, or nothing if it does not look like one.

    >>> [language_code(name) for name in ("hi", "pt_BR", "zh-Hant", "English", "src", 2)]
    ['hi', 'pt-BR', 'zh-Hant', '', '', '']
    """
    code = str(name).replace("_", "-")
    is_code = re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}", code)
    return code if is_code and code.lower() not in NO_LANGUAGES else ""


def say_number(value: Any, n_digits: int = 0) -> str:
    """A number with commas, or a dash.

    >>> say_number(12_345.6), say_number(2.25, 1), say_number(None), say_number(float("nan"))
    ('12,346', '2.2', '–', '–')
    """
    return f"{value:,.{n_digits}f}" if is_number(value) else UNKNOWN


def say_count(value: float) -> str:
    """A large count in a few figures.

    >>> say_count(2_612_224), say_count(48_200), say_count(1_250_000_000)
    ('2.6 million', '48,200', '1.2 billion')
    """
    for unit, name in ((1e9, "billion"), (1e6, "million")):
        if value >= unit:
            return f"{value / unit:.1f} {name}"
    return f"{value:,.0f}"


def say_share(value: Any) -> str:
    """A share of one in per cent; one that is small is still not nothing.

    >>> say_share(0.254), say_share(0.0002), say_share(0)
    ('25.4%', '&lt; 0.1%', '0.0%')
    """
    if not is_number(value):
        return UNKNOWN
    return escaped("< 0.1%") if 0 < value < 0.0005 else f"{value:.1%}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML already; a head with # stands above numbers."""
    kinds = [' class="number"' if head.startswith("#") else "" for head in heads]

    def line(kind: str, cells: Sequence[str]) -> str:
        pairs = zip(kinds, cells, strict=True)
        return f"<tr>{''.join(f'<{kind}{k}>{cell}</{kind}>' for k, cell in pairs)}</tr>\n"

    top = line("th", [head.removeprefix("#") for head in heads])
    body = "".join(line("td", row) for row in rows)
    return f'<div class="scroll"><table>\n<thead>{top}</thead>\n<tbody>{body}</tbody></table></div>'


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """Names and values for a `dl`; both are HTML already."""
    return "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows)
