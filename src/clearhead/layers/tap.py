"""Taps: named places in a model where an observer may look, or put something else.

A model only names the places worth seeing; who listens, and what for, is said from outside:

    with listen({tap: handler}):
        model(...)

The handler gets the value that passes and returns the value to go on with: the same one to watch,
another one to edit. Listeners belong to the thread (more exactly, the context) that set them.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Final

from torch import Tensor, nn

from clearhead.errors import InputError
from clearhead.shapes import axis_names

__all__ = [
    "ROWS",
    "Gauge",
    "Tap",
    "anybody_listens",
    "is_heard",
    "listen",
    "points",
    "remember_listeners",
    "taps",
]

Handler = Callable[[Tensor], Tensor]

_handlers: ContextVar["Mapping[Tap, Handler] | None"] = ContextVar("handlers", default=None)


class Tap:
    """A place that passes its value on unchanged, unless somebody listens.

    It is an attribute of its module, and not a module itself: torch looks for those in a slow way,
    and a step passes many taps.
    """

    def __init__(self, axes: str) -> None:
        axis_names(axes)  # an unknown letter fails here, not at the first observer
        self.axes = axes

    def __call__(self, value: Tensor) -> Tensor:
        """Hand `value` to the listener of this place, if there is one."""
        handlers = _handlers.get()
        if handlers is None or self not in handlers:
            return value
        value = handlers[self](value)
        if value is None:
            raise InputError("a listener returned nothing; it must return the value to go on with")
        return value

    @property
    def is_watched(self) -> bool:
        """Whether anybody listens, so that costly values need only be made when wanted."""
        handlers = _handlers.get()
        return handlers is not None and self in handlers

    def __repr__(self) -> str:
        return f"Tap({self.axes!r})"


class Gauge(Tap):
    """A place that only shows something: what it shows can be watched, but nothing goes on."""

    def show(self, make: Callable[[], Tensor]) -> None:
        """Make the value, if anybody listens."""
        if self.is_watched:
            self(make())


ROWS: Final = Tap("B")
"""Not in a model: here passes which rows the state of a decoder goes on with, when they change."""


@contextmanager
def listen(handlers: Mapping[Tap, Handler], *, after_others: bool = False) -> Iterator[None]:
    """Let these handlers hear their taps while the block runs, beside those already listening.

    At the same tap only the latest counts; with `after_others` it gets what the earlier returns.
    """
    before = _handlers.get() or {}
    shared = before.keys() & handlers.keys() if after_others else set()
    both = {tap: _one_after_the_other(before[tap], handlers[tap]) for tap in shared}
    token = _handlers.set({**before, **handlers, **both})
    try:
        yield
    finally:
        _handlers.reset(token)


def _one_after_the_other(first: Handler, second: Handler) -> Handler:
    return lambda value: second(first(value))


def anybody_listens() -> bool:
    """Whether anybody listens to anything now; the quickest question."""
    return _handlers.get() is not None


def is_heard(model: nn.Module) -> bool:
    """Whether anybody listens to a place in `model` now."""
    handlers = _handlers.get()
    if not handlers:
        return False
    return any(tap in handlers for tap in taps(model).values())


def remember_listeners(run: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Let `run` hear the listeners of now whenever it is called, be it in the backward pass."""
    context = copy_context()
    return lambda *args: context.run(run, *args)


def taps(model: nn.Module) -> dict[str, Tap]:
    """Every tap of a model by the name of its place."""
    return {
        f"{name}.{attribute}".lstrip("."): tap
        for name, module in model.named_modules()
        for attribute, tap in vars(module).items()
        if isinstance(tap, Tap)
    }


def points(model: nn.Module) -> dict[str, str]:
    """Every place of `model` that can be watched: its name and its axes. Nothing is run."""
    return {name: tap.axes for name, tap in taps(model).items()}
