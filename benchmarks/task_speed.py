"""How fast texts go on: GPT-2's smallest shape and nanoGPT's, beside CTranslate2 in int8.

Both have the same weights, read a prompt of 128 tokens and write 128 new ones, the most probable
each time. They take turns in one process, each with all threads. Where `llama_cpp` can be imported,
llama.cpp continues a single text, too, in its 8-bit form (q8_0).
"""

import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import ctranslate2
import torch
from measure import Figure, take_turns

from clearhead.config import GPTConfig
from clearhead.convert import save_as_gguf, save_for_ctranslate2
from clearhead.decoding import DecodingConfig, Request
from clearhead.engine.library import find_library
from clearhead.engine.native_model import NativeModel
from clearhead.models import GPT

__all__ = ["FIGURES"]

N_READ, N_WRITTEN = 128, 128
SHAPES = {
    "gpt2": GPTConfig.preset("small", 50257),
    "nano": GPTConfig.preset("nano", 65, n_positions=256),
}
SPECIALS = ["<pad>", "<bos>", "<eos>", "<unk>"]


def _speed(data: Path, quick: bool) -> list[Figure]:
    """All four cells; the data is not needed."""
    figures = []
    for name, config in SHAPES.items():
        torch.manual_seed(0)
        model = GPT(config).eval()
        with tempfile.TemporaryDirectory() as folder:
            names = [*SPECIALS, *(f"w{n}" for n in range(len(SPECIALS), config.n_tokens))]
            save_for_ctranslate2(
                model, names, Path(folder) / "ct2", bos="<bos>", eos="<eos>", unk="<unk>"
            )
            for n_rows in (1, 16):
                figures += _cell(name, model, Path(folder) / "ct2", names, n_rows, quick)
    return figures


def _cell(
    name: str, model: GPT, folder: Path, names: list[str], n_rows: int, quick: bool
) -> list[Figure]:
    n_threads = torch.get_num_threads()
    torch.manual_seed(n_rows)
    prompts = torch.randint(4, len(names), (n_rows, N_READ)).tolist()
    words = [[names[token] for token in row] for row in prompts]
    theirs = ctranslate2.Generator(
        str(folder), compute_type="int8", intra_threads=n_threads, inter_threads=1
    )
    library = find_library()
    assert library is not None
    ours = NativeModel(model, library, precision="int8", n_threads=n_threads)
    config = DecodingConfig(n_beams=1, min_length=N_WRITTEN)
    requests = [Request(row, N_WRITTEN, config) for row in prompts]

    def run_ours() -> Any:
        return [len(some[0].tokens) for some in ours.search(requests, bos=1, eos=2)]

    def run_theirs() -> Any:
        found = theirs.generate_batch(
            words, beam_size=1, min_length=N_WRITTEN, max_length=N_WRITTEN,
            include_prompt_in_result=False,
        )  # fmt: skip
        return [len(each.sequences_ids[0]) for each in found]

    runs: dict[str, Callable[[], Any]] = {"ours": run_ours, "CTranslate2": run_theirs}
    if n_rows == 1 and (run_llama := _llama_cpp(model, folder.parent, prompts[0], n_threads)):
        runs["llama.cpp"] = run_llama
    for run in runs.values():
        assert run() == [N_WRITTEN] * n_rows
    times = take_turns(runs, 8 if quick else 40)
    n_all = n_rows * N_WRITTEN
    cell = f"{name}, {n_rows} at once"
    found = [Figure(f"{cell}: {run}", n_all / times.median(run), "tokens/s") for run in runs]
    for peer, form, bar in (("CTranslate2", "int8", 1.0), ("llama.cpp", "q8_0", None)):
        if peer in runs:
            ratio, spread = times.speed_up("ours", peer)
            found.append(Figure(f"{cell}: ours over {peer} {form}", ratio, "×", bar, spread))
    return found


def _llama_cpp(
    model: GPT, folder: Path, prompt: list[int], n_threads: int
) -> Callable[[], list[int]] | None:
    """The same weights in llama.cpp, if it is here."""
    try:
        import llama_cpp
    except ImportError:
        return None
    whole, small = folder / "whole.gguf", folder / "q8_0.gguf"
    save_as_gguf(model, None, whole)
    settings = llama_cpp.llama_model_quantize_default_params()
    settings.ftype, settings.nthread = llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0, n_threads
    llama_cpp.llama_model_quantize(str(whole).encode(), str(small).encode(), settings)
    theirs = llama_cpp.Llama(
        str(small), n_ctx=N_READ + N_WRITTEN, n_threads=n_threads, n_threads_batch=n_threads,
        verbose=False,
    )  # fmt: skip

    def run() -> list[int]:
        theirs.reset()
        forever = theirs.generate(prompt, top_k=1, temp=0.0, repeat_penalty=1.0)
        return [sum(1 for _ in islice(forever, N_WRITTEN))]

    return run


FIGURES: dict[str, Callable[[Path, bool], list[Figure]]] = {"speed": _speed}
