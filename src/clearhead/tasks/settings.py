"""What can be asked of a translator, in words; and what it means for the decoder, in tokens.

All fields of `DecodingConfig` can be asked for, and those of `Settings` itself.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from clearhead.decoding import DecodingConfig, Request, SearchLog
from clearhead.errors import ConfigError, InputError, nearest
from clearhead.tasks.glossary import Glossary, has_no_spaces
from clearhead.tasks.lengths import max_length_for
from clearhead.tasks.long_text import even
from clearhead.text import SPECIALS, AnyTokenizer, normalise
from clearhead.text.normal import BYTES

__all__ = ["Settings", "read_settings"]

_BYTES = frozenset(BYTES)
_NOT_ASKED = {"tokenizer", "decoding", "length_ratio", "max_source"}
"""Fields that come from the model and its card."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How the answers are chosen, and what they must and may not hold."""

    tokenizer: AnyTokenizer
    length_ratio: float | None = None
    """How many times as long as their sources answers may be; see `max_length_for`."""
    max_source: int | None = None
    """The most tokens of a text that are read. A text with this limit is not cut into sentences,
    and the answer need not hold all that it holds."""
    decoding: DecodingConfig
    max_length: int | None = None
    """The most tokens of one sentence; without it, as many as `max_length_for` its source."""
    prefix: str = ""
    """How the answer begins."""
    forbidden: tuple[str, ...] = ()
    """Texts that may not appear."""
    stop: tuple[str, ...] = ()
    """Texts before which the answer ends."""
    glossary: Glossary
    alignment: bool = False
    """Whether to tell which source token each token of the answer reads most."""
    log: bool = False
    """Whether to tell how each answer was found."""

    def __post_init__(self) -> None:
        """Refuse what contradicts itself."""
        if self.glossary and self.decoding.temperature > 0:
            raise InputError("a glossary needs beam search: set temperature to 0, or leave it out")
        if self.max_length is not None and self.max_length < self.decoding.min_length:
            raise InputError(
                f"max_length={self.max_length} is less than min_length={self.decoding.min_length}: "
                "no answer is so short and so long"
            )
        for wanted in (self.prefix, *self.glossary.targets):
            for text in (*self.forbidden, *self.stop):
                if text in f" {wanted} ":
                    raise InputError(
                        f"{wanted!r} must be in the answer, and {text!r} may not: leave out one"
                    )

    def request(self, sentence: str, tokens: list[int]) -> Request:
        """Ask the decoder for the translation of one sentence."""
        required = tuple(map(self._encode_term, self.terms(sentence)))
        source = [*tokens[: self.max_source], self.tokenizer.eos]
        n_given = len(self._prefix) + sum(map(len, required))
        return Request(
            source,
            self.max_length or max_length_for(len(source), self.length_ratio) + n_given,
            self.decoding,
            prefix=self._prefix,
            required=required,
            forbidden=self._forbidden_tokens,
            is_wrong=self._is_wrong if self.forbidden else None,
            is_enough=self._is_enough if self.stop else None,
            log=SearchLog() if self.log else None,
        )

    def n_unread(self, sentence: str, request: Request) -> int | None:
        """How many tokens at the end of a text are left out; nothing if all must be read."""
        if self.max_source is None:
            return None
        return len(self.tokenizer.encode(sentence)) + 1 - len(request.source)

    def terms(self, sentence: str) -> list[str]:
        """What the glossary asks for in the answer to a sentence."""
        return self.glossary.find(sentence) if self.glossary else []

    def text(self, tokens: Iterable[int]) -> str:
        """The answer in one line: a model may have learned to write a line break."""
        text = even(self.tokenizer.decode(tokens))
        places = [place for place in map(text.find, self.stop) if place >= 0]
        return text[: min(places)].rstrip() if places else text

    def is_cut(self, request: Request, tokens: tuple[int, ...]) -> bool:
        """Whether an answer has as many tokens as it may, and so did not come to its end."""
        return len(tokens) >= request.max_length and not (self.stop and self._is_enough(tokens))

    @cached_property
    def _prefix(self) -> tuple[int, ...]:
        return self._encode("prefix", self.prefix) if self.prefix else ()

    @cached_property
    def _forbidden_tokens(self) -> frozenset[int]:
        """Tokens that hold a forbidden text by themselves; others hold it only together."""
        if not self.forbidden:
            return frozenset()
        first = len(SPECIALS) + len(self.tokenizer.languages)
        tokens = range(first, self.tokenizer.n_tokens)
        pieces = zip(tokens, self.tokenizer.tokens(tokens), strict=True)
        return frozenset(
            token
            for token, piece in pieces
            if piece not in _BYTES
            if any(text in f"{piece} ".replace("▁", " ") for text in self.forbidden)
        )

    def _is_wrong(self, tokens: tuple[int, ...]) -> bool:
        """Whether a forbidden text is there; both ends of the answer count as spaces."""
        text = f" {even(self.tokenizer.decode(tokens))} "
        return any(part in text for part in self.forbidden)

    def _is_enough(self, tokens: tuple[int, ...]) -> bool:
        text = even(self.tokenizer.decode(tokens))
        return any(part in text for part in self.stop) and not self._is_wrong(tokens)

    def _encode_term(self, term: str) -> tuple[int, ...]:
        """The tokens of a term within a sentence: after a space, where the script has spaces."""
        if has_no_spaces(term):
            return self._encode("glossary", term, after="。")  # no word goes on after it
        return self._encode("glossary", f" {term}" if self.tokenizer.kind == "char" else term)

    def _encode(self, name: str, text: str, after: str = "") -> tuple[int, ...]:
        tokens = self.tokenizer.encode(after + text)[len(self.tokenizer.encode(after)) :]
        if self.tokenizer.unk in tokens:
            raise InputError(
                f"the {name} holds {text.strip()!r}, and a word of it is not in the vocabulary of "
                "this model: leave it out"
            )
        return tuple(tokens)


def read_settings(
    given: Mapping[str, Any], tokenizer: AnyTokenizer, length_ratio: float | None = None
) -> Settings:
    """Check what is asked for; an unknown name fails with the nearest known one."""
    decoding = {field.name for field in fields(DecodingConfig)}
    own = {field.name for field in fields(Settings)} - _NOT_ASKED
    for name in given:
        if name not in decoding | own:
            raise ConfigError(f"no setting {name!r}: {nearest(name, decoding | own)}")
    max_length, prefix = given.get("max_length"), given.get("prefix") or ""
    if max_length is not None and (type(max_length) is not int or max_length < 1):
        raise ConfigError(f"max_length={max_length!r} must be a number of tokens, at least 1")
    if not isinstance(prefix, str):
        raise ConfigError(f"prefix={prefix!r} must be a text")
    glossary = given.get("glossary") or {}
    if not isinstance(glossary, Mapping):
        raise ConfigError(
            f"glossary={glossary!r} must be a dictionary of terms: `read_glossary` reads a file"
        )
    return Settings(
        tokenizer=tokenizer,
        length_ratio=length_ratio,
        decoding=DecodingConfig(**{name: given[name] for name in given if name in decoding}),
        max_length=max_length,
        prefix=even(normalise(prefix)),
        forbidden=_texts("forbidden", given.get("forbidden")),
        stop=_texts("stop", given.get("stop")),
        glossary=Glossary(glossary),
        alignment=bool(given.get("alignment", False)),
        log=bool(given.get("log", False)),
    )


def _texts(name: str, given: Any) -> tuple[str, ...]:
    """One text or several, with single spaces as in an answer; those at the ends are kept."""
    texts = [given] if isinstance(given, str) else given or []
    if not isinstance(texts, list | tuple) or any(
        not isinstance(text, str) or not text.strip() for text in texts
    ):
        raise ConfigError(f"{name}={given!r} must be a list of texts that are not blank")
    return tuple(re.sub(r"\s+", " ", normalise(text)) for text in texts)
