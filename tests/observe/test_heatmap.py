"""The picture shows the numbers that it was given, and text that cannot become markup."""

import re
from xml.etree import ElementTree

import pytest

from clearhead.errors import InputError
from clearhead.observe import heatmap_svg

SVG = "{http://www.w3.org/2000/svg}"


def test_every_weight_is_written_in_a_cell_as_dark_as_it_is_large() -> None:
    weights = [[0.0, 0.25, 0.75], [1.0, 0.0, 0.0]]
    root = ElementTree.fromstring(
        heatmap_svg(weights, ["क", "ख"], ["a", "b", "c"], title="t", note="n")
    )
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert [text for text in texts if re.fullmatch(r"\d\.\d\d", text or "")] == [
        "0.00", "0.25", "0.75", "1.00", "0.00", "0.00",
    ]  # fmt: skip
    assert {"t", "n", "क", "ख", "a", "b", "c", "0", "1"} <= set(texts)
    cells = [box.get("fill", "") for box in root.iter(f"{SVG}rect") if box.get("rx")]
    light = [int(fill[1:3], 16) for fill in cells]
    assert light[0] > light[1] > light[2] > light[3]


def test_hostile_words_stay_words() -> None:
    word = '</text><script>alert("1")</script>'
    root = ElementTree.fromstring(heatmap_svg([[1.0]], [word], ["&"], title=word))
    assert not list(root.iter(f"{SVG}script"))
    assert [t.text for t in root.iter(f"{SVG}text")].count(word) == 2


def test_weights_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="2 rows of 1"):
        heatmap_svg([[1.0]], ["a", "b"], ["c"], title="t")
