"""Which tokens stand along the axes while a model runs, also while beams change places."""

from collections.abc import Callable, Sequence
from functools import partial

from torch import Tensor

from clearhead.layers.tap import ROWS, Tap, taps
from clearhead.models import Model

__all__ = ["Labels"]

Decode = Callable[[Sequence[int]], list[str]]
Handler = Callable[[Tensor], Tensor]


class Labels:
    """Hears the tokens of each embedding and the moves of rows, and names the axes of a place."""

    def __init__(self, model: Model, decode: Decode | None) -> None:
        self.model = model
        self.decode = decode or (lambda tokens: [str(token) for token in tokens])
        self.first, _ = model.streams("encoder.")
        self.rows: dict[str, list[list[int]]] = {}
        """Of each stream: all tokens of each row."""
        self.newest: dict[str, int] = {}
        """Of each stream: how many tokens of each row came last."""
        self.owners: list[int] = []
        """Which row of the source each row of the target reads."""

    def hear_tokens(self, stream: str, tokens: Tensor) -> None:
        """New tokens of a stream; those of a source begin a new run."""
        rows = tokens.tolist()
        is_new = stream == self.first and (_n_streams(self.model) > 1 or tokens.shape[1] != 1)
        if is_new:
            self.rows = {}
            self.owners = list(range(len(rows)))
        before = self.rows.get(stream)
        if before is None or len(before) != len(rows):
            self.rows[stream] = rows
        else:
            self.rows[stream] = [old + new for old, new in zip(before, rows, strict=True)]
        self.newest[stream] = tokens.shape[1]

    def listeners(self, hear: Callable[[str, Tensor], Tensor]) -> dict[Tap, Handler]:
        """What must be heard for the labels: the moves of rows, and the tokens of each stream.

        `hear` gets a stream and its tokens, calls `hear_tokens`, and returns what goes on.
        """
        found: dict[Tap, Handler] = {ROWS: self._hear_rows}
        for stream in {*self.model.streams("encoder."), *self.model.streams("decoder.")}:
            tap = taps(self.model)[f"{stream}.tokens"]
            found[tap] = partial(hear, stream)
        return found

    def _hear_rows(self, rows: Tensor) -> Tensor:
        """Rows were repeated, exchanged or dropped."""
        kept = rows.tolist()
        self.owners = [self.owners[row] for row in kept] if self.owners else []
        for stream, texts in self.rows.items():
            if stream != self.first or _n_streams(self.model) == 1:
                self.rows[stream] = [texts[row] for row in kept]
        return rows

    def of(self, point: str, axes: Sequence[str]) -> dict[str, list[list[str]]]:
        """The tokens along the axes of a place, row by row."""
        query, key = self.model.streams(point)
        found = {}
        if "query" in axes and query in self.rows:
            n = self.newest[query]
            found["query"] = [self.decode(row[len(row) - n :]) for row in self.rows[query]]
        if "key" in axes and key in self.rows:
            rows = self.rows[key]
            if key != query:
                rows = [rows[owner] for owner in self.owners]
            found["key"] = [self.decode(row) for row in rows]
        return found

    def sizes(self, point: str) -> dict[str, int]:
        """How long the axes that depend on the input are now."""
        query, key = self.model.streams(point)
        rows = self.rows.get(query, [])
        keys = self.rows.get(key, [])
        return {
            "B": len(rows),
            "T": self.newest.get(query, 0),
            "S": max((len(row) for row in keys), default=0),
        }


def _n_streams(model: Model) -> int:
    return len({*model.streams("encoder."), *model.streams("decoder.")})
