"""Programs that decode, each in a process of its own: ours, CTranslate2, and Hugging Face.

So none shares threads or memory with another. Times are taken inside, where nothing is sent.
"""

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from clearhead.errors import ClearheadError, InputError
from clearhead.text import BOS, EOS, PAD, load_tokenizer

__all__ = ["Job", "Outcome", "TextJob", "Weights", "Worker", "with_text"]


@dataclass(frozen=True)
class Weights:
    """A model folder, or random weights of a size by name."""

    folder: Path | None = None
    size: str = "tiny"
    n_tokens: int = 16_000

    def save(self, folder: Path) -> None:
        """Write the configuration and the weights, as a model folder has them."""
        from safetensors.torch import save_file

        model = self.model()
        folder.mkdir()
        model.config.save(folder / "config.json")
        weights = {name: p.detach().contiguous() for name, p in model.named_parameters()}
        save_file(weights, folder / "model.safetensors")

    def model(self) -> Any:
        """The model; the same in every process."""
        import torch

        from clearhead.models import Transformer, TransformerConfig
        from clearhead.tasks.folder import load_folder

        if self.folder is not None:
            return load_folder(self.folder).model
        torch.manual_seed(0)
        config = TransformerConfig.preset(self.size, self.n_tokens, **{"block.norm": "pre"})
        return Transformer(config).eval()


@dataclass(frozen=True)
class Job:
    """What is decoded: sentences of token ids, each of which ends with the end."""

    sources: list[list[int]]
    n_beams: int
    n_tokens: int | None = None
    """Exactly so many tokens; without it, as many as the model writes."""
    n_at_once: int = 32
    """How many sentences stand in a batch; they are of similar length."""


@dataclass(frozen=True)
class TextJob:
    """Lines of text to translate, with what a program needs before and after."""

    lines: list[str]
    n_beams: int
    folder: Path
    """The model folder, for its tokenizer."""
    n_at_once: int = 64


@dataclass(frozen=True)
class Outcome:
    """How long it took, what came out, and how much memory the process has needed so far."""

    seconds: float
    answers: list[Any]
    """Rows of token ids, or lines of text."""
    n_bytes: int


Decode = Callable[[Any], list[Any]]


class Worker:
    """One program in its process."""

    def __init__(self, kind: str, **settings: Any) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, kind, settings), daemon=True)
        self.process.start()
        theirs.close()
        self._receive()

    def run(self, job: Job | TextJob) -> Outcome:
        """Do a job."""
        self.connection.send(job)
        return self._receive()

    def close(self) -> None:
        """End the process."""
        self.connection.close()
        self.process.join(10)

    def _receive(self) -> Any:
        try:
            answer = self.connection.recv()
        except EOFError:
            raise InputError(f"the program ended with {self.process.exitcode}") from None
        if isinstance(answer, str):
            raise InputError(answer)
        return answer


def _serve(connection: Connection, kind: str, settings: dict[str, Any]) -> None:
    try:
        decode: Decode = KINDS[kind](**settings)
        connection.send(None)
        while True:
            job = connection.recv()
            start = time.perf_counter()
            answers = decode(job)
            seconds = time.perf_counter() - start
            connection.send(Outcome(seconds, answers, _peak()))
    except EOFError:
        return
    except (ClearheadError, ImportError) as error:
        connection.send(str(error))


def _peak() -> int:
    """The largest memory of this process; Linux counts the parent's too in `getrusage`."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        pass
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _ours(weights: Weights, folder: str, precision: Any) -> Decode:
    from clearhead.config import TransformerConfig
    from clearhead.decoding import DecodingConfig, Request, generate
    from clearhead.engine.choice import choose
    from clearhead.engine.engine import Engine
    from clearhead.engine.source import Source, WeightFile
    from clearhead.tasks import Translator
    from clearhead.tasks.lengths import max_length_for

    if weights.folder is not None:
        translator = Translator.load(weights.folder, precision)
        engine: Any = translator.engine
    else:
        config = TransformerConfig.load(Path(folder) / "config.json")
        source = Source(config, WeightFile(Path(folder) / "model.safetensors").read)
        engine = Engine(weights.model, *choose(source, precision))

    def decode(job: Job | TextJob) -> list[Any]:
        if isinstance(job, TextJob):
            return [answer.text for answer in translator(job.lines, n_beams=job.n_beams)]
        config = DecodingConfig(n_beams=job.n_beams, min_length=job.n_tokens or 0)
        requests = [
            Request(row, job.n_tokens or max_length_for(len(row)), config) for row in job.sources
        ]
        answers: list[list[int]] = []
        for start in range(0, len(requests), job.n_at_once):
            some = requests[start : start + job.n_at_once]
            found = generate(engine, some, bos=BOS, eos=EOS, pad=PAD)
            answers += [hypotheses[0].tokens for hypotheses in found]
        return answers

    return decode


def _ctranslate2(folder: str, compute_type: str, inter_threads: int, intra_threads: int) -> Decode:
    import ctranslate2

    translator = ctranslate2.Translator(
        folder,
        compute_type=compute_type,
        inter_threads=inter_threads,
        intra_threads=intra_threads,
    )

    def decode_ids(job: Job) -> list[list[int]]:
        n = job.n_tokens
        longest = n or 2 * max(map(len, job.sources)) + 20
        results = translator.translate_batch(
            [[str(token) for token in row] for row in job.sources],
            beam_size=job.n_beams,
            min_decoding_length=n or 1,
            max_decoding_length=longest,
            max_batch_size=job.n_at_once,
        )
        return [[int(token) for token in result.hypotheses[0]] for result in results]

    return with_text(decode_ids)


def _transformers(folder: str, n_threads: int) -> Decode:
    import torch
    import transformers

    from clearhead.convert.to_transformers import put_positions

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(n_threads)
    model = transformers.M2M100ForConditionalGeneration.from_pretrained(folder).eval()
    put_positions(model)

    @torch.no_grad()
    def decode_ids(job: Job) -> list[list[int]]:
        answers: list[list[int]] = []
        for start in range(0, len(job.sources), job.n_at_once):
            rows = [torch.tensor(row) for row in job.sources[start : start + job.n_at_once]]
            source = torch.nn.utils.rnn.pad_sequence(rows, True, PAD)
            n = job.n_tokens
            limits = {"max_new_tokens": n or 2 * source.shape[1] + 20, "min_new_tokens": n}
            out = model.generate(
                input_ids=source, attention_mask=source != PAD, num_beams=job.n_beams,
                do_sample=False, early_stopping=False, **limits,
            )  # fmt: skip
            answers += [[t for t in row[1:] if t not in (EOS, PAD)] for row in out.tolist()]
        return answers

    return with_text(decode_ids)


def with_text(decode_ids: Callable[[Job], list[list[int]]]) -> Decode:
    """Let a program that reads and writes token ids take lines of text too."""

    def decode(job: Job | TextJob) -> list[Any]:
        if isinstance(job, Job):
            return decode_ids(job)
        tokenizer = load_tokenizer(job.folder / "tokenizer.json")
        rows = [[*row, EOS] for row in tokenizer.encode_batch(job.lines)]
        order = sorted(range(len(rows)), key=lambda place: -len(rows[place]))
        sources = [rows[place] for place in order]
        found = decode_ids(Job(sources, job.n_beams, n_at_once=job.n_at_once))
        by_place = dict(zip(order, found, strict=True))
        return [tokenizer.decode(by_place[place]) for place in range(len(rows))]

    return decode


KINDS: dict[str, Callable[..., Decode]] = {
    "clearhead": _ours,
    "ctranslate2": _ctranslate2,
    "transformers": _transformers,
}
