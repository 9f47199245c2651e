"""Shapes: one key of letters for the whole project, and `docs/notation.md` tells the same.

A shape string may hold: a letter of `clearhead.shapes.AXES`, a product of letters (`HK`), a number,
jaxtyping's modifiers (`#B`, `*axes`, `...`, `_`), and the few words in `WORDS`, which name what no
letter counts.
"""

import ast
import re
from pathlib import Path

import pytest

from clearhead.models import Transformer, TransformerConfig
from clearhead.shapes import AXES
from tests.house.tree import PACKAGE, ROOT, plant, read_modules, refuse

WORDS = {
    "axes": "any axes at all: the function works on each number by itself",
    "channels": "the numbers of a pixel: of a picture before it is cut into patches",
    "height": "the rows of pixels of a picture",
    "rows": "how many rows are chosen, which may be more or fewer than the batch has",
    "width": "the columns of pixels of a picture",
    "words": "64-bit random words, which are no axis of a model",
}
DTYPES = {"Bool", "Float", "Int", "Integer", "Inexact", "Num", "Real", "Shaped", "UInt"}

NOTATION = ROOT / "docs" / "notation.md"


def shape_strings(package: Path) -> list[tuple[str, str, str]]:
    """(place, kind, text) of every shape type (`Float[Tensor, "B T D"]`) and `Tap("B T D")`."""
    found = []
    for module in read_modules(package).values():
        for node in ast.walk(module.tree):
            match node:
                case ast.Subscript(
                    value=ast.Name(id=dtype),
                    slice=ast.Tuple(elts=[_, ast.Constant(value=str(text))]),
                ) if dtype in DTYPES:
                    found.append((f"{module.place}:{node.lineno}", "type", text))
                case ast.Call(func=ast.Name(id="Tap"), args=[ast.Constant(value=str(text))]):
                    found.append((f"{module.place}:{node.lineno}", "tap", text))
    return found


def unknown_axes(text: str) -> list[str]:
    """The axes of a shape string that the key does not know.

    >>> unknown_axes("#B 1 *axes HK T+1 ... _")
    []
    >>> unknown_axes("B Q HQ heads *more N-1")
    ['Q', 'HQ', 'heads', 'more', 'N']
    """
    found = []
    for axis in text.split():
        names = re.findall(r"[A-Za-z]\w*", axis.lstrip("#*?_"))
        found += [name for name in names if not _is_known(name)]
    return found


def _is_known(name: str) -> bool:
    return name in WORDS or (name.isupper() and all(letter in AXES for letter in name))


def test_shape_types_use_the_key() -> None:
    refuse(
        [
            f"{place} {text!r}: no {', '.join(unknown_axes(text))} in clearhead.shapes.AXES"
            for place, _, text in shape_strings(PACKAGE)
            if unknown_axes(text)
        ]
    )


def test_taps_use_single_letters() -> None:
    taps = [(place, text) for place, kind, text in shape_strings(PACKAGE) if kind == "tap"]
    assert len(taps) > 10, "the search found hardly any taps: is it broken?"
    refuse([f"{place} {text!r}" for place, text in taps if not set(text.split()) <= set(AXES)])


def test_every_allowed_word_is_in_use() -> None:
    text = " ".join(text for _, _, text in shape_strings(PACKAGE))
    assert set(WORDS) <= set(re.findall(r"[a-z]+", text))


def test_shape_strings_are_found_wherever_they_stand(tmp_path: Path) -> None:
    text = (
        'x: Float[Tensor, "B T"] | None\n'
        'def f(a: Int[Tensor, " q"]) -> tuple[Bool[Tensor, "S"], int]:\n'
        '    return Tap("B Z"), dict[str, "no shape"]\n'
    )
    found = shape_strings(plant(tmp_path, {"layers.py": text}))
    assert sorted(found) == [
        ("layers.py:1", "type", "B T"),
        ("layers.py:2", "type", " q"),
        ("layers.py:2", "type", "S"),
        ("layers.py:3", "tap", "B Z"),
    ]


def table(heading: str) -> list[list[str]]:
    """The rows of the table under a heading of `docs/notation.md`, without its head."""
    _, _, section = NOTATION.read_text(encoding="utf-8").partition(f"\n## {heading}\n")
    section = section.partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    assert len(lines) > 2, f"{NOTATION.name} has no table under {heading!r}"
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def code(cell: str) -> list[str]:
    """What stands between backticks.

    >>> code("`w_1`, and `w_2` too")
    ['w_1', 'w_2']
    """
    return re.findall(r"`([^`]+)`", cell)


@pytest.fixture(scope="module")
def model() -> Transformer:
    """Build the smallest model in which every name of the notation can be looked up."""
    block = {"block.d_model": 8, "block.d_ff": 16, "block.n_heads": 2}
    return Transformer(TransformerConfig(n_source_tokens=9, n_target_tokens=9).override(block))


def test_the_notation_lists_every_letter() -> None:
    letters = {letter: meaning for letter, meaning, *_ in table("Letters")}
    assert letters == {f"`{letter}`": meaning for letter, meaning in AXES.items()}


def test_the_notation_names_config_fields_that_exist(model: Transformer) -> None:
    known = model.config.to_dict()
    known |= {f"block.{name}": value for name, value in known["block"].items()}
    fields = [name for _, _, cell, *_ in table("Sizes") for name in code(cell)]
    assert len(fields) > 5
    refuse([name for name in fields if name not in known])


def test_the_notation_uses_known_letters_for_sizes_and_tensors() -> None:
    sizes = [letter for row in table("Sizes") for letter in code(row[-1])]
    shapes = [shape for row in table("Tensors") for shape in code(row[-1])]
    refuse([text for text in sizes + shapes if unknown_axes(text)])


def test_the_notation_names_weights_that_exist(model: Transformer) -> None:
    weights = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    sizes = {"V": 9, "D": 8, "F": 16, "HK": 8, "HK+2GK": 24}
    for row in table("Weights"):
        (name,), (shape,) = code(row[2]), code(row[3])
        assert weights[name] == tuple(sizes[axis] for axis in shape.split()), name


def test_the_notation_names_points_that_exist(model: Transformer) -> None:
    points = model.points()
    for row in table("Points"):
        (name,), (axes,) = code(row[0]), code(row[1])
        assert points[name] == axes
