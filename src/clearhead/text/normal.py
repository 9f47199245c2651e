"""One way to write each text, and the tokens that stand for no text at all."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from clearhead.errors import ConfigError, InputError

__all__ = [
    "BOS",
    "BYTES",
    "EOS",
    "MASK",
    "PAD",
    "SPECIALS",
    "UNK",
    "check_characters",
    "language_of",
    "language_tags",
    "normalise",
]

SPECIALS: Final = ("<pad>", "<bos>", "<eos>", "<unk>")
"""Padding, begin and end of a sentence, and a word that is not in the vocabulary."""

MASK: Final = "<mask>"
"""A gap to be filled; only vocabularies that are asked for it have such a token."""

PAD: Final = 0
BOS: Final = 1
EOS: Final = 2
UNK: Final = 3

BYTES: Final = tuple(f"<0x{byte:02X}>" for byte in range(256))
"""A token for each byte of UTF-8, for characters that are not in the vocabulary."""


def normalise(text: str) -> str:
    r"""Compose characters (Unicode's NFC): é is always one character, never e and an accent.

    >>> len("e\N{COMBINING ACUTE ACCENT}"), len(normalise("e\N{COMBINING ACUTE ACCENT}"))
    (2, 1)
    """
    return unicodedata.normalize("NFC", check_characters(text))


def check_characters(text: str) -> str:
    """Refuse what is no Unicode text; return all other text as it is."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"character {error.start + 1} of the text is half of a UTF-16 pair "
            f"(U+{ord(text[error.start]):04X}), which is no Unicode text: read the file as UTF-8"
        ) from None
    return text


def language_tags(languages: Sequence[str]) -> tuple[str, ...]:
    """Tokens that say into which language to translate.

    >>> language_tags(["de", "hi"])
    ('<2de>', '<2hi>')
    """
    for language in languages:
        if not re.fullmatch(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*", language):
            raise ConfigError(f"{language!r} is no language code; examples are hi and zh-Hant")
    if len(set(languages)) < len(languages):
        raise ConfigError(f"a language is named twice in {', '.join(languages)}")
    return tuple(f"<2{language}>" for language in languages)


def language_of(name: str) -> str:
    """The language of a code with or without a region.

    >>> language_of("en-GB"), language_of("pt_BR"), language_of("hi")
    ('en', 'pt', 'hi')
    """
    return re.split("[-_]", name.lower())[0]
