"""How fast the data doctor is: a million made pairs, streamed from a file and examined.

    python benchmarks/doctor.py [--quick] [--json FILE]

The bar is one million pairs in 60 seconds. The memory is the most that this process ever held,
the interpreter included; the pairs themselves are written by another process.
"""

import multiprocessing
import random
import resource
import tempfile
import time
from pathlib import Path

from measure import Figure, arguments, report

from clearhead.data import examine, open_pairs

BAR = 1_000_000 / 60
MEGABYTE = 1024  # ru_maxrss is in kilobytes on Linux
LETTERS = ["etaoinshrdlucmfwypvbgk", "कखगघचजटडतदनपबमयरलवसहािीुूेो"]


def write_pairs(path: Path, n: int) -> None:
    """Write sentences of 3 to 20 made words, with some of every fault."""
    chance = random.Random(0)
    words = [
        ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(20_000)]
        for letters in LETTERS
    ]
    with path.open("w", encoding="utf-8") as file:
        earlier = "first\tपहला\n"
        for i in range(n):
            n_words = chance.randint(3, 20)
            source, target = (" ".join(chance.choices(side, k=n_words)) for side in words)
            line = f"{source}\t{target}\n"
            if i % 50 == 0:
                faults = [
                    earlier,
                    f"{source}\t\n",
                    f"{source}\t{source}\n",
                    f"{source}\x07\t{target}\n",
                ]
                line = chance.choice(faults)
            elif i % 97 == 0:
                earlier = line
            file.write(line)


def main() -> None:
    """Measure, and print the figures."""
    options = arguments("How fast the data doctor is.").parse_args()
    n_pairs = 100_000 if options.quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.tsv"
        writer = multiprocessing.get_context("spawn").Process(
            target=write_pairs, args=(path, n_pairs)
        )
        writer.start()
        writer.join()
        megabytes = path.stat().st_size / 1e6
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.perf_counter()
        found = examine(open_pairs([path]))
        seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    figures = [
        Figure("pairs examined", found.n_read, "pairs"),
        Figure("size of the file", megabytes, "MB"),
        Figure("time", seconds, "s"),
        Figure("speed", n_pairs / seconds, "pairs/s", bar=BAR),
        Figure("peak memory", peak / MEGABYTE, "MB"),
        Figure("of it for the examination", (peak - before) / MEGABYTE, "MB"),
    ]
    report(f"the data doctor, {found.n_kept:,} pairs kept", figures, options.json)


if __name__ == "__main__":
    main()
