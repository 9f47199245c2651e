"""Watching: what passes named places while a model runs, whatever makes it run.

    with watch(model, "decoder.*.cross_attention.weights") as seen:
        model(source, target_in)
    seen["decoder.blocks.0.cross_attention.weights"].at(head=2, query=3)

Values are copies on the CPU. A place that was asked for and never passed is an error at the end of
the block, and so is more memory than the limit allows, before it is taken.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from clearhead.errors import InputError, nearest
from clearhead.layers.tap import Gauge, Tap, listen
from clearhead.models import Model
from clearhead.observe.drawing import Picture, columns, table_svg
from clearhead.observe.labels import Labels
from clearhead.observe.points import find_points
from clearhead.observe.value import Steps, Value
from clearhead.shapes import axis_names
from clearhead.text.amounts import describe_bytes

__all__ = ["LIMIT", "Seen", "watch"]

LIMIT: Final = 2**30
"""Bytes that may be kept, unless another limit is given."""


class Seen(Mapping[str, Value | Steps]):
    """What was seen, by the names of the places."""

    def __init__(self, values: Mapping[str, Sequence[Value]] | None = None) -> None:
        self._values = {name: list(some) for name, some in (values or {}).items()}

    def __getitem__(self, name: str) -> Value | Steps:
        """What passed a place: one value, or one after the other."""
        found = self.steps(name)
        return found[0] if len(found) == 1 else found

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def steps(self, name: str) -> Steps:
        """The same, always as a list."""
        if name not in self._values:
            raise InputError(f"{name!r} was not seen: {nearest(name, self._values)}")
        return Steps(self._values[name])

    def picture(self) -> Picture:
        """What there is, place by place."""
        title = f"What was seen: {len(self)} places"
        table = [["place", "axes", "shape", "passes"]]
        for name, some in self._values.items():
            shape = " × ".join(map(str, some[-1].shape))
            table.append([name, ", ".join(some[-1].axes), shape, str(len(some))])
        note = f"{describe_bytes(self.n_bytes)}; the shape is that of the last pass"
        drawn = table_svg(table, title=title, note=note, left=(0, 1, 2))
        told = f"{title}\n{note}\n\n{columns(table, right=(3,))}"
        return Picture(title, drawn, told, {"places": table[1:]})

    def _repr_html_(self) -> str:
        return self.picture().svg

    @property
    def n_bytes(self) -> int:
        """How much memory the values take."""
        return sum(v.tensor.nbytes for some in self._values.values() for v in some)

    def add(self, value: Value) -> None:
        """One more value, after those of the same place."""
        self._values.setdefault(value.name, []).append(value)

    def save(self, path: Path | str) -> None:
        """Write all values to a safetensors file; names, axes and tokens are in its header."""
        tensors, told = {}, []
        for name, some in self._values.items():
            for number, value in enumerate(some):
                tensors[f"{name}#{number}"] = value.tensor.contiguous()
                told.append({"name": name, "axes": value.axes, "tokens": dict(value.tokens)})
        save_file(tensors, path, {"clearhead": json.dumps(told, ensure_ascii=False)})

    @classmethod
    def load(cls, path: Path | str) -> "Seen":
        """Read what `save` wrote."""
        seen = cls()
        try:
            with safe_open(path, "pt") as file:
                told = json.loads((file.metadata() or {})["clearhead"])
                count: dict[str, int] = {}
                for one in told:
                    name = one["name"]
                    number = count[name] = count.get(name, -1) + 1
                    tensor = file.get_tensor(f"{name}#{number}")
                    seen.add(Value(name, tuple(one["axes"]), tensor, one["tokens"]))
        except (OSError, SafetensorError, KeyError, ValueError) as error:
            raise InputError(f"{path} holds nothing that was seen: {error}") from None
        return seen


@contextmanager
def watch(
    model: Model,
    *patterns: str,
    decode: Callable[[Sequence[int]], list[str]] | None = None,
    limit: int = LIMIT,
) -> Iterator[Seen]:
    """Keep what passes the places that fit the patterns, while the block runs.

    `decode` turns token ids into texts for the axes; only this thread is watched.
    """
    if not patterns:
        raise InputError("say what to watch: `model.points()` lists the places")
    taps = find_points(model, patterns)
    labels, seen = Labels(model, decode), Seen()
    watcher = _Watcher(model, {name: tap.axes for name, tap in taps.items()}, labels, seen, limit)
    handlers = watcher.handlers(taps)
    with listen(handlers, after_others=True):
        yield seen
    # A pattern may take in gauges of ways of running that were not used.
    missing = [
        name
        for name, tap in taps.items()
        if name not in seen and not (isinstance(tap, Gauge) and name not in patterns)
    ]
    if missing:
        raise InputError(
            f"{missing[0]} was watched, but nothing passed it"
            + (f", nor {len(missing) - 1} others" if len(missing) > 1 else "")
            + ": run the model inside the block, in a way that uses it"
        )


class _Watcher:
    """Listens to the places, and to the tokens that tell what their axes are."""

    def __init__(
        self, model: Model, axes: Mapping[str, str], labels: Labels, seen: Seen, limit: int
    ) -> None:
        self.model, self.axes, self.labels, self.seen = model, axes, labels, seen
        self.limit, self.n_bytes = limit, 0

    def handlers(self, taps: Mapping[str, Tap]) -> dict[Tap, Callable[[Tensor], Tensor]]:
        """What listens where; a stream's tokens are heard even if nobody asked for them."""
        found = self.labels.listeners(self._hear_tokens)
        return found | {
            tap: partial(self._keep, name) for name, tap in taps.items() if tap not in found
        }

    def _hear_tokens(self, stream: str, tokens: Tensor) -> Tensor:
        self.labels.hear_tokens(stream, tokens)
        self._refuse_too_much(stream)
        name = f"{stream}.tokens"
        return self._keep(name, tokens) if name in self.axes else tokens

    def _refuse_too_much(self, stream: str) -> None:
        """What is about to pass must fit, too."""
        fixed, n = self.model.axis_sizes(), 0
        for name, axes in self.axes.items():
            if self.model.streams(name)[0] == stream:
                sizes = {**fixed, **self.labels.sizes(name)}
                n += 4 * math.prod(sizes.get(letter, 1) for letter in axes.split())
        if self.n_bytes + n > self.limit:
            raise InputError(
                f"watching would take {describe_bytes(self.n_bytes + n)}, and the limit is "
                f"{describe_bytes(self.limit)}: watch fewer places or a shorter text, or set limit"
            )

    def _keep(self, name: str, value: Tensor) -> Tensor:
        kept = value.detach().to("cpu", copy=True)
        self.n_bytes += kept.nbytes
        axes = axis_names(self.axes[name])
        tokens = self.labels.of(name, axes)
        if axes[0] == "batch" and len(kept) == 1:
            axes, kept = axes[1:], kept[0]
        self.seen.add(Value(name, axes, kept, tokens))
        return value
