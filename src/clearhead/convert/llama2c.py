"""In from llama2.c: a Llama in one file of numbers, and its vocabulary in another.

A model is 7 integers, then its weights in float32, each kind for all blocks before the next kind. A
vocabulary is the length of its longest piece, then score, length and bytes of each.
"""

import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import torch
from tokenizers.processors import TemplateProcessing
from torch import Tensor

from clearhead.config import LlamaConfig
from clearhead.errors import ConfigError, InputError
from clearhead.models import Llama
from clearhead.text.foreign import ForeignTokenizer
from clearhead.text.sentencepiece import BPE, SentencePieces

__all__ = ["Llama2cTokenizer", "read_llama2c"]

HEADER: Final = struct.Struct("<7i")
PIECE: Final = struct.Struct("<fi")
NEWER: Final = 0x616B3432
"""How files of the later versions begin."""
IN_BLOCKS: Final = (
    *("attention_norm", "w_q", "w_k", "w_v", "w_o"),
    *("feed_forward_norm", "gate", "back", "value"),
)
FIRST_BYTE, FIRST_PIECE = 3, 259
"""After three special tokens come the 256 bytes, then the pieces of text."""


def read_llama2c(path: Path) -> Llama:
    """The model in a file of llama2.c, ready for use."""
    data = _read(path)
    config, n_positions = _read_header(path, data)
    layout = _layout(config, n_positions)
    n_bytes = HEADER.size + 4 * sum(math.prod(shape) for _, shape in layout)
    if len(data) != n_bytes:
        raise InputError(
            f"{path} has {len(data):,} bytes, and a model of its sizes has {n_bytes:,}: "
            f"{'it is cut off' if len(data) < n_bytes else 'it is no float32 model of llama2.c'}"
        )
    numbers = torch.from_numpy(np.frombuffer(data, "<f4", offset=HEADER.size).copy())
    sizes = [math.prod(shape) for _, shape in layout]
    parts = zip(layout, numbers.split(sizes), strict=True)
    theirs = {name: part.view(shape) for (name, shape), part in parts}
    model = Llama(config)
    model.load_state_dict(_weights(config, theirs))
    return model.eval()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def _read_header(path: Path, data: bytes) -> tuple[LlamaConfig, int]:
    """Our configuration, and how many positions they have a table for."""
    if len(data) < HEADER.size:
        raise InputError(f"{path} is no model of llama2.c: it has only {len(data)} bytes")
    d_model, d_ff, n_layers, n_heads, n_kv_heads, n_tokens, n_positions = HEADER.unpack_from(data)
    if d_model == NEWER:
        raise InputError(f"{path} is of a later version of llama2.c; export it as version 0")
    if min(d_model, d_ff, n_layers, n_heads, n_kv_heads, abs(n_tokens), n_positions) < 1:
        raise InputError(f"{path} is no model of llama2.c: its sizes are below 1")
    try:
        config = LlamaConfig(
            n_tokens=abs(n_tokens),
            n_layers=n_layers,
            d_model=d_model,
            d_ff=d_ff,
            n_heads=n_heads,
            n_kv_heads=n_kv_heads,
            norm_eps=1e-5,
            is_tied=n_tokens > 0,
        )
    except ConfigError as error:
        raise InputError(f"{path} is no model of llama2.c: {error}") from None
    return config, n_positions


def _layout(config: LlamaConfig, n_positions: int) -> list[tuple[str, tuple[int, ...]]]:
    """What stands in the file, in its order."""
    d, f, kv = config.d_model, config.d_ff, config.kv_heads * config.head_width
    shapes = [(d,), (d, d), (kv, d), (kv, d), (d, d), (d,), (f, d), (d, f), (f, d)]
    in_blocks = zip(IN_BLOCKS, shapes, strict=True)
    output = [] if config.is_tied else [("output", (config.n_tokens, d))]
    return [
        ("embedding", (config.n_tokens, d)),
        *((name, (config.n_layers, *shape)) for name, shape in in_blocks),
        ("norm", (d,)),
        ("turns", (n_positions, config.head_width)),  # cosines and sines, which we compute
        *output,
    ]


def _weights(config: LlamaConfig, theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same under our names."""
    ours = {
        "embedding.weight": theirs["embedding"],
        "output.weight": theirs["embedding" if config.is_tied else "output"],
        "decoder.norm.weight": theirs["norm"],
    }
    for n in range(config.n_layers):
        block = {name: theirs[name][n] for name in IN_BLOCKS}
        w_q, w_k = _halves(block["w_q"], config.n_heads), _halves(block["w_k"], config.kv_heads)
        named = {
            "self_attention.w_qkv": torch.cat([w_q, w_k, block["w_v"]]),
            "self_attention.w_o.weight": block["w_o"],
            "self_attention_residual.norm.weight": block["attention_norm"],
            "feed_forward.w_1.weight": torch.cat([block["gate"], block["value"]]),
            "feed_forward.w_2.weight": block["back"],
            "feed_forward_residual.norm.weight": block["feed_forward_norm"],
        }
        ours |= {f"decoder.blocks.{n}.{name}": weight for name, weight in named.items()}
    return ours


def _halves(weight: Tensor, n_heads: int) -> Tensor:
    """They turn neighbours, (2i, 2i + 1); we turn halves, (i, i + d_head/2): rows change places."""
    return weight.unflatten(0, (n_heads, -1, 2)).transpose(1, 2).flatten(0, 2)


@dataclass(frozen=True)
class Llama2cTokenizer:
    """Pieces of text with scores: of all neighbours, those with the best joint piece join first."""

    pieces: Sequence[bytes]
    scores: Sequence[float]
    unk = 0
    pad = 0
    """There is none; `<unk>` serves, because every text has other tokens."""
    bos = 1
    eos = 2

    @classmethod
    def load(cls, path: Path, n_tokens: int) -> "Llama2cTokenizer":
        """Read a file such as tok512.bin; it does not say how many pieces it has."""
        data = _read(path)
        found = list(_read_pieces(path, data, n_tokens))
        return cls([piece for piece, _ in found], [score for _, score in found])

    @property
    def n_tokens(self) -> int:
        """How many tokens there are, special ones and bytes included."""
        return len(self.pieces)

    def as_foreign(self) -> ForeignTokenizer:
        """The same for a model folder: its texts begin with `<s>`."""
        names = ["<unk>", "<s>", "</s>"]
        pieces = [(name, 0.0, kind) for name, kind in zip(names, (2, 3, 3), strict=True)]
        pieces += [(f"<0x{byte:02X}>", 0.0, 6) for byte in range(256)]
        rest = zip(self.pieces[FIRST_PIECE:], self.scores[FIRST_PIECE:], strict=True)
        pieces += [(piece.decode().replace(" ", "▁"), score, 1) for piece, score in rest]
        rules = SentencePieces(pieces, BPE, True, b"", True, False).rules()
        rules.post_processor = TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", self.bos)]
        )
        return ForeignTokenizer(rules, {"unk": 0, "bos": self.bos, "eos": self.eos, "pad": 0})

    def encode(self, text: str) -> list[int]:
        """Tokens of a text, without beginning and end."""
        known = {self.pieces[n]: n for n in range(self.n_tokens - 1, FIRST_PIECE - 1, -1)}
        tokens: list[int] = []
        for letter in f" {text}" if text else "":
            letter_bytes = letter.encode()
            alone = known.get(letter_bytes)
            tokens += [FIRST_BYTE + b for b in letter_bytes] if alone is None else [alone]
        while True:
            joint = [known.get(self.pieces[a] + self.pieces[b]) for a, b in pairwise(tokens)]
            places = [place for place, token in enumerate(joint) if token is not None]
            if not places:
                return tokens
            place = max(places, key=lambda place: self.scores[joint[place] or 0])
            tokens[place : place + 2] = [joint[place] or 0]

    def decode(self, tokens: Iterable[int]) -> str:
        """Text of some tokens; special ones are left out, and so is the space before the text."""
        found = b"".join(self._bytes(token) for token in tokens)
        return found.removeprefix(b" ").decode(errors="replace")

    def _bytes(self, token: int) -> bytes:
        if not 0 <= token < self.n_tokens:
            raise InputError(f"token {token} is outside the vocabulary, 0 to {self.n_tokens - 1}")
        if token < FIRST_BYTE:
            return b""
        return bytes([token - FIRST_BYTE]) if token < FIRST_PIECE else self.pieces[token]


def _read_pieces(path: Path, data: bytes, n_tokens: int) -> Iterator[tuple[bytes, float]]:
    place = 4  # after the length of the longest piece, which nobody needs here
    for _ in range(n_tokens):
        if place + PIECE.size > len(data):
            raise InputError(f"{path} has fewer than {n_tokens} pieces: is it for another model?")
        score, length = PIECE.unpack_from(data, place)
        place += PIECE.size + length
        if length < 0 or place > len(data):
            raise InputError(f"{path} is damaged, or no vocabulary of llama2.c")
        yield data[place - length : place], score
    if place != len(data):
        raise InputError(f"{path} has more than {n_tokens} pieces: is it for another model?")
