"""Tokenizers that others made: the ids that a model was trained with, and no others.

    tokenizer = read_tokenizer(Path("a folder of Hugging Face"))
    tokenizer.decode(tokenizer.encode("A dog runs."))

Unlike ours, such a tokenizer takes "</s>" in a text for the end itself, as its makers do, and its
special tokens may have any ids, or be missing.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import tokenizers

from clearhead.errors import InputError
from clearhead.text.normal import BYTES, check_characters
from clearhead.text.tokenizer import Tokenizer

__all__ = ["ROLES", "AnyTokenizer", "ForeignTokenizer", "load_tokenizer", "read_rules"]

ROLES: Final = ("pad", "bos", "eos", "unk", "cls", "sep", "mask")
"""What a special token may be for."""
MARK: Final = "clearhead"
"""Where our file says which tokens are special; the rest is a file of `tokenizers`."""
_BYTES = frozenset(BYTES)


class ForeignTokenizer:
    """A tokenizer of Hugging Face's `tokenizers`, and which of its tokens are special."""

    kind: Final = "foreign"
    languages: tuple[str, ...] = ()

    def __init__(self, rules: tokenizers.Tokenizer, specials: Mapping[str, int]) -> None:
        rules.no_padding()
        rules.no_truncation()
        self._rules = rules
        self.specials = {role: specials[role] for role in ROLES if role in specials}
        """The ids of the special tokens that are known."""
        self.n_tokens = 1 + max(rules.get_vocab().values(), default=-1)
        """The highest id and one more."""

    @property
    def rules(self) -> tokenizers.Tokenizer:
        """The same tokenizer as an object of the library beneath."""
        return self._rules

    @property
    def pad(self) -> int:
        """The token that fills rows up."""
        return self.special("pad")

    @property
    def bos(self) -> int:
        """The token with which a text begins."""
        return self.special("bos")

    @property
    def eos(self) -> int:
        """The token with which a text ends."""
        return self.special("eos")

    @property
    def unk(self) -> int:
        """The token for what is not in the vocabulary."""
        return self.special("unk")

    @property
    def mask(self) -> int:
        """The token of a gap."""
        return self.special("mask")

    def special(self, role: str) -> int:
        """The id of a special token, such as `mask`."""
        if role not in self.specials:
            known = ", ".join(self.specials) or "none"
            raise InputError(
                f"this tokenizer does not say which of its tokens is {role!r}; known: {known}"
            )
        return self.specials[role]

    def encode(self, text: str, with_specials: bool = False) -> list[int]:
        """Tokens of a text; with those that its makers put around it, if asked for."""
        return self._rules.encode(check_characters(text), add_special_tokens=with_specials).ids

    def encode_batch(self, texts: Sequence[str], with_specials: bool = False) -> list[list[int]]:
        """Tokens of many texts, computed on all cores."""
        checked = [check_characters(text) for text in texts]
        found = self._rules.encode_batch_fast(checked, add_special_tokens=with_specials)
        return [encoding.ids for encoding in found]

    def encode_gaps(self, parts: Sequence[str]) -> list[int]:
        """Tokens of a text with a gap between each two parts."""
        return self.encode((self._rules.id_to_token(self.mask) or "").join(parts))

    def decode(self, tokens: Iterable[int], skip_specials: bool = True) -> str:
        """Text of some tokens; specials are left out, unless asked for."""
        left_out = set(self.specials.values()) - {self.specials.get("unk")} if skip_specials else ()
        kept = [self._checked(token) for token in tokens if token not in left_out]
        return self._rules.decode(kept, skip_special_tokens=skip_specials)

    def tokens(self, tokens: Iterable[int]) -> list[str]:
        r"""Give each token as a readable piece: a space is ▁, a part of a letter is `<0xE2>`."""
        return [self._readable(self._checked(token)) for token in tokens]

    def is_open(self, tokens: Sequence[int]) -> bool:
        """Whether the last letter of these tokens may become another one when more follow."""
        if not self._letters:
            return self._rules.id_to_token(tokens[-1]) in _BYTES
        data = b"".join(self._data(token) for token in tokens)
        try:
            data.decode()
        except UnicodeDecodeError as error:
            return error.reason == "unexpected end of data"
        return False

    def save(self, path: Path) -> None:
        """Write everything into one file, under a temporary name until it is complete."""
        data = {MARK: {"specials": self.specials}, **json.loads(self._rules.to_str())}
        unfinished = path.with_name(f"{path.name}.part")
        unfinished.write_text(json.dumps(data, indent=2, ensure_ascii=False), encoding="utf-8")
        unfinished.replace(path)

    @classmethod
    def load(cls, path: Path) -> "ForeignTokenizer":
        """Read what `save` wrote, and refuse any other file."""
        data = _read(path)
        if MARK not in data:
            raise InputError(f"{path} does not say which of its tokens are special")
        said = data.pop(MARK)
        specials = said.get("specials") if isinstance(said, dict) else None
        rules = read_rules(data, path)
        if not isinstance(specials, dict) or not all(
            isinstance(token, int) and rules.id_to_token(token) is not None
            for token in specials.values()
        ):
            raise InputError(f"{path} is damaged: its special tokens are not in its vocabulary")
        return cls(rules, specials)

    def _checked(self, token: int) -> int:
        """An embedding may have more rows than there are tokens: those have no text."""
        if token < 0:
            raise InputError(f"token {token} is outside the vocabulary, 0 to {self.n_tokens - 1}")
        return token

    @cached_property
    def _letters(self) -> dict[str, int]:
        """Which letter stands for which byte, if pieces are bytes in disguise (GPT-2)."""
        data = json.loads(self._rules.to_str())["decoder"] or {}
        kinds = [step.get("type") for step in (data, *data.get("decoders", ()))]
        return _byte_letters() if "ByteLevel" in kinds else {}

    def _data(self, token: int) -> bytes:
        piece = self._rules.id_to_token(token) or ""
        if token in self._added or not all(letter in self._letters for letter in piece):
            return piece.encode()
        return bytes(self._letters[letter] for letter in piece)

    @cached_property
    def _is_word_piece(self) -> bool:
        return type(self._rules.model).__name__ == "WordPiece"

    @cached_property
    def _added(self) -> frozenset[int]:
        return frozenset(self._rules.get_added_tokens_decoder())

    def _readable(self, token: int) -> str:
        piece = self._rules.id_to_token(token)
        if piece is None:
            return f"<{token}>"
        if token in self._added or token in self.specials.values():
            return piece
        if self._letters:
            data = self._data(token)
            try:
                piece = data.decode()
            except UnicodeDecodeError:
                return "".join("▁" if byte == 32 else BYTES[byte] for byte in data)
        elif self._is_word_piece:
            piece = piece[2:] if piece.startswith("##") else f"▁{piece}"
        return "".join(
            "▁" if letter == " " else letter if ord(letter) >= 32 else ascii(letter)[1:-1]
            for letter in piece
        )


AnyTokenizer = Tokenizer | ForeignTokenizer


def load_tokenizer(path: Path) -> AnyTokenizer:
    """Read the tokenizer of a model folder, ours or another's."""
    return ForeignTokenizer.load(path) if MARK in _read(path) else Tokenizer.load(path)


def read_rules(data: dict[str, Any], path: Path) -> tokenizers.Tokenizer:
    """The rules that a file of `tokenizers` holds."""
    try:
        return tokenizers.Tokenizer.from_str(json.dumps(data))
    except Exception as error:  # the library raises nothing more exact
        raise InputError(f"{path} is damaged or no tokenizer: {error}") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:  # not UTF-8, or not JSON
        raise InputError(f"{path} is damaged or no tokenizer: {error}") from None
    if not isinstance(data, dict):
        raise InputError(f"{path} is damaged or no tokenizer: it holds no object")
    return data


def _byte_letters() -> dict[str, int]:
    """GPT-2's letters for bytes: those that can be seen stand for themselves, others are moved."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in seen]
    return {chr(byte): byte for byte in seen} | {
        chr(256 + number): byte for number, byte in enumerate(hidden)
    }
