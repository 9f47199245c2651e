"""What it costs that a model can be watched, and how long a large map takes to be seen.

    python benchmarks/watching.py

A model that nobody watches is timed beside a copy of the package from which every tap was taken
out, and that beside itself, which shows the noise: two processes each, which take turns. A map of
512 tokens is drawn, and shown by Chromium if it is installed; the time of an empty page is taken
off.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from measure import Figure, Times, arguments, report

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from clearhead.models import Transformer, TransformerConfig  # noqa: E402
from clearhead.observe.drawing import Cells, Picture, heatmap_svg  # noqa: E402
from clearhead.observe.drawing.picture import draw_png, find_browser  # noqa: E402
from clearhead.observe.watch import watch  # noqa: E402
from tests.properties.bare import PACKAGE, write_bare_copy  # noqa: E402

N_TOKENS = 512
# Decodes 24 tokens greedily for each line that comes in, and answers how long it computed: the time
# on the clock is that of other programs too.
WORKER = """
import sys, time, torch
from clearhead.decoding import DecodingConfig, Request, generate
from clearhead.models import Transformer, TransformerConfig
torch.manual_seed(0)
torch.set_num_threads(1)
model = Transformer(TransformerConfig.preset("tiny", 8000)).eval()
config = DecodingConfig(n_beams=1, min_length=24)
for line in sys.stdin:
    start = time.process_time()
    for _ in range(3):
        request = Request([7, 8, 9, 10, 11, 12, 2], 24, config)
        generate(model, [request], bos=1, eos=2, pad=0)
    print((time.process_time() - start) / 3, flush=True)
"""


class _Worker:
    """A process that imports the package from a folder, and decodes when it is told to."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER],
            env={"PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1", "PATH": ""},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def turn(self) -> float:
        """Seconds of one answer."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write("go\n")
        stdin.flush()
        return float(stdout.readline())


def main() -> None:
    """Measure both, and report."""
    options = arguments("What watching costs, and how long a large map takes.").parse_args()
    torch.set_num_threads(options.threads)
    seconds = 20 if options.quick else 120
    figures = [*_decoding(seconds), *_map(3 if options.quick else 9)]
    report("Watching", figures, options.json)


def _decoding(seconds: float) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        write_bare_copy(Path(folder))
        workers = {
            "with taps": _Worker(PACKAGE.parent),
            "without": _Worker(Path(folder)),
            "without, again": _Worker(Path(folder)),
        }
        times = Times({name: [] for name in workers})
        order = list(workers.items())
        for _, worker in order:
            worker.turn()
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            for name, worker in order:
                times.seconds[name].append(worker.turn())
            order.reverse()
        for worker in workers.values():
            worker.process.terminate()
            worker.process.wait()
    noise, noise_spread = times.speed_up("without, again", over="without")
    speed, spread = times.speed_up("with taps", over="without")
    least = float(noise_spread.split("–")[0])  # what a copy may be behind itself
    return [
        Figure("greedy decoding with taps, over a copy without", speed, "×", least, spread),
        Figure("that copy over itself: the noise", noise, "×", None, noise_spread),
        Figure("24 tokens with taps", 1000 * times.median("with taps"), "ms"),
    ]


def _map(n_times: int) -> list[Figure]:
    torch.manual_seed(0)
    model = Transformer(TransformerConfig.preset("tiny", 8000)).eval()
    tokens = torch.randint(5, 8000, (1, N_TOKENS))
    name = "encoder.blocks.1.self_attention.weights"
    names = [f"word{n}" for n in range(N_TOKENS)]

    def draw() -> Picture:
        with watch(model, name) as seen, torch.no_grad():
            model.encode(tokens)
        weights = seen.steps(name)[0].at(head=0).tensor.tolist()
        svg = heatmap_svg(weights, names, names, title="A map")
        return Picture("A map", svg, "", {}, Cells(names, names, weights))

    drawn = _median(n_times, lambda: draw().html())
    figures = [Figure(f"a map of {N_TOKENS} tokens, watched and drawn", drawn, "s")]
    if find_browser() is not None:
        page = draw().html()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "screen.png"
            shown = _median(n_times, lambda: draw_png(page, path, 1400, 900))
            shown -= _median(n_times, lambda: draw_png("<!doctype html>", path, 1400, 900))
        figures.append(Figure("the same, and on a screen", drawn + shown, "s", 2.0, is_limit=True))
    return figures


def _median(n_times: int, run: Callable[[], object]) -> float:
    times = []
    for _ in range(n_times):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return sorted(times)[n_times // 2]


if __name__ == "__main__":
    main()
