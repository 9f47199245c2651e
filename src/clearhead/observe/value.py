"""What passed a place in a model: numbers, the names of their axes, and the tokens along them."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from clearhead.errors import InputError, nearest
from clearhead.observe.drawing import Picture, blocks, columns, grid_svg, heatmap_svg, table_svg
from clearhead.observe.names import name_pieces, spell
from clearhead.text import SPECIALS

__all__ = ["Steps", "Value", "Where", "find_word", "words_of"]

WITH_TOKENS: Final = ("query", "key")
Where = int | str


@dataclass(frozen=True)
class Value:
    """A tensor with labelled axes. A decoder's query is named by the token that it reads there."""

    name: str
    axes: tuple[str, ...]
    tensor: Tensor
    tokens: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    """For the axes `query` and `key`: the tokens of each row of the batch."""

    @property
    def shape(self) -> tuple[int, ...]:
        """How long each axis is."""
        return tuple(self.tensor.shape)

    def labels(self, axis: str) -> list[str]:
        """The tokens along an axis; its numbers if it has none."""
        n = self.shape[self._axis(axis)]
        rows = self.tokens.get(axis)
        if rows is None:
            return [str(i) for i in range(n)]
        if len(rows) != 1:
            raise InputError(f"{self.name} has {len(rows)} rows with other tokens: take one first")
        return list(rows[0])

    def row(self, number: int) -> "Value":
        """One row of the batch, by itself."""
        if "batch" not in self.axes:
            raise InputError(f"{self.name} has one row only")
        tensor = self.tensor[self._index("batch", number)]
        tokens = {axis: [rows[number]] for axis, rows in self.tokens.items()}
        return Value(self.name, self.axes[1:], tensor, tokens)

    def at(self, **where: Where) -> Any:
        """The part at some places, each given by its number, or a query or key by its word.

        A word of several pieces has the sum of its keys' weights, and the mean of everything else.
        What has no axis left is a plain number.
        """
        value = self.row(int(where.pop("batch"))) if "batch" in where else self
        for axis, place in where.items():
            value = value._take(axis, place)
        return value if value.axes else float(value.tensor)

    def to_numpy(self) -> NDArray[Any]:
        """The numbers alone."""
        return np.asarray(self.tensor.float().cpu().numpy())

    def picture(self) -> Picture:
        """Weights as a map, or a small one for each head; of everything else, how large it is."""
        title, note = self.name, str(self)
        is_map = self.axes[-2:] == ("query", "key") and self.name.endswith(".weights")
        if is_map and len(self.axes) == 2:
            weights = self.tensor.float().tolist()
            rows, keys = (name_pieces(self.labels(axis)) for axis in self.axes)
            drawn = heatmap_svg(weights, rows, keys, title=title, note=note)
            return Picture(
                title, drawn, f"{note}\n\n{blocks(weights, rows, keys)}", {"weights": weights}
            )
        x = self.tensor.float()
        numbers = {"mean": x.mean(), "spread": x.std(), "smallest": x.min(), "largest": x.max()}
        table = [[*numbers], [f"{float(number):.4f}" for number in numbers.values()]]
        told = f"{note}\n\n{columns(table)}"
        if is_map and self.axes == ("head", "query", "key"):
            heads = [f"head {n}" for n in range(len(x))]
            drawn = grid_svg([list(self.to_numpy())], [heads], title=title, note=note)
        else:
            drawn = table_svg(table, title=title, note=note)
        return Picture(title, drawn, told, {name: float(n) for name, n in numbers.items()})

    def _repr_html_(self) -> str:
        return self.picture().svg

    def _take(self, axis: str, place: Where) -> "Value":
        number = self._axis(axis)
        if isinstance(place, str):
            places = _place_of(self.labels(axis), place, axis)
        else:
            places = [self._index(axis, place)]
        part = self.tensor.index_select(number, self.tensor.new_tensor(places).long())
        is_sum = axis == "key" and self.name.endswith(".weights")
        tensor = part.sum(number) if is_sum else part.float().mean(number).to(part.dtype)
        tokens = {name: rows for name, rows in self.tokens.items() if name != axis}
        axes = tuple(name for name in self.axes if name != axis)
        return Value(self.name, axes, tensor, tokens)

    def _axis(self, axis: str) -> int:
        if axis not in self.axes:
            raise InputError(f"{self.name} has no axis {axis!r}: {nearest(axis, self.axes)}")
        return self.axes.index(axis)

    def _index(self, axis: str, place: int) -> int:
        n = self.shape[self._axis(axis)]
        if not -n <= place < n:
            raise InputError(f"{axis}={place} is outside {self.name}: it has {n} (0 to {n - 1})")
        return place % n

    def __repr__(self) -> str:
        sizes = ", ".join(f"{a} {n}" for a, n in zip(self.axes, self.shape, strict=True))
        return f"<{self.name}: {sizes}>"


class Steps(list[Value]):
    """What passed a place more than once, pass by pass: in generation, position by position."""

    def __repr__(self) -> str:
        return f"<{self[0].name}: {len(self)} steps>" if self else "<no steps>"


def words_of(tokens: Sequence[str]) -> list[tuple[str, list[int]]]:
    """The words that tokens make, and the places of their pieces; a mark at the end is by itself.

    >>> words_of(["▁ice", "-", "cream", ".", "▁now", "<eos>"])
    [('ice-cream', [0, 1, 2]), ('.', [3]), ('now', [4]), ('<eos>', [5])]
    """
    words: list[list[int]] = []
    for place, token in enumerate(tokens):
        is_alone = _is_special(token) or (place > 0 and _is_special(tokens[place - 1]))
        if not words or token.startswith("▁") or is_alone:
            words.append([place])
        else:
            words[-1].append(place)
    parted = [part for places in words for part in _without_marks(tokens, places)]
    return [(spell([tokens[place] for place in places]), places) for places in parted]


def _without_marks(tokens: Sequence[str], places: list[int]) -> list[list[int]]:
    """A word, and the pieces at its end that are nothing but punctuation."""
    end = len(places)
    while end > 1 and all(unicodedata.category(c)[0] == "P" for c in tokens[places[end - 1]]):
        end -= 1
    return [places[:end], places[end:]] if end < len(places) else [places]


def _is_special(token: str) -> bool:
    return token in SPECIALS or (token.startswith("<2") and token.endswith(">"))


def find_word(tokens: Sequence[str], word: str) -> list[list[int]]:
    """Every place where a word stands, or else pieces within words that spell it.

    >>> find_word(["▁the", "▁ban", "k", "."], "bank")
    [[1, 2]]
    """
    words = words_of(tokens)
    whole = [places for text, places in words if text == word]
    return whole or [
        run for text, places in words if word in text for run in _run(tokens, places, word)
    ]


def _run(tokens: Sequence[str], places: list[int], word: str) -> list[list[int]]:
    """The first pieces of a longer word that spell `word`, if there are such: `bank` in `bank.`."""
    runs = (
        places[begin:end]
        for begin in range(len(places))
        for end in range(begin + 1, len(places) + 1)
    )
    fitting = (run for run in runs if spell([tokens[place] for place in run]) == word)
    return [run for run in [next(fitting, None)] if run]


def _place_of(tokens: Sequence[str], word: str, axis: str) -> list[int]:
    """The pieces of a word that stands there once."""
    found = find_word(tokens, word)
    if not found:
        known = [text for text, _ in words_of(tokens)]
        raise InputError(f"no {axis} {word!r}: {nearest(word, known)}")
    if len(found) > 1:
        places = ", ".join(str(places[0]) for places in found)
        raise InputError(f"the {axis} {word!r} stands at {places}: give one of these numbers")
    return found[0]
