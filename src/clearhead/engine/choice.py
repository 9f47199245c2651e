"""Which numbers and how many threads: tried for a second on this machine, and remembered.

Whether int8 pays, and whether a second thread does, depends on the size of the model and on the
processor. So some steps are timed, for one sentence and for many, and the result is kept in the
user's cache folder: the next start needs no trial. Many sentences always have all threads, because
each takes its own; whether they also share the work for one is what is tried.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, get_args

import numpy as np

from clearhead.decoding.request import DecodingConfig, Request
from clearhead.engine.library import find_library
from clearhead.engine.memory import Choice, Wanted, n_cpus, recall, remember
from clearhead.engine.native_model import NativeModel, Precision
from clearhead.engine.shape import n_written, why_not
from clearhead.engine.source import Source
from clearhead.errors import InputError, nearest

if TYPE_CHECKING:
    from clearhead.models import GPT, Llama, Mixtral, Transformer

__all__ = ["choose"]

GAIN: Final = 1.15
"""How much faster numbers that are not exact must be."""
SECONDS: Final = 1.0
MANY: Final = 32
N_SOURCE, N_STEPS, N_BEAMS = 20, 6, 5


def choose(
    model: Transformer | Llama | Mixtral | GPT | Source, wanted: Wanted = "auto"
) -> tuple[NativeModel | None, Choice]:
    """Pack the weights in the wanted precision, or in the one that is fastest here."""
    if wanted not in get_args(Wanted):
        raise InputError(f"no precision {wanted!r}: {nearest(wanted, get_args(Wanted))}")
    library = find_library()
    problem = (
        "it was installed without a C++ compiler" if library is None else why_not(model.config)
    )
    if library is None or problem:
        if wanted in ("bfloat16", "int8"):
            raise InputError(
                f"precision {wanted!r} needs the native engine, and {problem}: take float32"
            )
        reason = f"the native engine does not serve, {problem}"
        import torch

        return None, Choice("float32", torch.get_num_threads(), "torch", reason)
    kernels = library.ch_kernels(b"").decode()

    def pack(precision: Precision, n_threads: int) -> NativeModel:
        return NativeModel(
            model, library, precision=precision, n_threads=n_threads, n_for_many=n_cpus()
        )

    config = model.config.to_dict()
    choice = recall(config, kernels, wanted)
    if choice is None:
        choice = _try(pack, wanted, kernels, n_written(model.config))
        remember(choice, config, kernels, wanted)
    precision = next(p for p in get_args(Precision) if p == choice.precision)
    return pack(precision, choice.n_threads), choice


def _try(
    pack: Callable[[Precision, int], NativeModel], wanted: Wanted, kernels: str, n_tokens: int
) -> Choice:
    """Time one sentence, with one thread and with all, and many; the fastest over both wins."""
    some: list[Precision] = ["float32", "int8"] if wanted == "auto" else [wanted]
    counts = sorted({1, n_cpus()})
    config = DecodingConfig(n_beams=N_BEAMS, min_length=N_STEPS)
    rows = np.random.default_rng(0).integers(4, n_tokens, (MANY, N_SOURCE)).tolist()
    requests = [Request(row, N_STEPS, config) for row in rows]
    ones: dict[Precision, dict[int, float]] = {precision: {} for precision in some}
    manys: dict[Precision, float] = dict.fromkeys(some, math.inf)
    for precision in some:
        for n_threads in counts:
            native = pack(precision, n_threads)
            limit = SECONDS / len(some) / len(counts) / 2
            ones[precision][n_threads] = _time(native, requests[:1], limit)
            manys[precision] = min(manys[precision], _time(native, requests, limit))
            del native  # before the next one is packed: two would need twice the memory
    one = {precision: min(times.values()) for precision, times in ones.items()}
    exact, fast = some[0], some[-1]
    gains = one[exact] / one[fast], manys[exact] / manys[fast]
    chosen = fast if math.prod(gains) > GAIN**2 else exact
    told = []
    if len(some) > 1:
        one_gain, many_gain = gains
        told.append(
            f"int8 was {one_gain:.2f} times as fast for one sentence, {many_gain:.2f} for {MANY}"
        )
    times = ones[chosen]
    n_threads = min(times, key=times.__getitem__)
    if len(counts) > 1:
        ratio = times[1] / times[counts[-1]]
        told.append(f"for one sentence, {counts[-1]} threads were {ratio:.2f} times as fast as one")
        told.append("many sentences always have all threads")
    return Choice(chosen, n_threads, kernels, "; ".join(told) or "as asked")


def _time(native: NativeModel, requests: list[Request], limit: float) -> float:
    """The best time of a search of some steps; at least two tries."""
    best, begin = math.inf, time.perf_counter()
    for n in range(100):
        start = time.perf_counter()
        native.search(requests, bos=1, eos=2)
        best = min(best, time.perf_counter() - start)
        if n and time.perf_counter() - begin > limit:
            break
    return best
