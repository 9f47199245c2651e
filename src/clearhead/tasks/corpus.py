"""From a file of pairs to tokens on disk: doctor → hold-out → vocabulary → shards."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

from clearhead.data import (
    Limits,
    Pair,
    PairFile,
    PairReport,
    Shares,
    clean,
    examine,
    shares_for,
    side_of,
)
from clearhead.data.fingerprints import normalise
from clearhead.data.shards import Shards, ShardWriter
from clearhead.errors import InputError
from clearhead.tasks.plan import Plan
from clearhead.text import Tokenizer
from clearhead.text.splits import Splitter

__all__ = ["Corpus", "Tell", "survey", "whole_pairs", "write_tokens"]

Tell = Callable[[str, dict[str, Any]], None]

N_AT_ONCE = 4096


@dataclass(frozen=True)
class Corpus:
    """The pairs of a run: those to train on stay on disk, the others are held here."""

    pairs: PairFile
    given: tuple[Pair, ...]
    """Held-out pairs from files of their own, which training must not see."""
    report: PairReport
    shares: Shares
    seed: int
    validation: tuple[Pair, ...]
    test: tuple[Pair, ...]
    n_pairs: int
    n_characters: int
    fingerprint: str
    limits: Limits = field(default_factory=Limits)

    def __iter__(self) -> Iterator[Pair]:
        """The pairs to train on, in the order of the file."""
        for pair in clean(self.pairs, test=self.given, limits=self.limits):
            if side_of(pair.source, self.seed, self.shares) == "train":
                yield pair


def survey(
    pairs: PairFile,
    validation: PairFile | None = None,
    test: PairFile | None = None,
    seed: int = 0,
    tell: Tell = lambda *_: None,
    limits: Limits = Limits(),  # noqa: B008
) -> Corpus:
    """Let the doctor look, and hold out what is not given: some pairs to follow and to score."""
    sides = {"validation": whole_pairs(validation), "test": whole_pairs(test)}
    given = (*sides["validation"], *sides["test"])
    report = examine(pairs, test=given, limits=limits)
    tell("report", {"report": report})
    if report.is_fatal:
        raise InputError(f"{', '.join(report.paths)}: {report.verdict}")
    wanted = shares_for(report.n_kept)
    shares = replace(
        wanted,
        validation=0.0 if sides["validation"] else wanted.validation,
        test=0.0 if sides["test"] else wanted.test,
    )
    digest = blake2b(digest_size=16)
    n_characters = n_pairs = 0
    for pair in clean(pairs, test=given, limits=limits):
        side = side_of(pair.source, seed, shares)
        digest.update(f"{side}\t{pair.source}\t{pair.target}\n".encode())
        if side == "train":
            n_characters += len(pair.source) + len(pair.target)
            n_pairs += 1
        else:
            sides[side].append(pair)
    for side in ("validation", "test"):
        if not sides[side]:
            raise InputError(
                f"no pair is left for {side}: {report.n_kept} are too few; give --{side} FILE"
            )
        for pair in sides[side]:
            digest.update(f"{side}\t{pair.source}\t{pair.target}\n".encode())
    return Corpus(
        pairs,
        given,
        report,
        shares,
        seed,
        tuple(sides["validation"]),
        tuple(sides["test"]),
        n_pairs,
        n_characters,
        digest.hexdigest(),
        limits,
    )


def whole_pairs(pairs: PairFile | None) -> list[Pair]:
    """All pairs of a held-out file, evened as the doctor does; blank sides cannot be compared."""
    if pairs is None:
        return []
    even = (Pair(line, normalise(source), normalise(target)) for line, source, target in pairs)
    kept = [pair for pair in even if pair.source and pair.target]
    if not kept:
        raise InputError(f"{', '.join(map(str, pairs.paths))} holds no pair with both sides")
    return kept


def write_tokens(corpus: Corpus, plan: Plan, folder: Path, tell: Tell) -> tuple[Tokenizer, Shards]:
    """Learn the vocabulary and write the training pairs as tokens, unless that is done already."""
    tokenizer_path, shards_path = folder / "tokenizer.json", folder / "tokens"
    if not shards_path.exists():
        tell("tokenizer", {"n_pairs": corpus.n_pairs, "n_tokens": plan.n_vocabulary})
        texts = (text for pair in corpus for text in (pair.source, pair.target))
        tokenizer = Tokenizer.train(texts, plan.tokenizer, plan.n_vocabulary)
        tokenizer.save(tokenizer_path)
        with ShardWriter(shards_path, tokenizer.n_tokens) as writer:
            for copy in range(plan.n_copies):
                # The first copy is in the pieces that will be used, the others are in other ones.
                how = Splitter(tokenizer, plan.subword_dropout, copy) if copy else tokenizer
                for some in _groups(corpus):
                    sources = how.encode_batch([pair.source for pair in some])
                    targets = how.encode_batch([pair.target for pair in some])
                    for source, target in zip(sources, targets, strict=True):
                        writer.add(source[: plan.max_source], target)
    return Tokenizer.load(tokenizer_path), Shards(shards_path)


def _groups(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    iterator = iter(pairs)
    while some := list(islice(iterator, N_AT_ONCE)):
        yield some
