"""Editing: something else goes on from a named place than what came there.

    with edit(model, {"decoder.blocks.2.cross_attention.weights": zero(head=3)}):
        model(source, target_in)

An edit that met nothing, or changed nothing, is an error at the end of the block.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import torch
from torch import Tensor

from clearhead.errors import InputError, nearest
from clearhead.layers.tap import Gauge, Tap, listen
from clearhead.models import Model
from clearhead.observe.labels import Labels
from clearhead.observe.points import find_points
from clearhead.observe.value import Value, Where, find_word
from clearhead.shapes import axis_names

__all__ = ["Edit", "edit", "put", "replace", "scale", "zero"]


@dataclass(frozen=True)
class Edit:
    """What to do with a part of what passes: `change` gets the part, and returns what goes on."""

    change: Callable[[Tensor], Tensor]
    where: Mapping[str, Where] = field(default_factory=dict)


def zero(**where: Where) -> Edit:
    """Set numbers to zero; `where` names their place, `head=3` say, and all of it otherwise."""
    return Edit(torch.zeros_like, where)


def scale(factor: float, **where: Where) -> Edit:
    """Multiply numbers."""
    return Edit(lambda part: part * factor, where)


def put(number: float, **where: Where) -> Edit:
    """Set numbers."""
    return Edit(lambda part: torch.full_like(part, number), where)


def replace(value: Value | Tensor, **where: Where) -> Edit:
    """Take numbers from another run; they must have the same shape there, or one that spreads."""
    tensor = value.tensor if isinstance(value, Value) else value

    def change(part: Tensor) -> Tensor:
        try:
            return tensor.to(part.device, part.dtype).expand_as(part)
        except RuntimeError:
            raise InputError(
                f"numbers of shape {tuple(tensor.shape)} cannot replace {tuple(part.shape)}"
            ) from None

    return Edit(change, where)


@contextmanager
def edit(
    model: Model,
    edits: Mapping[str, Edit | Sequence[Edit]],
    decode: Callable[[Sequence[int]], list[str]] | None = None,
) -> Iterator[None]:
    """Let these edits act on what passes their places (names or patterns), while the block runs."""
    editor = _Editor(Labels(model, decode))
    by_tap: dict[Tap, list[Edit]] = {}  # several patterns may fit one place
    for pattern, given in edits.items():
        some = [given] if isinstance(given, Edit) else list(given)
        for name, tap in find_points(model, [pattern]).items():
            editor.check(name, tap, some)
            by_tap.setdefault(tap, []).extend(some)
    handlers = {
        tap: partial(editor.act, editor.names[tap], tap.axes, some) for tap, some in by_tap.items()
    }
    with listen(editor.listeners(handlers), after_others=True):
        yield
    editor.refuse_idle(handlers)


class _Editor:
    def __init__(self, labels: Labels) -> None:
        self.labels = labels
        self.met: set[str] = set()
        self.changed: set[str] = set()
        self.names: dict[Tap, str] = {}

    def check(self, name: str, tap: Tap, edits: Sequence[Edit]) -> None:
        """Refuse a place from which nothing goes on, and an axis that it does not have."""
        self.names[tap] = name
        if isinstance(tap, Gauge):
            raise InputError(f"{name} can be watched, and not edited: nothing goes on from there")
        axes = axis_names(tap.axes)
        for one in edits:
            for axis in one.where:
                if axis not in axes:
                    raise InputError(f"{name} has no axis {axis!r}: {nearest(axis, axes)}")

    def listeners(
        self, handlers: Mapping[Tap, Callable[[Tensor], Tensor]]
    ) -> dict[Tap, Callable[[Tensor], Tensor]]:
        """The edits, and before them the tokens that name places."""
        by_name = {self.names[tap]: handler for tap, handler in handlers.items()}

        def hear(stream: str, tokens: Tensor) -> Tensor:
            change = by_name.get(f"{stream}.tokens")
            tokens = tokens if change is None else change(tokens)
            self.labels.hear_tokens(stream, tokens)
            return tokens

        return {**handlers, **self.labels.listeners(hear)}

    def act(self, name: str, axes: str, edits: Sequence[Edit], value: Tensor) -> Tensor:
        """What goes on from a place instead of `value`."""
        self.met.add(name)
        changed = value.clone()
        for one in edits:
            for row in range(len(value)) if _has_words(one) else [None]:
                places = self._places(name, axis_names(axes), one.where, changed, row)
                if places is not None:
                    changed[places] = one.change(changed[places])
        if not torch.equal(changed, value):
            self.changed.add(name)
        return changed

    def _places(
        self,
        name: str,
        axes: Sequence[str],
        where: Mapping[str, Where],
        value: Tensor,
        row: int | None,
    ) -> tuple[Tensor, ...] | None:
        """Which numbers are meant, axis by axis; nothing if a word does not stand in this row."""
        tokens = {} if row is None else self.labels.of(name, axes)
        chosen = []
        for axis, n in zip(axes, value.shape, strict=True):
            wanted = where.get(axis)
            if isinstance(wanted, str):
                places = [i for found in find_word(tokens[axis][row or 0], wanted) for i in found]
            elif wanted is not None and not -n <= wanted < n:
                raise InputError(f"{axis}={wanted} is outside {name}: it has {n} (0 to {n - 1})")
            else:
                places = list(range(n)) if wanted is None else [wanted % n]
            if axis == "batch" and row is not None:
                places = [place for place in places if place == row]
            if not places:
                return None
            chosen.append(torch.tensor(places, device=value.device))
        return torch.meshgrid(*chosen, indexing="ij")

    def refuse_idle(self, handlers: Mapping[Tap, object]) -> None:
        """An edit must have met something, and changed it."""
        for name in (self.names[tap] for tap in handlers):
            if name not in self.met:
                raise InputError(f"{name} was to be edited, but nothing passed it")
            if name not in self.changed:
                raise InputError(f"the edit of {name} changed nothing")


def _has_words(one: Edit) -> bool:
    return any(isinstance(place, str) for place in one.where.values())
