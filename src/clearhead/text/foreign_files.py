"""The tokenizer of a folder of Hugging Face, whichever of its files it is kept in.

`tokenizer.json` holds everything. Older folders have a vocabulary alone: `vocab.json` with
`merges.txt` (GPT-2), `vocab.txt` (BERT), or a model of SentencePiece (Llama, T5, Marian); how text
is cut must then be known from the kind of tokenizer.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import tokenizers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors

from clearhead.errors import InputError
from clearhead.text.foreign import ROLES, AnyTokenizer, ForeignTokenizer, read_rules
from clearhead.text.sentencepiece import read_sentence_pieces
from clearhead.text.tokenizer import Tokenizer

__all__ = ["read_tokenizer"]

SENTENCE_PIECES: Final = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model")
BYTE_PAIRS: Final = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))
USUAL: Final = {
    "bos": ("<s>", "<|endoftext|>"),
    "eos": ("</s>", "<|endoftext|>"),
    "pad": ("<pad>", "[PAD]"),
    "unk": ("<unk>", "[UNK]", "<|endoftext|>"),
    "cls": ("[CLS]",),
    "sep": ("[SEP]",),
    "mask": ("[MASK]",),
}
"""What special tokens are called where no file names them."""


def read_tokenizer(folder: Path) -> AnyTokenizer | None:
    """The tokenizer of a folder, or nothing if it has none."""
    said = _said(folder)
    path = folder / "tokenizer.json"
    if path.is_file():
        try:
            return Tokenizer.load(path)
        except InputError:  # another's
            rules = read_rules(_read(path), path)
            return ForeignTokenizer(rules, _specials(rules, said, is_usual=False))
    for names, read in _READERS:
        if all((folder / name).is_file() for name in names):
            rules = read(*(folder / name for name in names), said)
            _add_tokens(rules, folder)
            specials = _specials(rules, said, is_usual=True)
            _surround(rules, specials, said)
            return ForeignTokenizer(rules, specials)
    return None


def _said(folder: Path) -> dict[str, Any]:
    """What the other files of the folder say; where two differ, the tokenizer's own is right."""
    found: dict[str, Any] = {}
    names = ("generation_config", "config", "special_tokens_map", "tokenizer_config")
    for name in names:
        path = folder / f"{name}.json"
        if path.is_file():
            found |= {key: value for key, value in _read(path).items() if value is not None}
    return found


def _specials(
    rules: tokenizers.Tokenizer, said: Mapping[str, Any], is_usual: bool
) -> dict[str, int]:
    """Which token has which role: by its text, by its id, or by what it is usually called."""
    found = {}
    for role in ROLES:
        name, number = said.get(f"{role}_token"), said.get(f"{role}_token_id")
        name = name.get("content") if isinstance(name, dict) else name
        number = number[0] if isinstance(number, list) and number else number
        token = rules.token_to_id(name) if isinstance(name, str) else None
        if token is None and isinstance(number, int) and rules.id_to_token(number) is not None:
            token = number
        if token is None and is_usual:
            numbers = (rules.token_to_id(usual) for usual in USUAL[role])
            token = next((number for number in numbers if number is not None), None)
        if token is not None:
            found[role] = token
    names = [rules.id_to_token(token) for token in found.values()]
    rules.add_special_tokens([AddedToken(name, normalized=False) for name in names if name])
    return found


def _add_tokens(rules: tokenizers.Tokenizer, folder: Path) -> None:
    """Tokens that were added after the vocabulary was made, each with its id."""
    path = folder / "added_tokens.json"
    added = _read(path) if path.is_file() else {}
    for name, number in sorted(added.items(), key=lambda pair: pair[1]):
        rules.add_tokens([AddedToken(name, normalized=False)])
        if rules.token_to_id(name) != number:
            raise InputError(f"{path}: the token {name!r} cannot have the id {number}")


def _surround(
    rules: tokenizers.Tokenizer, specials: Mapping[str, int], said: Mapping[str, Any]
) -> None:
    """What is put around a text when its makers encode it."""
    kind = str(said.get("model_type", ""))
    begins = kind in ("llama", "mixtral", "mistral")
    ends = kind in ("t5", "mt5", "marian")
    if "cls" in specials and "sep" in specials:
        before, after = "cls", "sep"
    else:
        before = "bos" if said.get("add_bos_token", begins) else ""
        after = "eos" if said.get("add_eos_token", ends) else ""
    names = {
        role: rules.id_to_token(specials[role]) for role in (before, after) if role in specials
    }
    if not names:
        return
    first, last = names.get(before), names.get(after)
    single = " ".join(part for part in (first, "$A", last) if part)
    pair = " ".join(part for part in ("$B:1", f"{last}:1" if last else None) if part)
    rules.post_processor = processors.TemplateProcessing(
        single=single,
        pair=f"{single} {pair}",
        special_tokens=[(name, specials[role]) for role, name in names.items() if name],
    )


def _read_byte_pairs(
    vocabulary: Path, merges: Path, said: Mapping[str, Any]
) -> tokenizers.Tokenizer:
    """GPT-2: pairs of bytes, each byte disguised as a letter."""
    try:
        model = models.BPE.from_file(str(vocabulary), str(merges))
    except Exception as error:  # the library raises nothing more exact
        raise InputError(f"{vocabulary} and {merges} cannot be read: {error}") from None
    rules = tokenizers.Tokenizer(model)
    has_space = bool(said.get("add_prefix_space", False))
    rules.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=has_space)
    rules.decoder = decoders.ByteLevel()
    rules.post_processor = processors.ByteLevel(trim_offsets=False)
    return rules


def _read_word_pieces(path: Path, said: Mapping[str, Any]) -> tokenizers.Tokenizer:
    """BERT: the longest pieces of each word from the left."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    pieces = [line.rstrip("\r") for line in (lines[:-1] if not lines[-1] else lines)]
    unknown = said.get("unk_token", "[UNK]")
    unknown = unknown["content"] if isinstance(unknown, dict) else unknown
    if unknown not in pieces:
        raise InputError(f"{path} has no {unknown!r}: it is no vocabulary of word pieces")
    numbers = {piece: number for number, piece in enumerate(pieces)}
    rules = tokenizers.Tokenizer(models.WordPiece(numbers, unk_token=unknown))
    rules.normalizer = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=said.get("tokenize_chinese_chars", True),
        strip_accents=said.get("strip_accents"),
        lowercase=said.get("do_lower_case", True),
    )
    rules.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    rules.decoder = decoders.WordPiece()
    return rules


def _read_sentence_pieces(path: Path, said: Mapping[str, Any]) -> tokenizers.Tokenizer:
    """Llama and T5; the latter has a hundred more tokens, for gaps."""
    rules = read_sentence_pieces(path).rules()
    is_t5 = "t5" in str(said.get("model_type", "")) or path.name == "spiece.model"
    n_extra = int(said.get("extra_ids", 100 if is_t5 else 0))
    extra = [f"<extra_id_{number}>" for number in reversed(range(n_extra))]
    rules.add_special_tokens([AddedToken(name, normalized=False) for name in extra])
    return rules


def _read_marian(vocabulary: Path, source: Path, said: Mapping[str, Any]) -> tokenizers.Tokenizer:
    """Marian: text is cut as the source language is, and the ids are in a file of their own."""
    numbers = _read(vocabulary)
    if sorted(numbers.values()) != list(range(len(numbers))):
        raise InputError(f"{vocabulary} does not give each id from 0 to {len(numbers) - 1} once")
    rules = read_sentence_pieces(source).rules(numbers)
    tags = [name for name in numbers if name.startswith(">>") and name.endswith("<<")]
    rules.add_special_tokens([AddedToken(name, normalized=False) for name in tags])
    return rules


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise InputError(f"{path} holds {type(data).__name__}, not an object")
    return data


_READERS: Final[tuple[tuple[tuple[str, ...], Callable[..., tokenizers.Tokenizer]], ...]] = (
    *((names, _read_byte_pairs) for names in BYTE_PAIRS),
    *(((name,), _read_sentence_pieces) for name in SENTENCE_PIECES),
    (("vocab.json", "source.spm"), _read_marian),
    (("vocab.txt",), _read_word_pieces),
)
