"""SentencePiece's model files, read without SentencePiece: pieces, scores, and a few settings.

The file is a protocol buffer: numbered fields, each with its wire type. Only the fields that decide
which tokens a text gets are read here; the others are stepped over.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers

from clearhead.errors import InputError

__all__ = ["BPE", "SentencePieces", "read_sentence_pieces"]

UNIGRAM, BPE = 1, 2
NORMAL, UNKNOWN, CONTROL, USER_DEFINED = 1, 2, 3, 4
LOWEST: Final = -10_000.0
"""The score of a token that the model does not know: it is taken where nothing else fits."""


@dataclass(frozen=True)
class SentencePieces:
    """What a model file says."""

    pieces: list[tuple[str, float, int]]
    """Text, score and type, in the order of their ids."""
    model_type: int
    byte_fallback: bool
    charsmap: bytes
    """How characters are replaced, in SentencePiece's own form, which `tokenizers` can read."""
    adds_space: bool
    """A space is put before the text."""
    squeezes_spaces: bool
    """Of several spaces one is left, and none at the ends."""

    def rules(self, numbers: dict[str, int] | None = None) -> tokenizers.Tokenizer:
        """The same as a tokenizer; `numbers` are the ids, if a vocabulary of its own has them."""
        is_pairs = self.model_type == BPE
        found = tokenizers.Tokenizer(
            self._byte_pairs(numbers) if is_pairs else self._unigram(numbers)
        )
        found.normalizer = self._normalizer()
        steps: list[Any] = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
        if self.adds_space:
            steps.append(decoders.Strip(" ", 1, 0))
        found.decoder = decoders.Sequence(steps)
        known = found.get_vocab()
        specials = [*self._of(UNKNOWN), *self._of(CONTROL)]
        found.add_special_tokens(
            [AddedToken(text, normalized=False) for text in specials if text in known]
        )
        own = [text for text in self._of(USER_DEFINED) if text in known]
        found.add_tokens([AddedToken(text, normalized=False) for text in own])
        return found

    @property
    def unknown(self) -> str | None:
        """The token for what cannot be written."""
        return next(iter(self._of(UNKNOWN)), None)

    def _of(self, kind: int) -> list[str]:
        return [text for text, _, found in self.pieces if found == kind]

    def _unigram(self, numbers: dict[str, int] | None) -> models.Unigram:
        scores = {text: score for text, score, _ in self.pieces}
        if numbers is None:
            listed = [(text, score) for text, score, _ in self.pieces]
        else:
            ordered = sorted(numbers, key=numbers.__getitem__)
            listed = [(text, scores.get(text, LOWEST)) for text in ordered]
        names = [text for text, _ in listed]
        unknown = names.index(self.unknown) if self.unknown in names else None
        return models.Unigram(listed, unknown, byte_fallback=self.byte_fallback)

    def _byte_pairs(self, numbers: dict[str, int] | None) -> models.BPE:
        """The best pair is the one whose joined piece has the highest score."""
        ids = numbers or {text: number for number, (text, _, _) in enumerate(self.pieces)}
        scores = {text: score for text, score, kind in self.pieces if kind == NORMAL}
        merges: list[tuple[str, str]] = []
        for text in sorted(scores, key=lambda text: (-scores[text], ids.get(text, 0))):
            cuts = ((text[:place], text[place:]) for place in range(1, len(text)))
            merges += [
                (left, right)
                for left, right in cuts
                if left in scores and right in scores and {left, right, text} <= ids.keys()
            ]
        return models.BPE(
            ids,
            merges,
            unk_token=self.unknown,
            fuse_unk=True,
            byte_fallback=self.byte_fallback,
        )

    def _normalizer(self) -> normalizers.Normalizer:
        steps: list[normalizers.Normalizer] = []
        if self.charsmap:
            steps.append(normalizers.Precompiled(self.charsmap))
        if self.squeezes_spaces:
            steps += [normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), " ")]
        if self.adds_space:
            steps.append(normalizers.Prepend(" "))
        return normalizers.Sequence([*steps, normalizers.Replace(" ", "▁")])


def read_sentence_pieces(path: Path) -> SentencePieces:
    """Read `tokenizer.model`, `spiece.model` or `source.spm`."""
    try:
        return _read(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, IndexError, struct.error):
        raise InputError(f"{path} is damaged or no model of SentencePiece") from None


def _read(data: bytes) -> SentencePieces:
    pieces: list[tuple[str, float, int]] = []
    trainer: dict[int, Any] = {}
    normal: dict[int, Any] = {}
    for number, value in _fields(data):
        if number == 1:
            piece = dict(_fields(value))
            score = struct.unpack("<f", piece[2])[0] if 2 in piece else 0.0
            pieces.append((piece.get(1, b"").decode(), score, piece.get(3, NORMAL)))
        elif number == 2:
            trainer = dict(_fields(value))
        elif number == 3:
            normal = dict(_fields(value))
    model_type = trainer.get(3, UNIGRAM)
    if not pieces or model_type not in (UNIGRAM, BPE):
        raise ValueError("neither unigram nor byte pairs")
    return SentencePieces(
        pieces=pieces,
        model_type=model_type,
        byte_fallback=bool(trainer.get(35, False)),
        charsmap=normal.get(2, b""),
        adds_space=bool(normal.get(3, True)),
        squeezes_spaces=bool(normal.get(4, True)),
    )


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a message: whole numbers, or bytes."""
    place = 0
    while place < len(data):
        key, place = _number(data, place)
        match key & 7:
            case 0:
                value: int | bytes
                value, place = _number(data, place)
            case 1:
                value, place = data[place : place + 8], place + 8
            case 2:
                length, place = _number(data, place)
                value, place = data[place : place + length], place + length
            case 5:
                value, place = data[place : place + 4], place + 4
            case kind:
                raise ValueError(f"wire type {kind}")
        if place > len(data):
            raise ValueError("the file is cut off")
        yield key >> 3, value


def _number(data: bytes, place: int) -> tuple[int, int]:
    """A whole number in groups of seven bits, the lowest first; and the place after it."""
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
        if shift > 63:
            raise ValueError("a number has too many bytes")
