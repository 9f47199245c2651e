"""How a vocabulary is learnt from texts: which pieces of words deserve a token of their own.

Texts are first cut into words, each with the space before it, so that spaces need no sign of their
own and nothing is lost. Numbers and signs stand alone, hence no piece can look like `<pad>` or
`<0x41>`. Then, within words:

- `bpe` joins the most frequent neighbours again and again (Sennrich et al. 2016);
- `unigram` begins with many pieces and drops the least useful (Kudo 2018);
- `word` keeps whole words, `char` single characters.
"""

import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, Literal

import tokenizers
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, trainers

from clearhead.errors import ConfigError
from clearhead.text.normal import BYTES, SPECIALS, UNK

__all__ = ["MAX_SIZE", "Kind", "choose_size", "learn", "pipeline"]

Kind = Literal["bpe", "unigram", "word", "char"]

# Marks and joiners belong to their letter, so that Devanagari and Tamil words stay whole.
LETTERS: Final = r" ?[\p{L}\p{M}\u200C\u200D]+"
REST: Final = r" ?[^\s\p{L}\p{M}\p{N}][^\s\p{L}\p{N}]*|\s+(?!\S)|\s+"

MIN_SIZE: Final = 512
MAX_SIZE: Final = 32_000
MAX_PIECE: Final = 24


def choose_size(n_pairs: int, n_characters: int) -> int:
    """How many tokens a joint vocabulary should have, for both sides of the data together.

    The number of useful pieces grows about as the square root of the text, 4.6 √n_characters; this
    gives about 9,000 for the 29,000 pairs of Multi30k (docs/notebook.md says why). A token that few
    pairs contain is not learnt, so there is at most one for two pairs; and never more than 32,000.
    At least 512 leave room for the bytes and an alphabet. The result is a multiple of 64, which
    suits processors.

    >>> choose_size(29_000, 3_900_000), choose_size(100, 5_000), choose_size(10**7, 10**9)
    (9088, 512, 32000)
    """
    wanted = min(4.6 * math.sqrt(n_characters), n_pairs / 2, MAX_SIZE)
    return max(MIN_SIZE, round(wanted / 64) * 64)


def pipeline(model: models.Model, kind: Kind) -> tokenizers.Tokenizer:
    """Join a model with the steps before and after it, which depend only on its kind.

    A space is put before the text and taken away again at the end, so that the first word of a
    sentence is the same token as elsewhere.
    """
    joined = tokenizers.Tokenizer(model)
    steps: list[Any] = [decoders.Fuse()] if kind == "word" else [decoders.ByteFallback()]
    steps += [] if kind == "word" else [decoders.Fuse()]
    if kind == "char":
        joined.normalizer = normalizers.NFC()
    else:
        joined.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Prepend(" ")])
        number = r" ?\p{N}+" if kind == "word" else r" ?\p{N}"
        words = Regex(f"{LETTERS}|{number}|{REST}")
        joined.pre_tokenizer = pre_tokenizers.Split(words, "isolated")
        steps.append(decoders.Strip(" ", 1, 0))
    joined.decoder = decoders.Sequence(steps)
    return joined


def learn(
    texts: Sequence[str], kind: Kind, n_tokens: int, tags: Sequence[str]
) -> tokenizers.Tokenizer:
    """Learn at most `n_tokens` tokens from normalised texts; fewer if the texts hold no more."""
    reserved = [*SPECIALS, *tags]
    if kind != "word":
        reserved += BYTES
    room = n_tokens - len(reserved)
    if room < 2:
        raise ConfigError(
            f"a vocabulary of n_tokens={n_tokens} is too small: {len(reserved)} of them are "
            f"special or bytes; give at least {MIN_SIZE}"
        )
    if kind == "word":
        return _learn_words(texts, reserved, n_tokens)
    alphabet = _alphabet(texts, room if kind == "char" else room // 2)
    if kind == "char":
        vocabulary = {token: number for number, token in enumerate([*reserved, *alphabet])}
        return pipeline(_byte_pairs(vocabulary, []), kind)
    texts = _only(alphabet, texts)
    if kind == "bpe":
        return _learn_byte_pairs(texts, reserved, n_tokens)
    return _learn_unigram(texts, reserved, n_tokens, alphabet)


def _alphabet(texts: Sequence[str], n_most: int) -> list[str]:
    """The most frequent characters, in the order of Unicode."""
    counts: Counter[str] = Counter(" ")
    for text in texts:
        counts.update(text)
    ranked = sorted(counts, key=lambda character: (character != " ", -counts[character], character))
    return sorted(ranked[:n_most])


def _only(alphabet: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Blank out rarer characters: they will be written as bytes and must not shape any piece."""
    others = set().union(*texts) - set(alphabet) if texts else set()
    if not others:
        return list(texts)
    table = dict.fromkeys(map(ord, others), " ")
    return [text.translate(table) for text in texts]


def _byte_pairs(vocabulary: dict[str, int], merges: list[tuple[str, str]]) -> models.BPE:
    return models.BPE(vocabulary, merges, unk_token=SPECIALS[UNK], byte_fallback=True)


def _train(
    model: models.Model, kind: Kind, texts: Sequence[str], trainer: trainers.Trainer
) -> dict[str, Any]:
    """What the trainer found, as plain data."""
    learner = pipeline(model, kind)
    learner.train_from_iterator(texts, trainer)
    return json.loads(learner.to_str())["model"]


def _learn_byte_pairs(
    texts: Sequence[str], reserved: list[str], n_tokens: int
) -> tokenizers.Tokenizer:
    trainer = trainers.BpeTrainer(
        vocab_size=n_tokens,
        min_frequency=2,
        max_token_length=MAX_PIECE,
        special_tokens=reserved,
        show_progress=False,
    )
    found = _train(models.BPE(), "bpe", texts, trainer)
    merges = [(left, right) for left, right in found["merges"]]
    return pipeline(_byte_pairs(found["vocab"], merges), "bpe")


def _learn_unigram(
    texts: Sequence[str], reserved: list[str], n_tokens: int, alphabet: list[str]
) -> tokenizers.Tokenizer:
    """Learn a tenth more pieces than wanted, and cut the rest off here.

    The trainer adds its numbers up in an order that changes from run to run: rounding, and breaking
    ties by the alphabet, make the result repeat.
    """
    room = n_tokens - len(reserved)
    trainer = trainers.UnigramTrainer(
        vocab_size=room + room // 10 + 1,
        max_piece_length=MAX_PIECE,
        special_tokens=[SPECIALS[UNK]],
        unk_token=SPECIALS[UNK],
        show_progress=False,
    )
    found = _train(models.Unigram(), "unigram", texts, trainer)["vocab"]
    scores = {piece: round(score, 4) for piece, score in found if piece != SPECIALS[UNK]}
    longer = [piece for piece in scores if len(piece) > 1]
    longer = sorted(longer, key=lambda piece: (-scores[piece], piece))[: room - len(alphabet)]
    # A character that the trainer has no use for gets the lowest score and a little more, in steps
    # of 0.0001 whose order changes from run to run: give all of them the lowest itself.
    lowest = min(scores.values())
    edge = lowest + 0.0001 * (len(alphabet) + 1)
    kept = {piece: scores[piece] for piece in longer}
    for character in alphabet:
        score = scores.get(character, lowest)
        kept[character] = score if score > edge else lowest
    ranked = sorted(kept.items(), key=lambda entry: (-entry[1], entry[0]))
    vocabulary = [*((token, 0.0) for token in reserved), *ranked]
    return pipeline(models.Unigram(vocabulary, UNK, byte_fallback=True), "unigram")


def _learn_words(texts: Sequence[str], reserved: list[str], n_tokens: int) -> tokenizers.Tokenizer:
    trainer = trainers.WordLevelTrainer(
        vocab_size=n_tokens, special_tokens=reserved, show_progress=False
    )
    found = _train(models.WordLevel(unk_token=SPECIALS[UNK]), "word", texts, trainer)
    return pipeline(models.WordLevel(found["vocab"], unk_token=SPECIALS[UNK]), "word")
