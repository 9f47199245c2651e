"""Curves and histograms as figures: inline SVG that needs no script, and whose text is text.

Numbers that are not finite are left out and counted; a long curve is thinned to means, and what
it ranged over stays behind it as a pale band. Colours come from the page's style sheet.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal, TypeGuard

__all__ = [
    "Bin",
    "Curve",
    "Point",
    "Trend",
    "draw_curves",
    "draw_histogram",
    "is_number",
    "numbers",
    "round_ticks",
    "thin",
    "trend",
]

Point = tuple[float, float]

N_POINTS = 600
"""More points than a curve has pixels show nothing."""
N_DOTS = 80
"""More dots than this would hide the line."""
LARGEST = 1e100
"""Beyond this, differences of numbers could overflow; no curve has use for them."""
EMPTY = '<p class="empty">nothing was recorded</p>'
_STEPS = ((1, math.sqrt(2)), (2, math.sqrt(10)), (5, math.sqrt(50)), (10, math.inf))
"""A round step, and up to which rough one it is the nearest."""
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 520, 56, 16, 24, 44


@dataclass(frozen=True)
class Curve:
    """One curve of a figure. Noisy ones are smoothed, measured ones get a dot at each point."""

    name: str
    points: Sequence[Point]
    kind: Literal["noisy", "measured", "plain"] = "plain"


@dataclass(frozen=True)
class Bin:
    """Neighbouring points as one: their mean, and how low and high they went."""

    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True)
class Trend:
    """A noisy curve as means of `n_averaged` points, and the bins that they come from."""

    bins: list[Bin]
    line: list[Point]
    n_averaged: int


@dataclass(frozen=True)
class _Axis:
    """From numbers to pixels in a straight line; what lies outside is drawn at the edge."""

    low: float
    high: float
    start: float
    end: float
    ticks: Sequence[float]
    is_log: bool = False

    def place(self, value: float) -> float:
        inside, low, high = min(max(value, self.low), self.high), self.low, self.high
        if self.is_log:
            inside, low, high = math.log(inside), math.log(low), math.log(high)
        return self.start + (inside - low) / (high - low) * (self.end - self.start)

    @property
    def power(self) -> int:
        """The power of ten that the labels leave out, so that they stay short."""
        if self.is_log:
            return 0
        largest = max(abs(self.low), abs(self.high))
        return math.floor(math.log10(largest) + 1e-9) if not 0.01 <= largest < 1e6 else 0

    def label(self, value: float) -> str:
        if self.is_log:
            return f"{value:g}"
        unit = 10.0**self.power
        gap = abs(self.ticks[1] - self.ticks[0]) / unit if len(self.ticks) > 1 else 1.0
        n_digits = max(0, -math.floor(math.log10(gap) + 1e-9))
        rounded = round(value / unit, n_digits) + 0.0  # no minus before a zero
        return f"{rounded:,.{n_digits}f}".replace("-", "−")


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value can be drawn: NaN and infinity cannot."""
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and -LARGEST < value < LARGEST
    )


def numbers(lines: Iterable[dict[str, Any]], name: str) -> list[Point]:
    """(step, value) of the lines that hold a number under `name`, in the order of the steps.

    >>> numbers([{"step": 2, "loss": 0.5}, {"step": 1, "loss": float("nan")}, {"step": 3}], "loss")
    [(2, 0.5)]
    """
    pairs = ((line.get("step"), line.get(name)) for line in lines)
    return sorted((x, y) for x, y in pairs if is_number(x) and is_number(y))


def thin(points: Sequence[Point], n_points: int = N_POINTS) -> list[Bin]:
    """Put neighbours together until at most `n_points` are left; few points stay as they are."""
    n_bins = min(n_points, len(points))
    bins = []
    for k in range(n_bins):
        part = points[k * len(points) // n_bins : (k + 1) * len(points) // n_bins]
        values = [y for _, y in part]
        x = math.fsum(x for x, _ in part) / len(part)
        bins.append(Bin(x, math.fsum(values) / len(values), min(values), max(values)))
    return bins


def trend(points: Sequence[Point]) -> Trend:
    """Smooth by the mean of each point and as many neighbours on either side, fewer at the ends."""
    bins = thin(points)
    reach = len(bins) // 100
    line = []
    for k, each in enumerate(bins):
        near = min(reach, k, len(bins) - 1 - k)
        part = bins[k - near : k + near + 1]
        line.append((each.x, math.fsum(other.y for other in part) / len(part)))
    n_averaged = round((2 * reach + 1) * len(points) / max(1, len(bins)))
    return Trend(bins, line, n_averaged)


def round_ticks(low: float, high: float, n_ticks: int = 5, whole: bool = False) -> list[float]:
    """Round numbers that enclose the range, about `n_ticks` steps apart.

    >>> round_ticks(0.3, 9.2), round_ticks(0, 3, whole=True)
    ([0.0, 2.0, 4.0, 6.0, 8.0, 10.0], [0.0, 1.0, 2.0, 3.0])
    """
    rough = (high - low) / n_ticks
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m, limit in _STEPS if rough < limit * power)
    step = max(1.0, step) if whole else step
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [k * step for k in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    """Round numbers inside the range, closer where it is short.

    >>> _log_ticks(1.2, 9), _log_ticks(0.04, 9)
    ([1.5, 2.0, 3.0, 5.0, 7.0], [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0])
    """
    n_decades = math.log10(high / low)
    some = (1, 1.5, 2, 3, 5, 7) if n_decades < 1.3 else (1, 2, 5) if n_decades < 3 else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = (float(f"{m}e{power}") for power in powers for m in some)
    return [tick for tick in ticks if low <= tick <= high]


def draw_curves(
    title: str,
    curves: Sequence[Curve],
    *,
    unit: str,
    last_step: float = 0,
    best_step: float | None = None,
    from_zero: bool = False,
    is_log: bool = False,
    notes: Iterable[str] = (),
) -> str:
    """Draw curves over the steps of training, on the same axes."""
    known = [curve for curve in curves if curve.points]
    if not known:
        return _figure(title, unit, "", EMPTY, notes)
    trends = [trend(curve.points) for curve in known]
    keys = "".join(_key(curve, each) for curve, each in zip(known, trends, strict=True))
    keys = keys if len(known) > 1 or known[0].kind == "noisy" else ""
    drawn = [y for each in trends for b in each.bins for y in (b.low, b.high)]
    height = 290
    y = _y_axis(drawn, height, from_zero, is_log)
    last_step = max([last_step, 1.0, *(x for curve in known for x, _ in curve.points)])
    steps = [tick for tick in round_ticks(0, last_step, whole=True) if tick <= last_step]
    x = _Axis(0, last_step, LEFT, WIDTH - RIGHT, steps)
    parts = [_frame(x, y, height, "step")]
    parts += [_draw(curve, each, x, y) for curve, each in zip(known, trends, strict=True)]
    if is_number(best_step) and 0 < best_step <= last_step:
        parts.append(_mark(x, best_step, height, f"best: step {best_step:,.0f}"))
    n_cut = sum(not y.low <= v <= y.high for curve in known for _, v in curve.points)
    notes = [*notes, *([f"{_count(n_cut, 'value')} beyond the axis."] if n_cut else [])]
    return _figure(title, unit, keys, _svg(height, title, parts), notes)


def draw_histogram(
    title: str, values: Sequence[float], *, unit: str, high: float = 100.0, n_bins: int = 20
) -> str:
    """Draw how many values lie in each of `n_bins` equal parts of 0 … high, and their mean."""
    known = [value for value in values if is_number(value)]
    if not known:
        return _figure(title, unit, "", EMPTY)
    counts = [0] * n_bins
    for value in known:
        counts[min(n_bins - 1, max(0, int(value / high * n_bins)))] += 1
    height = 210
    ticks = round_ticks(0, max(counts), 4, whole=True)
    y = _Axis(0, ticks[-1], height - BOTTOM, TOP, ticks)
    x = _Axis(0, high, LEFT, WIDTH - RIGHT, round_ticks(0, high))
    parts = [_frame(x, y, height, unit)]
    for k, count in enumerate(counts):
        start, end = (high * each / n_bins for each in (k, k + 1))
        box = x.place(start) + 1, y.place(count), x.place(end) - x.place(start) - 2
        parts.append(
            f'<rect class="bar" x="{box[0]:.2f}" y="{box[1]:.2f}" width="{box[2]:.2f}" '
            f'height="{y.start - box[1]:.2f}"><title>{start:g}–{end:g}: {count:,}</title></rect>'
        )
    mean = math.fsum(known) / len(known)
    parts.append(_mark(x, mean, height, f"mean {mean:.1f}"))
    return _figure(title, "how many sentences", "", _svg(height, title, parts))


def _y_axis(values: Sequence[float], height: float, from_zero: bool, is_log: bool) -> _Axis:
    """The axis for these values; logarithmic ones only where the logarithm shows more."""
    low, high = _limits(values, from_zero)
    if is_log and min(values) > 0 and low > 0 and high > 3 * low:
        low, high = max(low * 0.93, high * 1e-6), high * 1.07
        return _Axis(low, high, height - BOTTOM, TOP, _log_ticks(low, high), is_log=True)
    ticks = round_ticks(low, high, 4)
    return _Axis(ticks[0], ticks[-1], height - BOTTOM, TOP, ticks)


def _limits(values: Sequence[float], from_zero: bool) -> tuple[float, float]:
    """The range of an axis: that of the values, but a few wild ones may not flatten the rest."""
    ordered = sorted(values)
    low, high = ordered[0], ordered[-1]
    n_wild = len(ordered) // 50
    usual_low, usual_high = ordered[n_wild], ordered[-1 - n_wild]
    reach = 8 * (usual_high - usual_low)
    if reach > 0:
        low, high = max(low, usual_low - reach), min(high, usual_high + reach)
    if from_zero:
        low, high = min(0.0, low), max(0.0, high)
    if high - low <= max(1e-9 * max(abs(low), abs(high)), 1 / LARGEST):
        room = abs(high) / 10 if abs(high) > 1 / LARGEST else 1.0
        low, high = low if from_zero else low - room, high + room
    return low, high


def _draw(curve: Curve, smoothed: Trend, x: _Axis, y: _Axis) -> str:
    """The line of one curve, with its range behind it or dots on it."""
    line = smoothed.line if curve.kind == "noisy" else [(b.x, b.y) for b in smoothed.bins]
    parts = []
    if curve.kind == "noisy" and len(line) > 1:
        edge = [(b.x, b.high) for b in smoothed.bins]
        edge += [(b.x, b.low) for b in reversed(smoothed.bins)]
        parts.append(f'<polygon class="band" points="{_places(edge, x, y)}"/>')
    if len(line) > 1:
        parts.append(f'<polyline class="line" points="{_places(line, x, y)}"/>')
    if len(line) == 1 or (curve.kind == "measured" and len(line) <= N_DOTS):
        for at, value in line:
            parts.append(
                f'<circle class="dot" cx="{x.place(at):.2f}" cy="{y.place(value):.2f}" r="3">'
                f"<title>step {at:,.0f}: {value:.4g}</title></circle>"
            )
    return f'<g class="{curve.kind}">{"".join(parts)}</g>'


def _places(points: Iterable[Point], x: _Axis, y: _Axis) -> str:
    return " ".join(f"{x.place(a):.2f},{y.place(b):.2f}" for a, b in points)


def _frame(x: _Axis, y: _Axis, height: float, name: str) -> str:
    """Lines at the round numbers, their labels, and what the horizontal axis counts."""
    base = f'x1="{x.start}" x2="{x.end}" y1="{y.start}" y2="{y.start}"'
    parts = [f'<line class="tick" {base}/>']
    for tick in y.ticks:
        at = y.place(tick)
        parts.append(
            f'<line class="grid" x1="{x.start}" x2="{x.end}" y1="{at:.2f}" y2="{at:.2f}"/>'
            f'<text class="y" x="{x.start - 8}" y="{at + 4:.2f}">{y.label(tick)}</text>'
        )
    for tick in x.ticks:
        at = x.place(tick)
        parts.append(
            f'<line class="tick" x1="{at:.2f}" x2="{at:.2f}" y1="{y.start}" y2="{y.start + 4}"/>'
            f'<text class="x" x="{at:.2f}" y="{y.start + 19}">{x.label(tick)}</text>'
        )
    if y.power or y.is_log:
        scale = "log scale" if y.is_log else f"× 10{_raised(y.power)}"
        parts.append(f'<text class="scale" x="4" y="13">{scale}</text>')
    name += f", × 10{_raised(x.power)}" if x.power else ""
    middle = (x.start + x.end) / 2
    parts.append(f'<text class="name" x="{middle}" y="{height - 5}">{escape(name)}</text>')
    return "".join(parts)


def _mark(x: _Axis, value: float, height: float, label: str) -> str:
    """A dashed line from top to bottom, named above the drawing."""
    at = x.place(value)
    side = "end" if at > (x.start + x.end) / 2 else "start"
    return (
        f'<line class="mark" x1="{at:.2f}" x2="{at:.2f}" y1="{TOP - 5}" y2="{height - BOTTOM}"/>'
        f'<text class="mark" style="text-anchor:{side}" x="{at:.2f}" y="{TOP - 11}">'
        f"{escape(label)}</text>"
    )


def _raised(power: int) -> str:
    """Write an exponent in small figures.

    >>> _raised(-13)
    '⁻¹³'
    """
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _key(curve: Curve, smoothed: Trend) -> str:
    name = curve.name
    if curve.kind == "noisy" and smoothed.n_averaged > 1:
        name += f", mean of {smoothed.n_averaged:,} steps"
    return f' <span class="key {curve.kind}">{escape(name)}</span>'


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun} lies" if n == 1 else f"{n:,} {noun}s lie"


def _svg(height: float, title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg>"
    )


def _figure(title: str, unit: str, keys: str, body: str, notes: Iterable[str] = ()) -> str:
    told = escape(" ".join(note for note in notes if note))
    note = f'<p class="note">{told}</p>' if told else ""
    head = f'<b>{escape(title)}</b> <span class="unit">{escape(unit)}</span>'
    return f"<figure><figcaption>{head}{keys}</figcaption>{body}{note}</figure>"
