"""A corpus larger than memory: ten million pairs, read by a process that may have 2 GB.

    python benchmarks/corpus.py [--quick] [--json FILE]

Random tokens are written as shards to a temporary folder: 2.2 GB, or 500,000 pairs with `--quick`.
A second process then puts a whole epoch in order and makes its first batches. All its addresses,
libraries and mapped files included, are limited to 2 GB (RLIMIT_AS), less than the corpus has. The
peak of its resident memory is taken from /proc, because getrusage would give the parent's if that
is higher.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np
from measure import Figure, arguments, report

from clearhead.data.batches import Batches
from clearhead.data.shards import Shards, ShardWriter

LIMIT = 2 * 2**30
N_VOCABULARY = 100_000
N_TOKENS = 4096
N_BATCHES = 500
AT_ONCE = 100_000


def write(folder: Path, n_pairs: int) -> None:
    """Write pairs of 4 to 50 tokens whose sides are about equally long."""
    random = np.random.default_rng(0)
    with ShardWriter(folder, N_VOCABULARY) as writer:
        for _ in range(0, n_pairs, AT_ONCE):
            source = random.integers(4, 51, AT_ONCE)
            target = np.clip(source + random.integers(-4, 5, AT_ONCE), 1, None)
            lengths = np.stack([source, target], axis=1)
            tokens = random.integers(4, N_VOCABULARY, lengths.sum(), dtype=np.uint32)
            writer.add_many(tokens, lengths)


def read(folder: Path) -> dict[str, float]:
    """Open the corpus and make batches, in a process that has been limited."""
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    start = time.perf_counter()
    batches = Batches(Shards(folder), N_TOKENS)
    epoch = batches.epoch(0)
    next(epoch)
    first = time.perf_counter() - start
    start = time.perf_counter()
    made = [batch.padding_share for batch in islice(epoch, N_BATCHES)]
    return {
        "first": first,
        "speed": len(made) / (time.perf_counter() - start),
        "padding": 100 * float(np.mean(made)),
        "n_batches": batches.n_batches(0),
        "peak": peak_memory(),
    }


def peak_memory() -> float:
    """Return the most resident memory that this process has had, in GB."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 2**20
    raise SystemExit("this benchmark needs Linux's /proc/self/status")


def main() -> None:
    """Write, read in a limited process, and report."""
    parser = arguments("A corpus larger than memory, in a process of 2 GB.")
    parser.add_argument("--read", type=Path, metavar="FOLDER", help="the limited process itself")
    options = parser.parse_args()
    if options.read:
        print(json.dumps(read(options.read)))
        return
    n_pairs = 500_000 if options.quick else 10_000_000
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "shards"
        start = time.perf_counter()
        write(folder, n_pairs)
        written = time.perf_counter() - start
        size = sum(path.stat().st_size for path in folder.iterdir()) / 2**30
        command = [sys.executable, __file__, "--read", str(folder)]
        found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    figures = [
        Figure("corpus on disk", size, "GB"),
        Figure("time to write it", written, "s"),
        Figure("time to the first batch, epoch put in order", found["first"], "s"),
        Figure("pairs put in order", n_pairs / found["first"] / 1e6, "million/s", bar=0.5),
        Figure("batches of 4,096 tokens a side", found["speed"], "/s", bar=50),
        Figure("batches in the epoch", found["n_batches"], ""),
        Figure("padding", found["padding"], "%"),
        Figure("peak memory", found["peak"], "GB"),
        Figure("left of 2 GB", LIMIT / 2**30 - found["peak"], "GB", bar=0),
    ]
    report(f"{n_pairs:,} pairs in a process of 2 GB", figures, options.json)


if __name__ == "__main__":
    main()
