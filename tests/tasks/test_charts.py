"""Figures: what is drawn can be read back from the axes, and no data is too odd to draw."""

import math
import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearhead.tasks.charts import (
    Bin,
    Curve,
    Point,
    draw_curves,
    draw_histogram,
    is_number,
    numbers,
    round_ticks,
    thin,
    trend,
)

NAN, INF = math.nan, math.inf
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def parse(figure: str) -> Element:
    """Read a figure as XML, which is stricter than HTML; no number in it may be broken."""
    root = ElementTree.fromstring(figure)
    for node in root.iter():
        for name in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height", "points"):
            places = [float(part) for part in re.split(r"[ ,]", node.get(name, "0"))]
            assert all(0 <= place <= 520 for place in places), (name, node.attrib)
    return root


def one(root: Element, path: str) -> Element:
    found = root.find(path)
    assert found is not None, path
    return found


def labels(root: Element, kind: str) -> list[Point]:
    """(pixel, number) of the labels of an axis, as a reader sees them."""
    scale = root.find(".//text[@class='scale']")
    power = re.search(r"10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", scale.text or "") if scale is not None else None
    figures = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    unit = 10.0 ** int(power[1].translate(figures)) if power and kind == "y" else 1.0
    found = []
    for text in root.findall(f".//text[@class='{kind}']"):
        place = float(text.attrib[kind]) - (4 if kind == "y" else 0)
        number = float((text.text or "").replace(",", "").replace("−", "-"))
        found.append((place, number * unit))
    return found


def read_back(root: Element, places: str) -> list[Point]:
    """Turn pixels into numbers again, by nothing but the labels on the axes."""
    scale = root.find(".//text[@class='scale']")
    is_log = scale is not None and scale.text == "log scale"
    (x0, a0), *_, (x1, a1) = labels(root, "x")
    (y0, b0), *_, (y1, b1) = labels(root, "y")
    points = []
    for place in places.split():
        x, y = map(float, place.split(","))
        share = (y - y0) / (y1 - y0)
        value = b0 * (b1 / b0) ** share if is_log else b0 + share * (b1 - b0)
        points.append((a0 + (x - x0) / (x1 - x0) * (a1 - a0), value))
    return points


def line_of(root: Element, kind: str) -> list[Point]:
    return read_back(root, one(root, f".//g[@class='{kind}']/polyline").attrib["points"])


@pytest.mark.parametrize("scale", [1.0, 1.5e-4, 30_000.0, 4e7])
def test_a_line_reads_back_as_its_points(scale: float) -> None:
    points = [(50.0 * k, scale * (1 + math.sin(k))) for k in range(1, 60)]
    root = parse(draw_curves("Rate", [Curve("rate", points)], unit="", from_zero=True))
    for (x, y), (x_drawn, y_drawn) in zip(points, line_of(root, "plain"), strict=True):
        assert x_drawn == pytest.approx(x, abs=3000 / 400)
        assert y_drawn == pytest.approx(y, abs=2 * scale / 100)


def test_two_losses_share_the_axes_and_a_logarithm_reads_back() -> None:
    training = [(float(k), 0.5 + 9 * math.exp(-k / 80)) for k in range(1, 501)]
    validation = [(float(k), 0.8 + 9 * math.exp(-k / 70)) for k in range(50, 501, 50)]
    curves = [Curve("training", training, "noisy"), Curve("validation", validation, "measured")]
    root = parse(draw_curves("Loss", curves, unit="nats", is_log=True, best_step=300))
    assert one(root, ".//text[@class='scale']").text == "log scale"
    for kind, points in (("noisy", trend(training).line), ("measured", validation)):
        for (x, y), (x_drawn, y_drawn) in zip(points, line_of(root, kind), strict=True):
            assert x_drawn == pytest.approx(x, abs=2)
            assert y_drawn == pytest.approx(y, rel=0.01)
    (x0, a0), *_, (x1, a1) = labels(root, "x")
    mark = float(one(root, ".//line[@class='mark']").attrib["x1"])
    assert a0 + (mark - x0) / (x1 - x0) * (a1 - a0) == pytest.approx(300, abs=1)
    assert one(root, ".//text[@class='mark']").text == "best: step 300"


def test_every_measured_point_tells_its_numbers() -> None:
    points = [(1000.0, 12.3456), (2000.0, 23.4567)]
    root = parse(draw_curves("BLEU", [Curve("validation", points, "measured")], unit=""))
    titles = [title.text for title in root.findall(".//circle/title")]
    assert titles == ["step 1,000: 12.35", "step 2,000: 23.46"]


@given(low=FLOATS, span=st.floats(1e-6, 1e12), n=st.integers(2, 10))
def test_ticks_are_round_and_enclose_the_range(low: float, span: float, n: int) -> None:
    low = math.fmod(low, 1e5) if math.isfinite(low) else 0.0
    span = max(span, abs(low) * 1e-6)
    ticks = round_ticks(low, low + span, n)
    step = ticks[1] - ticks[0]
    assert ticks[0] <= low + step * 1e-6
    assert ticks[-1] >= low + span - step * 1e-6
    assert n / 2 <= len(ticks) <= 1.5 * n + 3
    figures = f"{step:.3e}"
    assert figures[0] in "125", figures
    assert figures[1:5] == ".000", figures


def test_whole_ticks_never_count_halves() -> None:
    assert round_ticks(0, 1, whole=True) == [0, 1]
    assert round_ticks(0, 2, whole=True) == [0, 1, 2]


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=200), st.integers(1, 50))
def test_thinning_keeps_means_and_extremes(values: list[float], n_points: int) -> None:
    points = [(float(step), value) for step, value in enumerate(values)]
    bins = thin(points, n_points)
    assert len(bins) == min(n_points, len(values))
    assert min(b.low for b in bins) == min(values)
    assert max(b.high for b in bins) == max(values)
    assert all(b.low - 1e-9 <= b.y <= b.high + 1e-9 for b in bins)
    assert [b.x for b in bins] == sorted(b.x for b in bins)
    if len(values) % len(bins) == 0:
        assert sum(b.y for b in bins) / len(bins) == pytest.approx(
            sum(values) / len(values), abs=1e-6
        )


def test_neighbours_become_one_point_in_their_middle() -> None:
    points = [(1.0, 5.0), (2.0, 3.0), (10.0, 1.0), (20.0, 2.0)]
    assert thin(points, 2) == [Bin(1.5, 4.0, 3.0, 5.0), Bin(15.0, 1.5, 1.0, 2.0)]


def test_few_points_stay_as_they_are() -> None:
    assert thin([(1, 2.0), (2, 5.0)]) == [Bin(1, 2.0, 2.0, 2.0), Bin(2, 5.0, 5.0, 5.0)]


def test_smoothing_leaves_straight_lines_alone_and_takes_noise_away() -> None:
    straight = [(float(k), 3 - 0.01 * k) for k in range(500)]
    for (x, y), (x_smooth, y_smooth) in zip(straight, trend(straight).line, strict=True):
        assert x_smooth == x
        assert y_smooth == pytest.approx(y)
    noisy = [(float(k), 1.0 + (-1) ** k) for k in range(5000)]
    smoothed = trend(noisy)
    assert smoothed.n_averaged > 50
    assert all(abs(y - 1) < 0.2 for _, y in smoothed.line[20:-20])


def test_a_hundred_thousand_points_make_a_small_figure() -> None:
    points = [(float(k), 2 + math.sin(k)) for k in range(100_000)]
    points[70_000] = (70_000.0, 5.0)
    figure = draw_curves("Loss", [Curve("training", points, "noisy")], unit="nats")
    assert len(figure) < 40_000
    root = parse(figure)
    assert len(line_of(root, "noisy")) == 600
    band = read_back(root, one(root, ".//polygon").attrib["points"])
    assert max(y for _, y in band) == pytest.approx(5.0, abs=0.05), "a single spike stays visible"


def test_one_wild_value_does_not_flatten_the_rest_and_is_counted() -> None:
    points = [(float(k), 2 + math.sin(k)) for k in range(500)]
    points[250] = (250.0, 1e30)
    figure = draw_curves("Loss", [Curve("training", points, "plain")], unit="nats")
    assert max(number for _, number in labels(parse(figure), "y")) < 100
    assert "1 value lies beyond the axis." in figure


@pytest.mark.parametrize("kind", ["noisy", "measured", "plain"])
@pytest.mark.parametrize("is_log", [True, False])
@pytest.mark.parametrize(
    "values",
    [
        [],
        [3.0],
        [0.0],
        [0.0, 0.0],
        [-2.0, -2.0],
        [5.0] * 700,
        [1.0, 1.0 + 1e-16],
        [1e99, -1e99],
        [5e-324, 0.0],
        [1e-320, 9e99],
        [2e-5, 3e-5, 9e-5],
        [-7.0, 3.0],
    ],
)
def test_odd_values_are_drawn(kind: str, is_log: bool, values: list[float]) -> None:
    points = [(float(step), value) for step, value in enumerate(values)]
    for from_zero in (True, False):
        curve = Curve("c", points, kind)  # type: ignore[arg-type]
        figure = draw_curves("T", [curve], unit="", is_log=is_log, from_zero=from_zero)
        root = parse(figure)
        assert "nan" not in figure
        assert (root.find(".//svg") is None) == (not values)
        n_points = len(root.findall(".//circle")) + len(root.findall(".//polyline"))
        assert bool(n_points) == bool(values)
        ticks = [text for _, text in labels(root, "y")]
        assert len(set(ticks)) == len(ticks), "two ticks with one label"


@given(st.lists(st.tuples(st.integers(0, 10**7), FLOATS), max_size=80), st.booleans())
def test_any_values_can_be_drawn(points: list[tuple[int, float]], is_log: bool) -> None:
    lines = [{"step": step, "loss": loss} for step, loss in points]
    curve = Curve("training", numbers(lines, "loss"), "noisy")
    parse(draw_curves("Loss", [curve], unit="nats", is_log=is_log, best_step=5))


def test_what_is_no_number_is_left_out() -> None:
    values = [1, 2.5, NAN, INF, -INF, None, "3", True, 1e300, 10**400, [4]]
    assert [value for value in values if is_number(value)] == [1, 2.5]
    lines = [{"step": step, "loss": value} for step, value in enumerate(values)]
    assert numbers([*reversed(lines), {"loss": 1.0}], "loss") == [(0, 1), (1, 2.5)]


def test_the_bars_of_a_histogram_count_the_values() -> None:
    values = [0.0, 4.9, 5.0, 52.0, 99.9, 100.0, 100.0, NAN]
    root = parse(draw_histogram("chrF", values, unit="chrF"))
    counted = {
        title.text.split(": ")[0]: int(title.text.split(": ")[1])
        for title in root.findall(".//rect/title")
        if title.text
    }
    assert {name: n for name, n in counted.items() if n} == {
        "0–5": 2, "5–10": 1, "50–55": 1, "95–100": 3,
    }  # fmt: skip
    heights = {float(rect.attrib["height"]) for rect in root.findall(".//rect")}
    tallest = max(heights)
    assert heights == {0.0, tallest, round(tallest / 3, 2), round(tallest * 2 / 3, 2)}
    mean = sum(values[:-1]) / 7
    assert one(root, ".//text[@class='mark']").text == f"mean {mean:.1f}"


@pytest.mark.parametrize("values", [[], [NAN]])
def test_a_histogram_of_nothing_says_so(values: list[float]) -> None:
    assert "nothing was recorded" in draw_histogram("chrF", values, unit="chrF")


def test_texts_are_escaped() -> None:
    bad = '<b>"&'
    curve = Curve(bad, [(1, 1.0), (2, 2.0)], "noisy")
    root = parse(draw_curves(bad, [curve], unit=bad, notes=[bad]))
    assert "".join(one(root, "figcaption").itertext()) == f"{bad} {bad} {bad}"
    assert one(root, "p").text == bad
    assert one(root, "svg").attrib["aria-label"] == bad
