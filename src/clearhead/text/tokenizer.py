"""Text to tokens and back: a model reads numbers, and each number stands for a piece of text.

    tokenizer = Tokenizer.train(lines, "bpe")
    tokenizer.decode(tokenizer.encode("A dog runs.")) == "A dog runs."

What is promised: `decode(encode(text))` is the text in Unicode's composed form (NFC), character by
character, for every text and every kind but `word`. A word-level vocabulary promises it for texts
whose tokens hold no `<unk>`. A text that contains "<eos>" gets ordinary tokens for it, never the
special one. So does a text that contains "<mask>": gaps are made by `encode_gaps` alone.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, get_args

import tokenizers

from clearhead.errors import ConfigError, InputError, nearest
from clearhead.text.learning import MAX_SIZE, Kind, choose_size, learn, pipeline
from clearhead.text.normal import (
    BOS,
    BYTES,
    EOS,
    MASK,
    PAD,
    SPECIALS,
    UNK,
    language_tags,
    normalise,
)

__all__ = ["Tokenizer"]

_BYTES = frozenset(BYTES)


class Tokenizer:
    """A vocabulary and its rules, which travel together in one file, `tokenizer.json`.

    The first tokens are `<pad> <bos> <eos> <unk>` (0 to 3), then a tag for each language, `<2hi>`,
    and `<mask>` if there are to be gaps. The file has the format of Hugging Face `tokenizers` and
    can be opened there too.
    """

    pad = PAD
    bos = BOS
    eos = EOS
    unk = UNK

    def __init__(self, rules: tokenizers.Tokenizer, kind: Kind, languages: Sequence[str]) -> None:
        self.kind: Kind = kind
        self.languages = tuple(languages)
        self._rules = rules
        self._pieces = _by_number(rules)
        n_specials = len(SPECIALS) + len(languages)
        self.has_mask = self._pieces[n_specials : n_specials + 1] == [MASK]
        """Whether there is a token for a gap."""
        self.n_specials = n_specials + self.has_mask
        """How many tokens stand for no text; they come first."""

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        kind: Kind = "bpe",
        n_tokens: int | None = None,
        languages: Sequence[str] = (),
        *,
        has_mask: bool = False,
    ) -> "Tokenizer":
        """Learn a vocabulary of at most `n_tokens`; the same texts give the same tokenizer.

        For two languages that share a vocabulary, give the texts of both. Without `n_tokens`,
        `choose_size` takes the texts for sentence pairs; words are at most 32,000, and characters
        all that occur. The texts are held in memory: give a sample of a very large corpus.
        """
        if kind not in get_args(Kind):
            raise ConfigError(f"no kind of tokenizer {kind!r}: {nearest(kind, get_args(Kind))}")
        tags = (*language_tags(languages), *([MASK] if has_mask else []))
        texts = [normalise(text) for text in texts]
        if not any(text.strip() for text in texts):
            raise InputError("there is no text to learn a vocabulary from")
        if n_tokens is None:
            n_tokens = _default_size(texts, kind)
        return cls(learn(texts, kind, n_tokens, tags), kind, languages)

    @property
    def rules(self) -> tokenizers.Tokenizer:
        """The same tokenizer as an object of the library beneath."""
        return self._rules

    @property
    def n_tokens(self) -> int:
        """How many tokens there are, special ones included."""
        return len(self._pieces)

    def tag(self, language: str) -> int:
        """Return the token that asks for a language."""
        if language not in self.languages:
            raise InputError(
                f"the tokenizer has no tag for {language!r}: {nearest(language, self.languages)}"
            )
        return len(SPECIALS) + self.languages.index(language)

    @property
    def mask(self) -> int:
        """The token of a gap."""
        if not self.has_mask:
            raise InputError("this tokenizer has no token for a gap: it was not made to fill them")
        return self.n_specials - 1

    def encode(self, text: str) -> list[int]:
        """Tokens of a text, without `<bos>` and `<eos>`."""
        return self._rules.encode(normalise(text), add_special_tokens=False).ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Tokens of many texts, computed on all cores."""
        normal = [normalise(text) for text in texts]
        found = self._rules.encode_batch_fast(normal, add_special_tokens=False)
        return [encoding.ids for encoding in found]

    def encode_gaps(self, parts: Sequence[str]) -> list[int]:
        """Tokens of a text with a gap between each two parts.

        A piece holds the space before it, and so does a gap, unless pieces are single characters.
        """
        tokens: list[int] = []
        for number, part in enumerate(map(normalise, parts)):
            if number < len(parts) - 1 and self.kind != "char":
                part = part.removesuffix(" ")
            if number == 0:
                tokens += self.encode(part)
            else:
                tokens += [self.mask, *self._encode_on(part)]
        return tokens

    def _encode_on(self, text: str) -> list[int]:
        """Tokens of a normal text that follows other tokens: no space is put before it."""
        cut = self._rules.pre_tokenizer
        words = [text] if cut is None else [word for word, _ in cut.pre_tokenize_str(text)]
        return [token.id for word in words if word for token in self._rules.model.tokenize(word)]

    def decode(self, tokens: Iterable[int], skip_specials: bool = True) -> str:
        """Text of some tokens.

        Specials and tags are left out, unless asked for; `<unk>` always stays, because it stands
        for a word. Bytes that are no UTF-8 become �.
        """
        kept = []
        for token in tokens:
            piece = self._piece(token)
            if token == UNK:
                kept.append(f" {piece}" if self.kind == "word" else piece)
            elif token >= self.n_specials or not skip_specials:
                kept.append(piece)
        return self._rules.decoder.decode(kept) if self._rules.decoder else "".join(kept)

    def tokens(self, tokens: Iterable[int]) -> list[str]:
        r"""Give each token as a readable piece: a space is ▁, a single byte looks like `<0xE2>`."""
        return [_readable(self._piece(token)) for token in tokens]

    def is_open(self, tokens: Sequence[int]) -> bool:
        """Whether the last letter of these tokens may become another one when more follow."""
        return self._piece(tokens[-1]) in _BYTES

    def save(self, path: Path) -> None:
        """Write everything into one file, under a temporary name until it is complete."""
        unfinished = path.with_name(f"{path.name}.part")
        unfinished.write_text(self._rules.to_str(pretty=True) + "\n", encoding="utf-8")
        unfinished.replace(path)

    @classmethod
    def load(cls, path: Path) -> "Tokenizer":
        """Read what `save` wrote, and refuse any other file."""
        try:
            text = path.read_text(encoding="utf-8")
            data = json.loads(text)
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from None
        except ValueError as error:  # not UTF-8, or not JSON
            raise InputError(f"{path} is damaged or no tokenizer: {error}") from None
        kind = _kind(data)
        try:
            rules = tokenizers.Tokenizer.from_str(text)
        except Exception as error:  # the library raises nothing more exact
            raise InputError(f"{path} is damaged or no tokenizer: {error}") from None
        if kind is None or not _is_ours(rules, kind):
            raise InputError(f"{path} is a tokenizer that Clearhead did not make, and cannot use")
        pieces = _by_number(rules)[len(SPECIALS) :]
        n_tags = next((n for n, piece in enumerate(pieces) if not _is_tag(piece)), len(pieces))
        return cls(rules, kind, [piece[2:-1] for piece in pieces[:n_tags]])

    def _piece(self, token: int) -> str:
        if not 0 <= token < len(self._pieces):
            raise InputError(f"token {token} is outside the vocabulary, 0 to {self.n_tokens - 1}")
        return self._pieces[token]


def _default_size(texts: Sequence[str], kind: Kind) -> int:
    match kind:
        case "bpe" | "unigram":
            return choose_size(len(texts) // 2, sum(map(len, texts)))
        case "word":
            return MAX_SIZE
        case "char":
            return 0x110000  # all of Unicode


def _by_number(rules: tokenizers.Tokenizer) -> list[str]:
    numbers = rules.get_vocab()
    return sorted(numbers, key=numbers.__getitem__)


def _is_tag(piece: str) -> bool:
    return piece.startswith("<2") and piece.endswith(">")


def _readable(piece: str) -> str:
    return "".join(
        "▁" if character == " " else character if ord(character) >= 32 else ascii(character)[1:-1]
        for character in piece
    )


def _kind(data: Any) -> Kind | None:
    """Which of our kinds the data of a tokenizer file could be."""
    if not isinstance(data, dict) or not isinstance(data.get("model"), dict):
        return None
    kinds: dict[str, Kind] = {"BPE": "bpe", "Unigram": "unigram", "WordLevel": "word"}
    kind = kinds.get(data["model"].get("type", ""))
    return "char" if kind == "bpe" and data.get("pre_tokenizer") is None else kind


def _is_ours(rules: tokenizers.Tokenizer, kind: Kind) -> bool:
    """Whether the steps and the first tokens are those that `train` makes."""
    pieces = _by_number(rules)
    same = pipeline(rules.model, kind)
    found, wanted = json.loads(rules.to_str()), json.loads(same.to_str())
    first = next((n for n, piece in enumerate(pieces) if piece == BYTES[0]), 0)
    return (
        found == wanted
        and [rules.token_to_id(piece) for piece in pieces] == list(range(len(pieces)))
        and pieces[: len(SPECIALS)] == list(SPECIALS)
        and (kind == "word" or pieces[first : first + len(BYTES)] == list(BYTES))
    )
