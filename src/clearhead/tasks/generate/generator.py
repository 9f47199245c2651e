"""A text model: a beginning in, its continuation out.

generator = Generator.load("shakespeare")
generator("ROMEO:", max_length=200, temperature=0.8, seed=1).text
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, overload

from clearhead.decoding import DecodingConfig, Hypothesis, Request, SearchLog, generate, stream
from clearhead.errors import ConfigError, nearest
from clearhead.tasks.generate.pieces import Pieces
from clearhead.tasks.loaded import Loaded
from clearhead.text.normal import normalise
from clearhead.text.streaming import TextStream

if TYPE_CHECKING:
    from clearhead.models import Llama

    _Base = Loaded[Llama]
else:
    _Base = Loaded

__all__ = ["Continuation", "Generator"]

USUAL: dict[str, Any] = {"n_beams": 1, "temperature": 0.8, "max_length": 200}
OWN = ("max_length", "stop", "forbidden", "log")


@dataclass(frozen=True)
class Continuation:
    """How a text goes on. The score is the mean log-probability of its tokens."""

    prompt: str
    text: str
    """What was written, without the prompt."""
    score: float
    tokens: list[str]
    is_finished: bool
    """Whether the text ended by itself; False when it was cut at its longest length."""
    log_probs: list[float] = field(default_factory=list)
    others: list[Continuation] = field(default_factory=list)
    """More continuations, if they were asked for."""
    search: SearchLog | None = None


class Generator(_Base):
    """A trained model with its tokenizer: call it with a beginning, or with several."""

    @overload
    def __call__(self, prompt: str, **settings: Any) -> Continuation: ...
    @overload
    def __call__(self, prompt: list[str], **settings: Any) -> list[Continuation]: ...
    def __call__(
        self, prompt: str | list[str], **settings: Any
    ) -> Continuation | list[Continuation]:
        """Continue a text, or several in their order.

        Settings are the fields of `DecodingConfig`, such as `temperature`, `top_k`, `top_p`,
        `min_p`, `seed` and `repetition_penalty`; and `max_length` (in tokens), `stop`, `forbidden`
        and `log`. A temperature of 0 takes the most probable token each time.
        """
        prompts = [prompt] if isinstance(prompt, str) else list(prompt)
        requests = [self._request(each, settings) for each in prompts]
        found = self._generate(requests)
        stop = _texts("stop", settings.get("stop"))
        answers = [
            self._answer(each, request, some, stop)
            for each, request, some in zip(prompts, requests, found, strict=True)
        ]
        return answers[0] if isinstance(prompt, str) else answers

    def stream(self, prompt: str, **settings: Any) -> Iterator[str]:
        """Continue a text, and give each part as soon as it is final."""
        request = self._request(prompt, {**settings, "n_best": 1})
        stops = _texts("stop", settings.get("stop"))
        text = TextStream(self.tokenizer)
        # The first piece of the answer may need the last one of the prompt to be read rightly.
        written = "".join(text.push(token) for token in request.source)
        begin = told = len(self.tokenizer.decode(request.source))
        n_held = max(map(len, stops), default=1) - 1
        for token in self._stream(request):
            written += text.push(token)
            place = _first(written[begin:], stops)
            if place is not None:
                yield written[told : begin + place]
                return
            if len(written) - n_held > told:  # what may become a stop text is held back
                yield written[told : len(written) - n_held]
                told = len(written) - n_held
        written += text.finish()
        place = _first(written[begin:], stops)
        yield written[told : None if place is None else begin + place]

    @property
    def context(self) -> int | None:
        """How many tokens the model has seen at once in training, if that is known."""
        plan = self.card.get("plan")
        known = plan.get("context") if isinstance(plan, dict) else None
        if isinstance(known, int) and known > 1:
            return known
        native = None if self.engine is None else self.engine.native
        config = self.model.config if native is None else native.config
        n_positions: int | None = getattr(config, "n_positions", None)
        return n_positions

    @property
    def _marks(self) -> dict[str, Any]:
        """What the decoder has to know of the tokens, and where it computes."""
        tokenizer = self.tokenizer
        marks = {"bos": tokenizer.bos, "eos": tokenizer.eos, "pad": tokenizer.pad}
        return {**marks, "device": self.device}

    def _generate(self, requests: Sequence[Request]) -> list[list[Hypothesis]]:
        """All answers; what is longer than the context comes in pieces."""
        texts = [Pieces(request, self.context) for request in requests]
        while open_ := [text for text in texts if text.answers is None]:
            pieces = [text.next() for text in open_]
            for text, piece, found in zip(
                open_, pieces, generate(self._decoder, pieces, **self._marks), strict=True
            ):
                text.take(piece, found)
        return [text.answers or [] for text in texts]

    def _stream(self, request: Request) -> Iterator[int]:
        """The tokens of one answer; what is longer than the context comes in pieces."""
        text = Pieces(request, self.context)
        while text.answers is None:
            piece = text.next()
            tokens = []
            for token in stream(self._decoder, piece, **self._marks):
                tokens.append(token)
                yield token
            is_cut = len(tokens) >= piece.max_length
            text.take(piece, [Hypothesis(tokens, [], 0.0, not is_cut)])

    def _request(self, prompt: str, settings: dict[str, Any]) -> Request:
        known = {each.name for each in fields(DecodingConfig)}
        for name in settings:
            if name not in known | set(OWN):
                raise ConfigError(f"no setting {name!r}: {nearest(name, known | set(OWN))}")
        wanted = {**USUAL, **settings}
        if wanted["n_beams"] > 1 and "temperature" not in settings:
            wanted["temperature"] = 0.0
        config = DecodingConfig(**{name: wanted[name] for name in wanted if name in known})
        tokenizer = self.tokenizer
        stops = _texts("stop", wanted.get("stop"))
        forbidden = _texts("forbidden", wanted.get("forbidden"))
        # A text begins where another has ended.
        source = self._encode(normalise(prompt)) or [tokenizer.eos]
        return Request(
            source,
            wanted["max_length"],
            config,
            is_wrong=(lambda tokens: _first(tokenizer.decode(tokens), forbidden) is not None)
            if forbidden
            else None,
            is_enough=(lambda tokens: _first(tokenizer.decode(tokens), stops) is not None)
            if stops
            else None,
            log=SearchLog() if wanted.get("log") else None,
        )

    def _encode(self, prompt: str) -> list[int]:
        """Tokens of a beginning; those of others may begin with a special one."""
        if self.tokenizer.kind == "foreign":
            return self.tokenizer.encode(prompt, with_specials=True)
        return self.tokenizer.encode(prompt)

    def _answer(
        self, prompt: str, request: Request, found: Sequence[Hypothesis], stops: Sequence[str]
    ) -> Continuation:
        answers = []
        for one in found or [Hypothesis([], [], float("-inf"), False)]:
            text = self.tokenizer.decode([*request.source, *one.tokens])
            text = text[len(self.tokenizer.decode(request.source)) :]
            answers.append(
                Continuation(
                    prompt=prompt,
                    text=text[: _first(text, stops)],
                    score=one.score,
                    tokens=self.tokenizer.tokens(one.tokens),
                    is_finished=one.is_finished,
                    log_probs=one.log_probs,
                    search=request.log,
                )
            )
        first, *others = answers
        return Continuation(**{**vars(first), "others": others})


def _first(text: str, parts: Sequence[str]) -> int | None:
    """Where the first of some texts stands."""
    places = [place for place in map(text.find, parts) if place >= 0]
    return min(places, default=None)


def _texts(name: str, given: Any) -> tuple[str, ...]:
    texts = [given] if isinstance(given, str) else given or []
    if not isinstance(texts, list | tuple) or any(
        not isinstance(text, str) or not text for text in texts
    ):
        raise ConfigError(f"{name}={given!r} must be a list of texts that are not empty")
    return tuple(map(normalise, texts))
