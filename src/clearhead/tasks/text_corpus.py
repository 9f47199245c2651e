"""From texts to tokens on disk: what is held out, the vocabulary, one long row of tokens."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from clearhead.data.holdout import shares_for, side_of
from clearhead.data.texts import Document, TextReport, Texts
from clearhead.errors import InputError
from clearhead.tasks.job import Tell
from clearhead.text import AnyTokenizer, ForeignTokenizer, Kind, Tokenizer, load_tokenizer

__all__ = [
    "TextCorpus",
    "beginning_of",
    "encode_texts",
    "learn_vocabulary",
    "survey_texts",
    "write_tokens",
]

N_MANY = 50
"""From so many files on, whole files are held out; of fewer, the ends of each."""
SHARE = 0.05
N_AT_ONCE = 1 << 16
"""About so many characters are turned into tokens together."""


@dataclass(frozen=True)
class TextCorpus:
    """The texts of a run."""

    report: TextReport
    train: tuple[str, ...]
    validation: tuple[str, ...]
    test: tuple[str, ...]
    fingerprint: str

    @property
    def n_characters(self) -> int:
        """Of the texts to train on."""
        return sum(map(len, self.train))


def survey_texts(
    texts: Texts, validation: Texts | None, test: Texts | None, tell: Tell
) -> TextCorpus:
    """Let the doctor look, and hold out what is not given."""
    given = {
        "validation": [document.text for document in validation or ()],
        "test": [document.text for document in test or ()],
    }
    report, documents = texts.examine([*given["validation"], *given["test"]])
    tell("report", {"report": report})
    if report.is_fatal:
        raise InputError(f"{', '.join(report.paths)}: {report.verdict}")
    wanted = [side for side in ("validation", "test") if not given[side]]
    sides = _hold_out(documents, wanted)
    sides |= {side: some for side, some in given.items() if some}
    digest = blake2b(digest_size=16)
    for side, some in sides.items():
        for text in some:
            digest.update(f"{side}\n{text}\n".encode("utf-8", "replace"))
    return TextCorpus(
        report,
        tuple(sides["train"]),
        tuple(sides["validation"]),
        tuple(sides["test"]),
        digest.hexdigest(),
    )


def _hold_out(documents: Sequence[Document], wanted: Sequence[str]) -> dict[str, list[str]]:
    """Whole files if there are many, else the last twentieth of each for either side."""
    sides: dict[str, list[str]] = {"train": [], "validation": [], "test": []}
    shares = shares_for(len(documents))
    for document in documents:
        text = document.text
        if len(documents) >= N_MANY:
            drawn = side_of(text[:1000], 0, shares)
            sides[drawn if drawn in wanted else "train"].append(text)
            continue
        ends = [len(text) - round(SHARE * len(text)) * n for n in range(len(wanted), -1, -1)]
        # A line is never cut, if there are lines.
        begins = [0, *(text.rfind("\n", 0, end) + 1 or end for end in ends[:-1]), len(text)]
        for side, begin, end in zip(["train", *wanted], begins, begins[1:], strict=False):
            if text[begin:end]:
                sides[side].append(text[begin:end])
    for side in wanted:
        if not sides[side]:
            raise InputError(f"no text is left for {side}: give more text, or --{side} FILE")
    return sides


def learn_vocabulary(
    corpus: TextCorpus, kind: Kind, n_tokens: int, tell: Tell, *, has_mask: bool = False
) -> Tokenizer:
    """A vocabulary of the training texts; characters are all taken."""
    tell("tokenizer", {"n_pairs": len(corpus.train), "n_tokens": n_tokens, "unit": "texts"})
    lines = (line for text in corpus.train for line in _pieces(text))
    wanted = None if kind == "char" else n_tokens
    return Tokenizer.train(lines, kind, wanted, has_mask=has_mask)


def write_tokens(
    corpus: TextCorpus, folder: Path, make: Callable[[], AnyTokenizer]
) -> tuple[AnyTokenizer, NDArray[np.integer]]:
    """Make the tokenizer and write all tokens in one row, unless that is done already."""
    tokenizer_path, tokens_path = folder / "tokenizer.json", folder / "tokens" / "train.npy"
    if not tokens_path.exists():
        tokenizer = make()
        tokenizer.save(tokenizer_path)
        tokens_path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = tokens_path.with_suffix(".part.npy")
        np.save(unfinished, encode_texts(tokenizer, corpus.train))
        unfinished.replace(tokens_path)
    return load_tokenizer(tokenizer_path), np.load(tokens_path, mmap_mode="r")


def encode_texts(tokenizer: AnyTokenizer, texts: Sequence[str]) -> NDArray[np.integer]:
    """All texts in one row, each with its end."""
    end = _end_of(tokenizer)
    kind = np.uint16 if tokenizer.n_tokens <= 1 << 16 else np.uint32
    rows: list[NDArray[np.integer]] = []
    for text in texts:
        rows += [np.array(row, dtype=kind) for row in tokenizer.encode_batch(list(_pieces(text)))]
        rows.append(np.array([end], dtype=kind))
    return np.concatenate(rows)


def _end_of(tokenizer: AnyTokenizer) -> int:
    """What stands between texts; BERT has no end of a text, and separates them."""
    if isinstance(tokenizer, ForeignTokenizer) and "eos" not in tokenizer.specials:
        return tokenizer.special("sep")
    return tokenizer.eos


def beginning_of(texts: Sequence[str], n_characters: int) -> list[str]:
    """The first texts, together no longer than this.

    >>> beginning_of(["abc", "def", "ghi"], 5)
    ['abc', 'de']
    """
    kept: list[str] = []
    for text in texts:
        if n_characters > 0:
            kept.append(text[:n_characters])
        n_characters -= len(text)
    return kept


def _pieces(text: str) -> Iterator[str]:
    """A text in parts that end with a line; a part after another would be cut alike."""
    begin = 0
    while begin < len(text):
        end = text.find("\n", begin + N_AT_ONCE)
        end = len(text) if end < 0 else end + 1
        yield text[begin:end]
        begin = end
