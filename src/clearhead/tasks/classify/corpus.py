"""From texts with labels to rows of tokens: what is held out, the vocabulary, the rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

from clearhead.data.fingerprints import normalise
from clearhead.data.holdout import shares_for
from clearhead.data.labelled import Example, LabelledTexts, LabelReport, sort_labels
from clearhead.data.rows import Row
from clearhead.errors import InputError
from clearhead.tasks.job import Tell
from clearhead.text import AnyTokenizer
from clearhead.text.framing import Framing

__all__ = ["LabelCorpus", "encode", "hold_out", "survey_labels", "to_rows"]

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


def hold_out(examples: Sequence[Example], wanted: Sequence[str]) -> dict[str, list[Example]]:
    """The same share of each label for each side, chosen by the texts; the rest trains.

    Texts that differ only in capitals and spaces stay together, whatever their labels are.
    """
    groups: dict[str, list[Example]] = {}
    for each in examples:
        groups.setdefault(normalise(each.text).casefold(), []).append(each)
    by_label: dict[str, list[tuple[bytes, list[Example]]]] = {}
    for key, group in groups.items():
        digest = blake2b(key.encode("utf-8", "replace"), digest_size=8).digest()
        by_label.setdefault(group[0].label, []).append((digest, group))
    share = shares_for(len(examples)).test
    sides: dict[str, list[Example]] = {side: [] for side in ("train", *wanted)}
    for drawn in by_label.values():
        ranked = [group for _, group in sorted(drawn, key=lambda entry: entry[0])]
        n = max(1, round(share * len(ranked))) if len(ranked) >= MIN_TO_HOLD_OUT else 0
        for side in wanted:
            sides[side] += [each for group in ranked[:n] for each in group]
            ranked = ranked[n:]
        sides["train"] += [each for group in ranked for each in group]
    return {side: sorted(some) for side, some in sides.items()}


def to_rows(
    tokenizer: AnyTokenizer, examples: Sequence[Example], labels: Sequence[str], context: int
) -> list[Row]:
    """Tokens with the number of their label; −1 for a label that is not known."""
    numbers = {label: number for number, label in enumerate(labels)}
    rows = encode(tokenizer, [each.text for each in examples], context)
    return [
        Row(tokens, (numbers.get(each.label, -1),))
        for tokens, each in zip(rows, examples, strict=True)
    ]


def encode(tokenizer: AnyTokenizer, texts: Sequence[str], context: int) -> list[list[int]]:
    """Tokens as the model reads them; of a text that is too long, the beginning."""
    framing = Framing.of(tokenizer)
    n_most = context - framing.n_around(1)
    found = tokenizer.encode_batch([normalise(text) for text in texts])
    return [framing.around(tokens[:n_most])[0] for tokens in found]
