"""Translation: text in one language → text in another, with its score and its tokens.

translator = Translator.load("en-hi")
translator("How are you?").text
translator(["How are you?", "Thank you."], n_beams=1, forbidden=["आप"])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from clearhead.config import ModelConfig, is_encoder_decoder, kind_of
from clearhead.decoding import Hypothesis, Request, generate, stream
from clearhead.errors import InputError
from clearhead.tasks.answer_stream import AnswerStream
from clearhead.tasks.lengths import longest_in, ratio_in
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.long_text import cut, even, has_lines
from clearhead.tasks.settings import Settings, read_settings
from clearhead.tasks.translation import Alignment, Translation, join_translations
from clearhead.text.sentences import Piece

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clearhead.models import Transformer
    from clearhead.observe import Comparison, Edit

    _Base = Loaded[Transformer]
else:
    _Base = Loaded

__all__ = ["Translation", "Translator"]

N_TOKENS, N_TOKENS_NATIVE = 2048, 16_384
"""About how many source tokens are decoded together; the engine cuts them into groups itself."""


class Translator(_Base):
    """A trained model with its tokenizer: call it with a text, or with several."""

    @classmethod
    def _refuse(cls, config: ModelConfig, folder: str | Path) -> None:
        if not is_encoder_decoder(config):
            raise InputError(
                f"{folder} holds no translator: {kind_of(config)} continues or reads one text, and "
                "translating needs an encoder and a decoder"
            )

    @property
    def max_source(self) -> int | None:
        """The most tokens of a text that are read; nothing if longer ones become sentences."""
        return None

    def _read_settings(self, given: Mapping[str, Any]) -> Settings:
        return read_settings(given, self.tokenizer, ratio_in(self.card))

    @overload
    def __call__(self, text: str, **settings: Any) -> Translation: ...
    @overload
    def __call__(self, text: list[str], **settings: Any) -> list[Translation]: ...
    def __call__(self, text: str | list[str], **settings: Any) -> Translation | list[Translation]:
        """Translate a text, or several in their order. A blank text stays blank.

        Settings are the fields of `DecodingConfig`, such as `n_beams`, and those of `Settings`:
        `max_length`, `prefix`, `forbidden`, `stop`, `glossary`, `alignment` and `log`.
        """
        wanted = self._read_settings(settings)
        if isinstance(text, str):
            return self._translate([text], wanted)[0]
        return self._translate(list(text), wanted)

    def stream(self, text: str, **settings: Any) -> AnswerStream:
        """Translate a text, and give each piece of the answer as soon as it is final.

        Settings as for a call, but one beam if no number is given: it writes word by word. Several
        beams, which a glossary needs, give sentence by sentence.
        """
        if not settings.get("glossary"):
            settings = {"n_beams": 1, **settings}
        wanted = self._read_settings(settings)
        if wanted.decoding.n_best > 1 or wanted.alignment:
            raise InputError(
                "a stream is one answer without its alignment: leave out n_best and alignment"
            )
        ((pieces, rows),) = self._cut([text], wanted)
        return AnswerStream(pieces, self._requests(pieces, rows, wanted), wanted, self._stream)

    def compare(
        self,
        text: str,
        edits: Mapping[str, Edit | Sequence[Edit]],
        target: str | None = None,
        **settings: Any,
    ) -> Comparison:
        """What edits do to the answer, and to each token of it, or of another target."""
        from clearhead.observe.compare import compare
        from clearhead.observe.forced import force

        answer = self(text, **settings).text
        with self.edit(edits):
            other = self(text, **settings).text
        pair = force(self.model, self.tokenizer, text, target or answer, self.max_source)
        return replace(compare(pair, edits), answers=(answer, other))

    def _translate(self, texts: Sequence[str], settings: Settings) -> list[Translation]:
        """All sentences of all texts together, the answers put back where they belong."""
        parts = list(self._cut(texts, settings))
        requests = [self._requests(pieces, rows, settings) for pieces, rows in parts]
        found = iter(self._generate([request for some in requests for request in some]))
        return [
            join_translations(
                pieces,
                [
                    self._answer(sentence, request, next(found), settings)
                    for sentence, request in zip(_sentences(pieces), some, strict=True)
                ],
                settings.decoding,
            )
            for (pieces, _), some in zip(parts, requests, strict=True)
        ]

    def _cut(
        self, texts: Sequence[str], settings: Settings
    ) -> Iterator[tuple[list[Piece], list[list[int]]]]:
        """The pieces of each text, and the tokens of those that are sentences."""
        language = (self.card.get("languages") or [None])[0]
        longest = longest_in(self.card)
        lines = [even(text) for text in texts]
        for text, line, row in zip(texts, lines, self.tokenizer.encode_batch(lines), strict=True):
            is_whole = settings.max_source is not None
            if is_whole or (not has_lines(text) and len(row) <= longest):
                yield ([Piece(line, True)], [row]) if row else ([], [])
                continue
            pieces = cut(text, language, longest, self.tokenizer)
            sentences = list(_sentences(pieces))
            if settings.prefix and len(sentences) > 1:
                raise InputError(
                    f"a prefix begins one sentence, and {line[:30]!r}… becomes {len(sentences)}: "
                    "translate them one by one, or leave out the prefix"
                )
            yield pieces, self.tokenizer.encode_batch(sentences)

    def _requests(
        self, pieces: Sequence[Piece], rows: Sequence[list[int]], settings: Settings
    ) -> list[Request]:
        pairs = zip(_sentences(pieces), rows, strict=True)
        return [settings.request(sentence, row) for sentence, row in pairs]

    def _answer(
        self, sentence: str, request: Request, found: Sequence[Hypothesis], settings: Settings
    ) -> Translation:
        """The best answer to a sentence, with the others; an empty one if none is allowed."""
        answers = [
            Translation(
                text=settings.text(hypothesis.tokens),
                score=hypothesis.score,
                tokens=self.tokenizer.tokens(hypothesis.tokens),
                is_finished=hypothesis.is_finished,
                log_probs=hypothesis.log_probs,
                source=sentence,
                terms=tuple(settings.terms(sentence)),
                n_unread=settings.n_unread(sentence, request),
                alignment=self._align(request, hypothesis) if settings.alignment else None,
            )
            for hypothesis in found or [Hypothesis([], [], float("-inf"), False)]
        ]
        return replace(answers[0], others=answers[1:], search=request.log)

    def _align(self, request: Request, answer: Hypothesis) -> Alignment:
        from clearhead.observe.forced import Forced  # the model itself must be watched
        from clearhead.tasks.alignment import align, aligner_in

        written = [*answer.tokens, self.tokenizer.eos]
        names = self.tokenizer.tokens(request.source), self.tokenizer.tokens(written)
        pair = Forced(self.model, request.source, written, self.tokenizer.bos, *names)
        return align(pair, aligner_in(self.card))

    def _generate(self, requests: Sequence[Request]) -> list[list[Hypothesis]]:
        """Decode in batches of similar length. All decoding but streams goes through here."""
        answers: list[list[Hypothesis]] = [[] for _ in requests]
        lengths = [len(request.source) for request in requests]
        is_native = self.engine is not None and self.engine.native is not None
        n_tokens = N_TOKENS_NATIVE if is_native else N_TOKENS
        for places in _similar_lengths(lengths, n_tokens):
            found = generate(
                self._decoder,
                [requests[place] for place in places],
                bos=self.tokenizer.bos,
                eos=self.tokenizer.eos,
                pad=self.tokenizer.pad,
                device=self.device,
            )
            for place, hypotheses in zip(places, found, strict=True):
                answers[place] = hypotheses
        return answers

    def _stream(self, request: Request) -> Iterator[int]:
        """Decode one request token by token."""
        return stream(
            self._decoder,
            request,
            bos=self.tokenizer.bos,
            eos=self.tokenizer.eos,
            pad=self.tokenizer.pad,
            device=self.device,
        )


def _sentences(pieces: Iterable[Piece]) -> Iterator[str]:
    return (even(piece.text) for piece in pieces if piece.is_sentence)


def _similar_lengths(lengths: Sequence[int], n_tokens: int) -> Iterator[list[int]]:
    """Places in groups of about `n_tokens` padded tokens, the longest first."""
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    while order:
        n_rows = max(1, n_tokens // lengths[order[0]])
        yield order[:n_rows]
        order = order[n_rows:]
