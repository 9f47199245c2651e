"""What the KV cache is worth: the cost of one more token, with it and without it.

    python benchmarks/cache.py --html cache.html

With the cache a new token costs about the same wherever it stands: it computes one position, and
reads the earlier ones. Without it every earlier position is computed again. The bytes that the
cache takes for a token are compared with what the configuration predicts,
2 · layers · G · d_head · 4 with G key/value heads, not H query heads.
"""

import statistics
import time
from importlib.resources import files
from pathlib import Path

import torch
from measure import Figure, arguments, report

from clearhead.models import Transformer, TransformerConfig
from clearhead.tasks.charts import Curve, draw_curves

N_SOURCE = 20
N_AROUND = 15


def main() -> None:
    """Measure at some lengths, print a table, and draw both curves."""
    parser = arguments("The cost of one more token, with and without the KV cache.")
    parser.add_argument("--html", type=Path, metavar="FILE", help="draw the two curves there")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    places = [50, 250, 500] if options.quick else [50, 125, 250, 500, 1000, 1500, 2000]
    torch.manual_seed(0)
    changes = {"block.n_heads": 8, "block.n_kv_heads": 2}
    model = Transformer(TransformerConfig.preset("small", 8000, **changes)).eval()
    source = torch.randint(3, 8000, (1, N_SOURCE))
    tokens = torch.randint(3, 8000, (1, max(places) + 1))
    with_cache, n_bytes = _with_cache(model, source, tokens, places)
    without = _without_cache(model, source, tokens, places)
    figures = []
    for place, fast, slow in zip(places, with_cache, without, strict=True):
        figures.append(Figure(f"token {place:,}, with the cache", 1000 * fast, "ms"))
        figures.append(Figure(f"token {place:,}, without", 1000 * slow, "ms"))
    last = f"{places[-1]:,} over token {places[0]}"
    growth = with_cache[-1] / with_cache[0]
    figures += [
        Figure(f"token {last}, with the cache", growth, "×", 3.0, is_limit=True),
        Figure(f"token {last}, without", without[-1] / without[0], "×", 2 * growth),
        Figure("bytes per token over the prediction", n_bytes / _predicted(model), "×"),
    ]
    report("KV cache, 3 + 3 layers, width 256, 8 heads, 2 key/value heads", figures, options.json)
    assert n_bytes == _predicted(model), f"{n_bytes} bytes per token, not {_predicted(model)}"
    if options.html is not None:
        points = [
            [(place, 1000 * t) for place, t in zip(places, times, strict=True)]
            for times in (with_cache, without)
        ]
        curves = [Curve("with the cache", points[0]), Curve("without", points[1], "measured")]
        style = files("clearhead.tasks").joinpath("report.css").read_text(encoding="utf-8")
        figure = draw_curves("One more token", curves, unit="milliseconds", from_zero=True)
        page = f"<!doctype html><meta charset=utf-8><style>{style}</style><main>{figure}</main>"
        options.html.write_text(page, encoding="utf-8")


@torch.no_grad()
def _with_cache(
    model: Transformer, source: torch.Tensor, tokens: torch.Tensor, places: list[int]
) -> tuple[list[float], float]:
    """The median seconds of the steps up to each place, and the bytes that a token takes."""
    state = model.start(source)
    seconds = []
    before = 0
    for t in range(max(places)):
        start = time.perf_counter()
        _, state = model.step(tokens[:, t : t + 1], state)
        seconds.append(time.perf_counter() - start)
        if t == 0:
            before = state.n_bytes
    n_bytes = (state.n_bytes - before) / (max(places) - 1)
    return [statistics.median(seconds[place - N_AROUND : place]) for place in places], n_bytes


@torch.no_grad()
def _without_cache(
    model: Transformer, source: torch.Tensor, tokens: torch.Tensor, places: list[int]
) -> list[float]:
    """The median seconds to compute a token with everything before it."""
    found = []
    for place in places:
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            state = model.start(source)
            model.step(tokens[:, :place], state)
            seconds.append(time.perf_counter() - start)
        found.append(statistics.median(seconds))
    return found


def _predicted(model: Transformer) -> int:
    block = model.config.block
    n_kv_heads = block.n_kv_heads or block.n_heads
    return 2 * model.config.n_decoder_layers * n_kv_heads * (block.d_model // block.n_heads) * 4


if __name__ == "__main__":
    main()
