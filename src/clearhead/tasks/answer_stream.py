"""An answer as it is written: pieces of text that are final, as soon as they are."""

import re
from collections.abc import Callable, Iterator, Sequence

from clearhead.decoding import Request
from clearhead.tasks.settings import Settings
from clearhead.tasks.translation import find_flags
from clearhead.text.sentences import Piece, join
from clearhead.text.streaming import TextStream

__all__ = ["AnswerStream"]


class AnswerStream(Iterator[str]):
    """Pieces of one answer; all of them together are its text.

    When they have come, `flags` and `is_finished` say whether the answer can be trusted.
    """

    def __init__(
        self,
        pieces: Sequence[Piece],
        requests: Sequence[Request],
        settings: Settings,
        decode: Callable[[Request], Iterator[int]],
    ) -> None:
        self.text = ""
        self.flags: tuple[str, ...] = ()
        self.is_finished = True
        self._settings, self._decode = settings, decode
        self._parts = self._write(pieces, requests)

    def __next__(self) -> str:
        part = next(self._parts)
        self.text += part
        return part

    def _write(self, pieces: Sequence[Piece], requests: Sequence[Request]) -> Iterator[str]:
        remaining = iter(requests)
        before = Piece("", False)
        for piece in pieces:
            if not piece.is_sentence:
                yield piece.text
            else:
                is_first = True
                for part in self._write_sentence(piece.text, next(remaining)):
                    if is_first and before.is_sentence:
                        # As in the whole text, where two sentences had no space between them.
                        last = self.text[-1:]
                        part = join([before, piece], [last, part])[len(last) :]
                    is_first = False
                    yield part
            before = piece

    def _write_sentence(self, sentence: str, request: Request) -> Iterator[str]:
        tokens: list[int] = []
        letters = TextStream(self._settings.tokenizer)
        line = _Line(self._settings.stop)
        written = ""
        for token in self._decode(request):
            tokens.append(token)
            if part := line.push(letters.push(token)):
                written += part
                yield part
        if part := line.push(letters.finish()) + line.finish():
            written += part
            yield part
        is_finished = not self._settings.is_cut(request, tuple(tokens))
        self.is_finished &= is_finished
        terms = self._settings.terms(sentence)
        n_unread = self._settings.n_unread(sentence, request)
        found = find_flags(sentence, written, is_finished, terms, n_unread)
        self.flags = tuple(dict.fromkeys((*self.flags, *found)))


class _Line:
    """Text that comes in parts → one line with single spaces, which ends before a stop text.

    Held back is a space at the end, and what may become a stop text.
    """

    def __init__(self, stop: Sequence[str]) -> None:
        self._stop = stop
        self._held = ""
        self._has_begun = False
        self._is_over = False

    def push(self, text: str) -> str:
        """Take the next part; return what has become final."""
        if self._is_over:
            return ""
        held = re.sub(r"\s+", " ", self._held + text)
        held = held if self._has_begun else held.lstrip()
        places = [place for place in map(held.find, self._stop) if place >= 0]
        if places:
            self._is_over, self._held = True, ""
            return held[: min(places)].rstrip()
        n_final = min(
            (place for place in range(len(held)) if self._may_vanish(held[place:])),
            default=len(held),
        )
        self._held = held[n_final:]
        self._has_begun |= n_final > 0
        return held[:n_final]

    def finish(self) -> str:
        """Return what was held back, when no more text comes."""
        held, self._held = self._held, ""
        return held.rstrip()

    def _may_vanish(self, end: str) -> bool:
        return end.isspace() or any(text.startswith(end) for text in self._stop)
