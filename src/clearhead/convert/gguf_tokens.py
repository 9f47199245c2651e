"""A tokenizer as llama.cpp knows it, so that a text has the same ids there and here.

llama.cpp has two forms that fit. `llama` is SentencePiece's: of all neighbours whose joint piece is
in the vocabulary, those with the best score join first. `gpt2` has bytes in disguise, a list of the
pairs that join, and the name of the rule by which a text is cut into words.

The first form knows no words. It still finds what our byte pairs find: a piece that was learnt from
the pair (l, r) can only ever come from this pair, because all that happens between its two ends is
the same wherever it stands. So the order of the pairs, as scores, is enough.
"""

import json
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final

from clearhead.errors import InputError
from clearhead.text import AnyTokenizer, ForeignTokenizer, Tokenizer
from clearhead.text.normal import BYTES

__all__ = ["GgufTokens", "PieceKind", "tokens_for_gguf"]

SPACE: Final = "▁"
RUNS: Final = (
    "this vocabulary joins runs of spaces or line breaks, which llama.cpp may cut differently"
)
FIRST_SPACE: Final = "llama.cpp puts a space before a text, also if it begins with one"

LLAMA_3: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN_2: Final = LLAMA_3.replace(r"\p{N}{1,3}|", r"\p{N}|")
CUTS: Final = {
    ("ByteLevel",): "gpt-2",
    ("Digits", "ByteLevel"): "smollm",
    (LLAMA_3, "bytes"): "llama-bpe",
    (QWEN_2, "bytes"): "qwen2",
}
"""What llama.cpp calls the ways to cut a text into words."""


class PieceKind(IntEnum):
    """What a token is for, in llama.cpp's numbers."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


@dataclass(frozen=True)
class GgufTokens:
    """All that a GGUF file says of a tokenizer."""

    model: str
    """`llama` or `gpt2`."""
    pieces: list[str]
    kinds: list[PieceKind]
    specials: dict[str, int]
    scores: list[float] = field(default_factory=list)
    """Of `llama`: the higher, the earlier a piece is made."""
    merges: list[str] = field(default_factory=list)
    """Of `gpt2`: the pairs that join, the first ones first."""
    cut: str = "default"
    """Of `gpt2`: how a text is cut into words."""
    adds_space: bool = False
    adds_bos: bool = False
    adds_eos: bool = False
    notes: tuple[str, ...] = ()
    """What is not the same in llama.cpp."""


def tokens_for_gguf(tokenizer: AnyTokenizer, n_tokens: int) -> GgufTokens:
    """The tokens of a model with `n_tokens` embeddings; what has no form is refused."""
    if tokenizer.n_tokens > n_tokens:
        raise InputError(
            f"the tokenizer has {tokenizer.n_tokens} tokens, and the model only {n_tokens}"
        )
    if isinstance(tokenizer, Tokenizer):
        return _ours(tokenizer, n_tokens)
    data = json.loads(tokenizer.rules.to_str())
    model = data["model"]
    odd = ("dropout", "continuing_subword_prefix", "end_of_word_suffix")
    if model["type"] != "BPE" or any(model.get(name) for name in odd):
        raise InputError(
            f"a tokenizer of the kind {model['type']} has no form in GGUF: plain byte pairs have"
        )
    if model["byte_fallback"]:
        return _sentence_pieces(tokenizer, data, n_tokens)
    return _byte_level(tokenizer, data, n_tokens)


def _ours(tokenizer: Tokenizer, n_tokens: int) -> GgufTokens:
    """Character by character, or byte pairs. A text begins where another has ended: with `<eos>`.

    Pieces of spaces alone get the lowest scores, because a word takes the space before it first.
    """
    if tokenizer.kind not in ("bpe", "char"):
        raise InputError(
            f"a vocabulary of the kind {tokenizer.kind!r} has no form in GGUF: bpe and char have"
        )
    data = json.loads(tokenizer.rules.to_str())
    pieces, kinds = _listed(data, n_tokens)
    if any(SPACE in piece for piece in pieces):
        raise InputError(f"this vocabulary has the character {SPACE}, which is a space in GGUF")
    kinds[: tokenizer.n_specials] = [PieceKind.CONTROL] * tokenizer.n_specials
    kinds[tokenizer.unk] = PieceKind.UNKNOWN
    scores = _scores(data["model"]["merges"])
    runs = [piece for piece in scores if piece.isspace()]
    scores |= {piece: scores[piece] - len(data["model"]["merges"]) for piece in runs}
    roles = ("eos", "unk", "pad")
    return GgufTokens(
        model="llama",
        pieces=[piece.replace(" ", SPACE) for piece in pieces],
        kinds=_with_bytes(pieces, kinds),
        scores=[scores.get(piece, 0.0) for piece in pieces],
        specials={"bos": tokenizer.eos, **{role: getattr(tokenizer, role) for role in roles}},
        adds_space=tokenizer.kind == "bpe",
        notes=(RUNS,) if runs else (),
    )


def _sentence_pieces(
    tokenizer: ForeignTokenizer, data: dict[str, Any], n_tokens: int
) -> GgufTokens:
    """Byte pairs of SentencePiece, in the form that `tokenizers` has for them."""
    pieces, kinds = _listed(data, n_tokens)
    kinds = _with_bytes(pieces, kinds)
    if kinds.count(PieceKind.BYTE) < len(BYTES):
        raise InputError("this vocabulary lacks some of the 256 bytes, which llama.cpp needs")
    if "unk" in tokenizer.specials:
        kinds[tokenizer.unk] = PieceKind.UNKNOWN
    adds_space, notes = _space_before(data)
    merges = data["model"]["merges"]
    scores, lowest = _scores(merges), -float(len(merges))
    return GgufTokens(
        model="llama",
        pieces=pieces,
        kinds=kinds,
        scores=[scores.get(piece, lowest) for piece in pieces],
        adds_space=adds_space,
        notes=notes,
        **_ends(tokenizer),
    )


def _byte_level(tokenizer: ForeignTokenizer, data: dict[str, Any], n_tokens: int) -> GgufTokens:
    """Byte pairs whose letters are bytes, as GPT-2 has them."""
    model, normal = data["model"], data["normalizer"]
    cut = CUTS.get(_cut_of(data["pre_tokenizer"]))
    if cut is None or (normal and normal["type"] != "NFC"):
        raise InputError("llama.cpp has no name for the way in which this tokenizer cuts words")
    if model.get("ignore_merges", False) != (cut == "llama-bpe"):
        raise InputError(f"llama.cpp has no ignore_merges={model['ignore_merges']} for {cut}")
    pieces, kinds = _listed(data, n_tokens)
    return GgufTokens(
        model="gpt2",
        pieces=pieces,
        kinds=kinds,
        merges=[f"{left} {right}" for left, right in model["merges"]],
        cut=cut,
        **_ends(tokenizer),
    )


def _scores(merges: list[list[str]]) -> dict[str, float]:
    """The first pair that gives a piece decides when it is made."""
    found: dict[str, float] = {}
    for rank, (left, right) in enumerate(merges):
        found.setdefault(left + right, -float(rank))
    return found


def _listed(data: dict[str, Any], n_tokens: int) -> tuple[list[str], list[PieceKind]]:
    """The pieces in the order of their ids, and what those are that were added by hand."""
    names = {number: piece for piece, number in data["model"]["vocab"].items()}
    added = {token["id"]: token for token in data["added_tokens"]}
    names |= {number: token["content"] for number, token in added.items()}
    kinds = {
        number: PieceKind.CONTROL if token["special"] else PieceKind.USER_DEFINED
        for number, token in added.items()
    }
    spare = [number for number in range(n_tokens) if number not in names]
    names |= {number: f"[PAD{number}]" for number in spare}
    kinds |= dict.fromkeys(spare, PieceKind.UNUSED)
    numbers = range(n_tokens)
    return [names[n] for n in numbers], [kinds.get(n, PieceKind.NORMAL) for n in numbers]


def _with_bytes(pieces: list[str], kinds: list[PieceKind]) -> list[PieceKind]:
    found = zip(pieces, kinds, strict=True)
    return [PieceKind.BYTE if piece in BYTES else kind for piece, kind in found]


def _steps(data: dict[str, Any] | None, inner: str) -> list[dict[str, Any]]:
    """A step, or the steps of a sequence."""
    if data is None:
        return []
    return data[inner] if data["type"] == "Sequence" else [data]


def _space_before(data: dict[str, Any]) -> tuple[bool, tuple[str, ...]]:
    """Whether a space is put before the text, and what llama.cpp does differently there."""
    first, cuts = _steps(data["normalizer"], "normalizers"), data["pre_tokenizer"]
    replaces = {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}
    puts = [{"type": "Prepend", "prepend": sign} for sign in (" ", SPACE)]
    if cuts is None and first in ([puts[0], replaces], [puts[1], replaces]):
        return True, ()
    if cuts is None and first == [replaces]:
        return False, ()
    is_whole = not first and cuts and cuts["type"] == "Metaspace" and not cuts["split"]
    if is_whole and cuts["replacement"] == SPACE:
        adds = cuts["prepend_scheme"] != "never"
        return adds, (FIRST_SPACE,) if adds else ()
    raise InputError("this tokenizer changes or cuts texts in a way that llama.cpp does not know")


def _cut_of(data: dict[str, Any] | None) -> tuple[str, ...]:
    """The steps that cut a text, as `CUTS` has them; empty if one is of another kind."""
    found: list[str] = []
    for step in _steps(data, "pretokenizers"):
        match step:
            case {"type": "ByteLevel", "add_prefix_space": False, "use_regex": uses_regex}:
                found.append("ByteLevel" if uses_regex else "bytes")
            case {"type": "Digits", "individual_digits": True}:
                found.append("Digits")
            case {"type": "Split", "pattern": {"Regex": str(regex)}, "behavior": "Isolated"}:
                found.append(regex)
            case _:
                return ()
    return tuple(found)


def _ends(tokenizer: ForeignTokenizer) -> dict[str, Any]:
    """Which tokens are special, and which of them stand around a text."""
    known = tokenizer.specials
    specials = {"eos": tokenizer.eos, "bos": known.get("bos", tokenizer.eos)}
    specials |= {role: known[role] for role in ("unk", "pad") if role in known}
    plain, whole = tokenizer.encode("a"), tokenizer.encode("a", with_specials=True)
    for adds_bos in (False, True):
        for adds_eos in (False, True):
            before, after = [specials["bos"]] * adds_bos, [specials["eos"]] * adds_eos
            if whole == [*before, *plain, *after]:
                return {"specials": specials, "adds_bos": adds_bos, "adds_eos": adds_eos}
    raise InputError("this tokenizer puts tokens around a text that llama.cpp does not know")
