"""How fast decoding is: ours beside CTranslate2 and Hugging Face, with the same weights.

    python benchmarks/inference.py
    python benchmarks/inference.py --model models/en-de/model --text test.en

Every program has its own process and all threads; CTranslate2 is given each of its compute types
and both ways to use the threads, and its best counts. The sizes have random weights: 20 tokens are
read and exactly 25 written. With `--model` and `--text`, the lines of a text go through a trained
model with five beams, and what the programs write is compared. `--quick` measures `tiny` only.
"""

import statistics
from pathlib import Path

from measure import Figure, arguments, report

from clearhead.cli.bench import FACE, OURS, THEIRS, Measured, Workload, measure, workloads
from clearhead.cli.bench_workers import TextJob, Weights
from clearhead.errors import InputError

N_TOKENS = 16_000
BARS = {  # over CTranslate2 and over Hugging Face
    ("base", 1): (1.3, 5.0),
    ("base", 32): (1.2, 4.0),
}
OTHER_BARS = (1.3, 4.0)


def main() -> None:
    """Measure, print, and write."""
    parser = arguments("Decoding beside CTranslate2 and Hugging Face.")
    parser.add_argument("--sizes", nargs="*", default=None, help="tiny small base, or some of them")
    parser.add_argument("--seconds", type=float, default=None, help="for each workload")
    parser.add_argument("--model", type=Path, metavar="FOLDER", help="a trained model")
    parser.add_argument("--text", type=Path, metavar="FILE", help="lines to translate with it")
    parser.add_argument("--times", type=int, default=10, help="how often the text is repeated (10)")
    options = parser.parse_args()
    if (options.model is None) != (options.text is None):
        raise InputError("--model and --text belong together: give both, or none")
    sizes = options.sizes
    if sizes is None:
        sizes = ["tiny"] if options.quick else ["tiny", "small", "base"]
    seconds = options.seconds or (4 if options.quick else 20)
    figures: list[Figure] = []
    for size in sizes:
        found = measure(
            Weights(size=size, n_tokens=N_TOKENS),
            workloads(N_TOKENS),
            seconds=seconds,
            n_threads=options.threads,
            precisions=("auto",),
            tell=lambda line, size=size: print(f"{size}: {line}", flush=True),  # type: ignore[misc]
        )
        for each in found:
            n_sentences = 1 if each.name.startswith("1 ") else 32
            figures += _figures(size, each, BARS.get((size, n_sentences), OTHER_BARS))
        if size == "base":
            figures += _memory(found[-1])
    if options.model is not None:
        figures += _bulk(options.model, options.text, options.times, seconds, options.threads)
    report("decoding, times as fast as the others", figures, options.json)


def _figures(size: str, measured: Measured, bars: tuple[float, float]) -> list[Figure]:
    figures = []
    for maker, bar in zip((THEIRS, FACE), bars, strict=True):
        if ratio := measured.speed_up(maker):
            name = f"{size}, {measured.name}, over {measured.best(maker)}"
            figures.append(Figure(name, ratio[0], "×", bar, ratio[1]))
    ours = measured.best(OURS)
    assert ours is not None
    milliseconds = 1000 * statistics.median(measured.seconds[ours])
    return [*figures, Figure(f"{size}, {measured.name}, {ours}", milliseconds, "ms")]


def _memory(measured: Measured) -> list[Figure]:
    """The largest memory of the processes so far."""
    mega = {name: outcome.n_bytes / 1e6 for name, outcome in measured.last.items()}
    figures = [Figure(f"base, peak memory, {name}", value, "MB") for name, value in mega.items()]
    ours, face = measured.best(OURS), measured.best(FACE)
    if ours and face:
        share = mega[ours] / mega[face]
        figures.append(Figure(f"base, peak memory over {face}", share, "×", 0.5, is_limit=True))
    return figures


def _bulk(folder: Path, text: Path, n_times: int, seconds: float, n_threads: int) -> list[Figure]:
    """All lines of a text through a trained model with five beams, from text to text."""
    lines = [line for line in text.read_text("utf-8").splitlines() if line.strip()] * n_times
    workload = Workload(f"{len(lines):,} sentences, beam 5", TextJob(lines, 5, folder))
    (found,) = measure(
        Weights(folder=folder),
        [workload],
        seconds=seconds,
        n_threads=n_threads,
        precisions=("float32", "int8"),
        tell=lambda line: print(f"{folder}: {line}", flush=True),
    )
    figures = _figures(str(folder), found, (1.2, 4.0))
    ours = found.last[f"{OURS} float32"].answers
    for name, outcome in found.last.items():
        pairs = zip(ours, outcome.answers, strict=True)
        same = 100 * sum(a == b for a, b in pairs) / len(ours)
        figures.append(Figure(f"the same sentences as {OURS} float32: {name}", same, "%"))
    return figures


if __name__ == "__main__":
    main()
