"""What a translator answers: a text, how sure the model was of it, and what makes it doubtful."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from clearhead.decoding import DecodingConfig, SearchLog
from clearhead.text import protected
from clearhead.text.sentences import Piece, join

__all__ = ["Alignment", "Translation", "find_flags", "join_translations"]

CUT = "The answer was cut: the model did not end it within the longest length allowed."

UNREAD = "The text was cut: its last {:,} tokens are more than the model reads."


@dataclass(frozen=True)
class Alignment:
    """Which source token each token of an answer reads most."""

    source: list[str]
    """The tokens that were read."""
    places: list[int]
    """For each token of the answer, the place of that source token."""
    weights: list[float]
    """How much of the attention it gets, from 0 to 1."""


@dataclass(frozen=True)
class Translation:
    """One answer. The score is the mean log-probability of its tokens."""

    text: str
    score: float
    tokens: list[str]
    is_finished: bool
    """False when the answer had to be cut at its longest allowed length."""
    log_probs: list[float] = field(default_factory=list)
    """Of each token, and of the end if it came."""
    source: str = ""
    """What was translated."""
    terms: tuple[str, ...] = ()
    """What the glossary asks for in this answer."""
    n_unread: int | None = None
    """How many tokens at the end of the source were not read; only a summary may leave out some."""
    others: list["Translation"] = field(default_factory=list)
    """The next best answers, if they were asked for."""
    alignment: Alignment | None = None
    search: SearchLog | None = None
    """How the answer was found, if that was asked for."""
    sentences: list["Translation"] = field(default_factory=list)
    """The answers to the sentences of a text that was split."""

    @cached_property
    def flags(self) -> tuple[str, ...]:
        """Why the answer should be looked at, each in one sentence; empty for a good one."""
        if self.sentences:
            return tuple(dict.fromkeys(flag for part in self.sentences for flag in part.flags))
        return find_flags(self.source, self.text, self.is_finished, self.terms, self.n_unread)


def find_flags(
    source: str,
    text: str,
    is_finished: bool,
    terms: Sequence[str] = (),
    n_unread: int | None = None,
) -> tuple[str, ...]:
    """Everything that makes the answer to one sentence doubtful, or with `n_unread` a summary.

    >>> find_flags("Call 112.", "Rufen Sie an.", True)
    ('The number 112 of the source is missing in the answer.',)
    """
    doubts = protected.flags(source, text) if source else []
    if n_unread is not None:  # a summary leaves out most numbers, and may take over a short text
        doubts = [flag for flag in doubts if flag.kind not in ("missing", "copy")]
    found = [UNREAD.format(n_unread)] if n_unread else []
    found += [flag.detail for flag in doubts]
    found += [
        f"The glossary asks for “{term}”, which is missing in the answer."
        for term in terms
        if term not in text
    ]
    return (*found, *([] if is_finished else [CUT]))


def join_translations(
    pieces: Sequence[Piece], parts: Sequence[Translation], config: DecodingConfig
) -> Translation:
    """Put the answers to the sentences of a text together, and keep what stands between them.

    The next best answers are put together by rank: the second of each sentence, the third, and so
    on; a sentence that has no more of them keeps its best.
    """
    if len(pieces) == len(parts) == 1:
        return parts[0]
    whole = _join(pieces, parts, config)
    n_others = max((len(part.others) for part in parts), default=0)
    others = [
        _join(pieces, [([part, *part.others][rank:] or [part])[0] for part in parts], config)
        for rank in range(1, n_others + 1)
    ]
    return replace(whole, others=others)


def _join(
    pieces: Sequence[Piece], parts: Sequence[Translation], config: DecodingConfig
) -> Translation:
    log_probs = [log_prob for part in parts for log_prob in part.log_probs]
    score = config.normalise(sum(log_probs), len(log_probs)) if log_probs else 0.0
    return Translation(
        text=join(pieces, [part.text for part in parts]),
        score=score,
        tokens=[token for part in parts for token in part.tokens],
        is_finished=all(part.is_finished for part in parts),
        log_probs=log_probs,
        source="".join(piece.text for piece in pieces),
        terms=tuple(dict.fromkeys(term for part in parts for term in part.terms)),
        alignment=_join_alignments([part.alignment for part in parts]),
        sentences=list(parts) if len(parts) > 1 else [],
    )


def _join_alignments(parts: Sequence[Alignment | None]) -> Alignment | None:
    known = [part for part in parts if part is not None]
    if not known:
        return None
    joined = Alignment([], [], [])
    for part in known:
        joined.places.extend(len(joined.source) + place for place in part.places)
        joined.source.extend(part.source)
        joined.weights.extend(part.weights)
    return joined
