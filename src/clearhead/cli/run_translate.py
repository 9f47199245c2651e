"""`clearhead run`: a line in, a line out. Standard output holds translations and nothing else."""

import io
import json
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, cast

import click

from clearhead.engine.memory import Wanted
from clearhead.tasks import Translation, Translator
from clearhead.tasks.glossary import read_glossary
from clearhead.tasks.long_text import even

__all__ = ["read_chunks", "run_model"]

Form = Literal["text", "json", "stream"]

N_LINES = 512
N_BYTES = 1 << 16
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def run_model(
    folder: Path,
    texts: Sequence[str],
    *,
    glossary: Path | None = None,
    precision: Wanted = "auto",
    flags: bool = False,
    as_json: bool = False,
    stream: bool = False,
    loaded: type[Translator] = Translator,
    **options: Any,
) -> None:
    """Translate the texts, or else standard input until it ends; `options` are settings.

    `loaded` is what the model in the folder becomes.
    """
    settings = {name: value for name, value in options.items() if value}
    if glossary is not None:
        settings["glossary"] = read_glossary(glossary)
    translator = loaded.load(folder, precision)
    translator([], **settings)  # wrong settings fail here, before anything is read
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # as the input, on every system
    form: Form = "json" if as_json else "stream" if stream else "text"
    answers = _Answers(translator, settings, form, flags, "text" if texts else "line")
    if texts:
        # Bytes that are no UTF-8 arrive as lone surrogates, which are no text either.
        answers.write([text.encode("utf-8", "surrogatepass") for text in texts])
    else:
        if sys.stdin.isatty():
            click.echo("type a text and press Enter; Ctrl-D ends", err=True)
        for lines in read_chunks(cast("io.BufferedIOBase", sys.stdin.buffer)):
            answers.write(lines)
    answers.close()


def read_chunks(stream: io.BufferedIOBase, n_lines: int = N_LINES) -> Iterator[list[bytes]]:
    r"""The lines of a stream without their ends, as many at a time as are there already.

    So a line that a person or a program writes is answered at once, and a file in large chunks.
    Only \n ends a line (and a \r before it belongs to the end), as `wc -l` counts; after the last
    one there may be a line without an end.

    >>> list(read_chunks(io.BytesIO(b"a\r\n\nb")))
    [[b'a', b''], [b'b']]
    """
    rest = b""
    while data := stream.read1(N_BYTES):
        *lines, rest = (rest + data).split(b"\n")
        for start in range(0, len(lines), n_lines):
            yield [line.removesuffix(b"\r") for line in lines[start : start + n_lines]]
    if rest:
        yield [rest.removesuffix(b"\r")]


@dataclass
class _Answers:
    """Writes one line for each text, and remembers what must be told about them."""

    translator: Translator
    settings: dict[str, Any]
    form: Form
    tells_flags: bool
    unit: str
    n_read: int = 0
    n_flagged: int = 0
    first_flag: str = ""
    is_warned: bool = False

    def write(self, raw: Sequence[bytes]) -> None:
        """Translate texts; their answers leave the program at once."""
        texts = [even(self._decode(data, self.n_read + i)) for i, data in enumerate(raw, 1)]
        if self.form == "stream":
            for text in texts:
                self._write_stream(text)
            return
        for answer in self.translator(texts, **self.settings):
            if self.form == "json":
                print(json.dumps(_as_data(answer), ensure_ascii=False))
            elif "n_best" in self.settings:
                for rank, each in enumerate([answer, *answer.others], 1):
                    print(f"{rank}\t{each.score:.4f}\t{each.text}")
            else:
                print(answer.text)
            self._note(answer.flags)
        sys.stdout.flush()

    def _write_stream(self, text: str) -> None:
        parts = self.translator.stream(text, **self.settings)
        for part in parts:
            print(part, end="", flush=True)
        print(flush=True)
        self._note(parts.flags)

    def _note(self, flags: Sequence[str]) -> None:
        """Count an answer, and tell or remember what makes it doubtful."""
        self.n_read += 1
        if flags:
            self.n_flagged += 1
            self.first_flag = self.first_flag or f"{self.unit} {self.n_read:,}: {flags[0]}"
        if self.tells_flags:
            for flag in flags:
                click.echo(f"{self.unit} {self.n_read:,}: {flag}", err=True)

    def _decode(self, data: bytes, number: int) -> str:
        if number == 1:
            data = data.removeprefix(BYTE_ORDER_MARK)
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            if not self.is_warned:
                self.is_warned = True
                click.echo(
                    f"Warning: {self.unit} {number:,} is not UTF-8: here and from here on, bytes "
                    "that cannot be read become \ufffd",
                    err=True,
                )
            return data.decode("utf-8", "replace")

    def close(self) -> None:
        """Tell of answers that are doubtful, unless each of them was told of."""
        if self.n_flagged and not self.tells_flags:
            are = "answer is" if self.n_flagged == 1 else "answers are"
            click.echo(
                f"Warning: {self.n_flagged:,} {are} doubtful (--flags tells why). "
                f"The first on {self.first_flag}",
                err=True,
            )


def _as_data(answer: Translation) -> dict[str, Any]:
    """An answer as JSON shows it."""
    data: dict[str, Any] = {
        "text": answer.text,
        "score": round(answer.score, 6) if math.isfinite(answer.score) else None,
        "is_finished": answer.is_finished,
        "flags": answer.flags,
        "tokens": answer.tokens,
        "log_probs": [round(log_prob, 6) for log_prob in answer.log_probs],
    }
    if answer.others:
        data["others"] = [_as_data(other) for other in answer.others]
    if answer.alignment is not None:
        data["alignment"] = asdict(answer.alignment)
    return data
