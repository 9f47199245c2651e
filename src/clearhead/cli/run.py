"""`clearhead run`: a line in, a line out. Standard output holds translations and nothing else."""

import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import click

from clearhead.tasks import Translator

__all__ = ["read_chunks", "run_model"]

N_LINES = 512
N_BYTES = 1 << 16
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def run_model(folder: Path, texts: Sequence[str], n_beams: int) -> None:
    """Translate the texts, or else standard input until it ends."""
    translator = Translator.load(folder)
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # as the input, on every system
    answers = _Answers(translator, n_beams, "text" if texts else "line")
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
    n_beams: int
    unit: str
    n_read: int = 0
    n_cut: int = 0
    first_cut: int = 0
    is_warned: bool = False

    def write(self, raw: Sequence[bytes]) -> None:
        """Translate texts; their answers leave the program at once."""
        texts = [self._decode(data, self.n_read + i) for i, data in enumerate(raw, 1)]
        for answer in self.translator(texts, n_beams=self.n_beams):
            self.n_read += 1
            print(answer.text)
            if not answer.is_finished:
                self.n_cut += 1
                self.first_cut = self.first_cut or self.n_read
        sys.stdout.flush()

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
        """Tell of answers that are not whole."""
        if self.n_cut:
            were = "answer was" if self.n_cut == 1 else "answers were"
            click.echo(
                f"Warning: {self.n_cut:,} {were} cut, the first on {self.unit} "
                f"{self.first_cut:,}: the model did not end within the longest length allowed",
                err=True,
            )
