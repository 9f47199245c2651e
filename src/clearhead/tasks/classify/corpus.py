"""From texts with labels to rows of tokens: what is held out, the vocabulary, the rows."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

from clearhead.data.families import families
from clearhead.data.fingerprints import normalise
from clearhead.data.holdout import shares_for
from clearhead.data.labelled import Example, LabelledTexts, LabelReport, sort_labels
from clearhead.data.rows import Row
from clearhead.errors import InputError
from clearhead.tasks.job import Tell
from clearhead.text import AnyTokenizer
from clearhead.text.framing import Framing

__all__ = ["LabelCorpus", "Reader", "even_text", "hold_out", "survey_labels", "whole_texts"]

MIN_TO_HOLD_OUT = 3
"""A label with fewer texts is only trained on."""


@dataclass(frozen=True)
class LabelCorpus:
    """The texts of a run."""

    report: LabelReport
    train: tuple[Example, ...]
    validation: tuple[Example, ...]
    test: tuple[Example, ...]
    fingerprint: str

    @cached_property
    def labels(self) -> list[str]:
        """What the model may say, in order."""
        return sort_labels(each.label for each in self.train)


def survey_labels(
    data: LabelledTexts, validation: LabelledTexts | None, test: LabelledTexts | None, tell: Tell
) -> LabelCorpus:
    """Let the doctor look, and hold out what is not given."""
    given = {"validation": validation, "test": test}
    sides: dict[str, list[Example]] = {
        side: some.whole() for side, some in given.items() if some is not None
    }
    for side, some in sides.items():
        if not some:
            raise InputError(f"{given[side].paths[0]} holds no text with a label")  # type: ignore[union-attr]
    report, kept = data.examine(each.text for some in sides.values() for each in some)
    tell("report", {"report": report})
    if report.is_fatal:
        raise InputError(f"{', '.join(report.paths)}: {report.verdict}")
    sides |= hold_out(kept, [side for side in given if side not in sides])
    digest = blake2b(digest_size=16)
    for side in ("train", "validation", "test"):
        for each in sides[side]:
            digest.update(f"{side}\n{each.text}\n{each.label}\n".encode("utf-8", "replace"))
    train, *held_out = (tuple(sides[side]) for side in ("train", "validation", "test"))
    corpus = LabelCorpus(report, train, held_out[0], held_out[1], digest.hexdigest())
    for side in given:
        if not {each.label for each in sides[side]} & set(corpus.labels):
            raise InputError(
                f"no text of the {side} part has one of the labels {', '.join(corpus.labels[:10])}"
            )
    return corpus


def whole_texts(texts: Sequence[str]) -> list[str]:
    """The text that each goes with, in small letters: the one that it is part of, or itself."""
    even = [normalise(text).casefold() for text in texts]
    keys = sorted(set(even))
    whole = {key: keys[number] for key, number in zip(keys, families(keys), strict=True)}
    return [whole[each] for each in even]


def hold_out(examples: Sequence[Example], wanted: Sequence[str]) -> dict[str, list[Example]]:
    """About the same share of each label for each side, chosen by the texts; the rest trains.

    Texts that differ only in capitals and spaces stay together, whatever their labels are, and so
    do a text and its parts.
    """
    groups: dict[str, list[Example]] = {}
    for each, whole in zip(examples, whole_texts([e.text for e in examples]), strict=True):
        groups.setdefault(whole, []).append(each)
    by_label: dict[str, list[tuple[bytes, list[Example]]]] = {}
    for key, group in groups.items():
        digest = blake2b(key.encode("utf-8", "replace"), digest_size=8).digest()
        label = max(group, key=lambda each: len(each.text)).label
        by_label.setdefault(label, []).append((digest, group))
    share = shares_for(len(examples)).test
    sides: dict[str, list[Example]] = {side: [] for side in ("train", *wanted)}
    for drawn in by_label.values():
        n_texts = max(1, round(share * sum(len(group) for _, group in drawn)))
        # A family that is more than all of a side is trained on, if there are others.
        ranked = deque(sorted(drawn, key=lambda entry: (len(entry[1]) > n_texts, entry[0])))
        for side in wanted if len(drawn) >= MIN_TO_HOLD_OUT else ():
            taken: list[Example] = []
            while len(taken) < n_texts and len(ranked) > 1:
                taken += ranked.popleft()[1]
            sides[side] += taken
        sides["train"] += [each for _, group in ranked for each in group]
    return {side: sorted(some) for side, some in sides.items()}


@dataclass(frozen=True)
class Reader:
    """How texts become the tokens that a model reads."""

    tokenizer: AnyTokenizer
    context: int
    """The longest row; of a text that is too long, the beginning is read."""
    is_lower_cased: bool

    def read(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens of each text, with those that stand around them."""
        framing = Framing.of(self.tokenizer)
        n_most = self.context - framing.n_around(1)
        even = [even_text(text, self.is_lower_cased) for text in texts]
        found = self.tokenizer.encode_batch(even)
        return [framing.around(tokens[:n_most])[0] for tokens in found]

    def rows(self, examples: Sequence[Example], labels: Sequence[str]) -> list[Row]:
        """Tokens with the number of their label, which must be known."""
        numbers = {label: number for number, label in enumerate(labels)}
        rows = self.read([each.text for each in examples])
        return [
            Row(tokens, (numbers[each.label],)) for tokens, each in zip(rows, examples, strict=True)
        ]


def even_text(text: str, is_lower_cased: bool) -> str:
    """A text as its tokens are learned and looked up."""
    return normalise(text).lower() if is_lower_cased else normalise(text)
