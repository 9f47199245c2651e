"""Points cost nothing: unobserved, a model runs the same operations as a copy without taps."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.properties.bare import PACKAGE, write_bare_copy

# Runs in both copies: every operation of a forward with gradients (short sentences: plain
# products), of a forward without (long sentences: the fused kernel), and of two steps.
PROGRAM = """
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from clearhead.models import Transformer, TransformerConfig

class Log(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        print(function)
        return function(*args, **(kwargs or {}))

torch.manual_seed(0)
for norm in ("post", "pre"):
    model = Transformer(TransformerConfig.preset("tiny", 50, **{"block.norm": norm}))
    short, long = torch.randint(1, 50, (16, 12)), torch.randint(1, 50, (2, 80))
    with Log():
        model.train()(short, short).sum().backward()
        with torch.no_grad():
            model.eval()(long, long)
            state = model.start(short)
            for _ in range(2):
                _, state = model.step(short[:, :1], state)
"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a copy of the package from which every tap was taken out."""
    folder = tmp_path_factory.mktemp("bare")
    assert write_bare_copy(folder) > 30
    return folder


def _operations(folder: Path, program: str = PROGRAM) -> list[str]:
    result = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout.splitlines()


def test_unobserved_the_operations_are_those_of_a_copy_without_taps(bare: Path) -> None:
    with_taps, without = _operations(PACKAGE.parent), _operations(bare)
    assert with_taps == without
    assert len(without) > 1000
    assert any("flash_attention" in name for name in without)
    assert any("bmm" in name for name in without)


def test_the_copy_has_no_points(bare: Path) -> None:
    program = (
        "from clearhead.models import Transformer, TransformerConfig\n"
        "print(len(Transformer(TransformerConfig.preset('tiny', 9)).points()))"
    )
    assert _operations(bare, program) == ["0"]


def test_points_have_the_same_words_everywhere() -> None:
    from clearhead.models import Transformer, TransformerConfig

    points = Transformer(TransformerConfig.preset("tiny", 9)).points()
    for place in (
        "source_embedding.vectors",
        "target_positions.vectors",
        "encoder.blocks.0.self_attention.weights",
        "decoder.blocks.3.cross_attention.scores",
        "decoder.blocks.1.feed_forward.hidden",
        "decoder.cache.lengths",
        "decoder.cache.bytes",
        "encoder.blocks.2.self_attention_residual.norm.output",
        "output.logits",
    ):
        assert place in points
    assert points["decoder.blocks.3.cross_attention.weights"] == "B H T S"
    words = {name.split(".", 3)[3] for name in points if name.startswith("encoder.blocks")}
    decoder = {name.split(".", 3)[3] for name in points if name.startswith("decoder.blocks")}
    assert words < decoder
