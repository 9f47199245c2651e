"""Two files, line by line: they must be equally long, and if not, where they come apart."""

import math
from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from clearhead.data.columns import LANGUAGE_CODES, choose_columns
from clearhead.data.encoding import Encoding, detect_encoding, open_bytes, read_head, read_lines
from clearhead.data.pairs import Pair, PairFile, Tally
from clearhead.errors import InputError

__all__ = ["find_divergence", "open_aligned"]

CHUNK = 1 << 20
MIN_LINES = 20
MIN_STEP = 1.5  # lines that do not belong together fit so much worse, or more
MIN_SURPRISE = 30.0  # a square of standard deviations; chance alone stays near 10
MAX_FIT = 0.8  # an alignment must fit so much better than a wrong one to be believed


def open_aligned(paths: Sequence[Path], columns: tuple[str, str] | None) -> PairFile:
    """Open two text files whose lines belong together, such as `train.en` and `train.de`."""
    encodings = [detect_encoding(path, read_head(path)) for path in paths]
    _check_equally_long(paths, encodings)
    names = _language_names(paths)
    choice = choose_columns(names, columns, [["", ""]], paths[0])
    order = [choice.source, choice.target]
    first, second = (paths[i] for i in order)
    codecs = [encodings[i].codec for i in order]

    def read(_: Tally) -> Iterator[Pair]:
        both = zip(read_lines(first, codecs[0]), read_lines(second, codecs[1]), strict=True)
        for line, (source, target) in enumerate(both, 1):
            yield Pair(line, source, target)

    assumed = ["format: two text files, line by line"]
    sentences = [encodings[i].sentence for i in order]
    if sentences[0] == sentences[1]:
        assumed.append(sentences[0])
    else:
        assumed += [f"{paths[i].name}: {encodings[i].sentence}" for i in order]
    assumed.append(f"source: {first.name} ({choice.names[0]}), target: {second.name}")
    assumed[-1] += f" ({choice.names[1]})"
    return PairFile((first, second), choice.names, tuple(assumed), read)


def _language_names(paths: Sequence[Path]) -> list[str] | None:
    """Tell the languages from the names: `train.en`, `en.txt`, `train_en.txt.gz`."""
    names = []
    for path in paths:
        parts = path.name.lower().removesuffix(".gz").replace("_", ".").replace("-", ".").split(".")
        codes = [part for part in parts if part in LANGUAGE_CODES]
        names.append(codes[-1] if codes else "")
    if all(names) and names[0] != names[1]:
        return names
    return None


def _check_equally_long(paths: Sequence[Path], encodings: Sequence[Encoding]) -> None:
    counts = [_n_lines(path, found.codec) for path, found in zip(paths, encodings, strict=True)]
    if counts[0] == counts[1]:
        return
    lengths = [
        array("I", (len(line) for line in read_lines(path, found.codec)))
        for path, found in zip(paths, encodings, strict=True)
    ]
    line = find_divergence(lengths[0], lengths[1])
    if line:
        where = (
            f"they come apart near line {line:,}, compare {paths[0].name} and {paths[1].name} there"
        )
    else:
        where = "where they come apart is not clear, so check that they are sides of one corpus"
    raise InputError(
        f"the files have {counts[0]:,} and {counts[1]:,} lines, so their lines do not belong "
        f"together: {where}"
    )


def _n_lines(path: Path, codec: str) -> int:
    if codec.startswith("utf-16"):  # a byte that looks like \n may be half of another character
        return sum(1 for _ in read_lines(path, codec))
    n, last = 0, b"\n"
    with open_bytes(path) as file:
        while chunk := file.read(CHUNK):
            n, last = n + chunk.count(b"\n"), chunk[-1:]
    return n + (last != b"\n")


def find_divergence(one: Sequence[int], other: Sequence[int]) -> int | None:
    """Say on which line two files come apart, from the lengths of their lines; None if unclear.

    At first one file is taken to lack one run of lines. Before it, line i belongs to line i, and
    after it line i + gap to line i; the place where the lengths then agree best is returned, from
    1. If they agree on one side of it only, more than one run is missing, and the place is returned
    from which line i no longer fits line i, which is less exact.
    """
    long, short = (one, other) if len(one) >= len(other) else (other, one)
    gap, n = len(long) - len(short), len(short)
    if n < MIN_LINES or gap == 0:
        return None
    scale = math.log((sum(long) + 1) / len(long)) - math.log((sum(short) + 1) / n)

    def misfit(a: int, b: int) -> float:
        return abs(math.log((a + 1) / (b + 1)) - scale)

    plain = array("d", accumulate(map(misfit, long, short), initial=0.0))
    shifted = array("d", accumulate(map(misfit, long[gap:], short), initial=0.0))
    # The cost of a cut at k is plain[k] + shifted[n] - shifted[k].
    cut = min(range(n + 1), key=lambda k: plain[k] - shifted[k])
    before, after = plain[cut], shifted[n] - shifted[cut]
    wrong = shifted[cut] + plain[n] - plain[cut]
    earlier = _first_misfit(plain[: cut + 1])
    means = before / max(1, cut), after / max(1, n - cut)
    is_even = min(cut, n - cut) < MIN_LINES or max(means) < MIN_STEP * min(means)
    if earlier is None and is_even and before + after < MAX_FIT * wrong:
        return cut + 1
    return earlier or _first_misfit(plain)


def _first_misfit(sums: Sequence[float]) -> int | None:
    """Where a series steps up, given its running sums; None if chance could have made the step."""
    n = len(sums) - 1
    if n < MIN_LINES:
        return None
    mean = sums[n] / n
    variance = sum((sums[i + 1] - sums[i] - mean) ** 2 for i in range(n)) / n

    def surprise(k: int) -> float:
        return (k * mean - sums[k]) * abs(k * mean - sums[k]) / (k * (n - k) / n)

    cut = max(range(1, n), key=surprise)
    is_step = (sums[n] - sums[cut]) / (n - cut) > MIN_STEP * sums[cut] / cut
    return cut + 1 if is_step and surprise(cut) > MIN_SURPRISE * variance else None
