"""From a file of pairs to a model folder: doctor → plan → tokenizer → training → scores."""

import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from clearhead.data import Pair, PairFile
from clearhead.data.batches import Batch, Batches, evaluation_batches
from clearhead.data.shards import Shards
from clearhead.errors import ClearheadError, InputError
from clearhead.models import Transformer
from clearhead.tasks.alignment import choose_aligner
from clearhead.tasks.corpus import Corpus, Tell, survey, write_tokens
from clearhead.tasks.evaluate import evaluate
from clearhead.tasks.folder import ModelFolder, put_weights, save_folder
from clearhead.tasks.lengths import describe_lengths
from clearhead.tasks.plan import Facts, Forecast, Plan, Speed, make_plan, smaller_size, usual_size
from clearhead.tasks.probe import probe
from clearhead.tasks.report import write_report
from clearhead.tasks.scores import score_translations
from clearhead.tasks.translate import Translator
from clearhead.text import Tokenizer
from clearhead.training import Trainer, pick_device, smoothed_loss
from clearhead.training.checkpoint import read_checkpoint, write_bytes
from clearhead.training.device import Device

__all__ = ["train"]

N_VALIDATED = 300
"""Validation pairs that are translated to follow the score; the loss uses all of them."""
N_FOR_WORDS = 2000
"""Training pairs from which it is learned which words belong together."""
N_PROBED = 8


@dataclass(frozen=True)
class _Wish:
    """What the user asked for beside the data; the same wish goes on with the same run."""

    size: str | None
    seconds: float | None
    settings: dict[str, Any]

    def __str__(self) -> str:
        """The options as they would be written."""
        given = [f"--size {self.size}"] if self.size else []
        given += [f"--time {self.seconds:g}s"] if self.seconds else []
        return " ".join([*given, *(f"--set {key}={value}" for key, value in self.settings.items())])


def train(
    pairs: PairFile,
    to: Path,
    *,
    validation: PairFile | None = None,
    test: PairFile | None = None,
    size: str | None = None,
    seconds: float | None = None,
    settings: dict[str, Any] | None = None,
    device: Device = "auto",
    tell: Tell = lambda *_: None,
) -> Translator:
    """Train a translator on `pairs` and write it to the folder `to`; resumes what was begun there.

    What is not given is chosen: held-out pairs, size, time, and every setting of the plan. `tell`
    hears what happens: report, tokenizer, probe, plan, resume, step, validation, end, scores.
    """
    wish = _Wish(size, seconds, settings or {})
    make_plan(Facts(10_000, 1_000_000), size=size, settings=wish.settings)  # wrong names fail here
    where = pick_device(device)
    training = _claim(to)
    with _nothing_left_behind(training, to):
        corpus = survey(pairs, validation, test, tell=tell)
    plan, forecast, tokenizer, shards = _prepare(corpus, wish, training, where, tell)
    _check_space(to, forecast.n_parameters)
    tell("plan", {"plan": plan, "forecast": forecast})
    model = _build(plan, where)
    card = _begin_card(corpus, plan, forecast, shards)
    translator = Translator(model, tokenizer, card)
    trainer = Trainer(
        model,
        Batches(shards, plan.n_batch_tokens, plan.training.seed),
        _loss(model, plan.smoothing, where),
        lambda: _validate(translator, corpus.validation, plan),
        plan.training,
        training,
        tell,
    )
    outcome = trainer.run()
    put_weights(model, read_checkpoint(trainer.checkpoints.best)[0], trainer.checkpoints.best)
    model.eval()
    evaluation = evaluate(translator, corpus.test)
    more = list(islice(corpus, N_FOR_WORDS))
    aligner = choose_aligner(model, tokenizer, corpus.validation, more)
    card["aligner"] = asdict(aligner)
    card["training"] = asdict(outcome)
    card["scores"] = [asdict(each) for each in evaluation.scores]
    save_folder(to, ModelFolder(model, tokenizer, card))
    report = to / "report.html"
    write_report(report, card, trainer.journal.read(), evaluation.samples)
    tell(
        "scores",
        {"scores": evaluation.scores, "outcome": outcome, "folder": to, "report": report},
    )
    return translator


def _begin_card(corpus: Corpus, plan: Plan, forecast: Forecast, shards: Shards) -> dict[str, Any]:
    """What is known before the first step; how it went comes at the end."""
    data = {**corpus.report.to_dict(), "fingerprint": corpus.fingerprint}
    return {
        "task": "translate",
        "languages": list(corpus.report.names),
        "n_parameters": forecast.n_parameters,
        "data": {**data, "lengths": describe_lengths(shards, corpus.n_pairs)},
        "held_out": {"validation": len(corpus.validation), "test": len(corpus.test)},
        "plan": plan.to_dict(),
        "forecast": asdict(forecast),
    }


def _claim(to: Path) -> Path:
    """Make the folder for the run, or refuse one that cannot be written or holds something else."""
    training = to / "training"
    if to.exists() and not to.is_dir():
        raise InputError(f"{to} is a file; give the name of a folder for the model")
    if (to / "config.json").exists() and not (training / "plan.json").exists():
        raise InputError(f"{to} holds another model; give another folder, or remove this one")
    try:
        training.mkdir(parents=True, exist_ok=True)
        (training / "claim").write_text("")
        (training / "claim").unlink()
    except OSError as error:
        raise InputError(f"{training} cannot be written: {error.strerror}") from None
    return training


@contextmanager
def _nothing_left_behind(*folders: Path) -> Iterator[None]:
    """If something is refused, remove these folders, unless they hold something."""
    try:
        yield
    except ClearheadError:
        for folder in folders:
            with suppress(OSError):
                folder.rmdir()
        raise


def _check_space(to: Path, n_parameters: int) -> None:
    """Refuse a disk that cannot hold the checkpoints, before hours are spent."""
    # Weights, average and Adam's two, for three checkpoints; the best weights, and the model.
    needed = 4 * n_parameters * (3 * 4 + 2)
    free = shutil.disk_usage(to).free
    if free < needed:
        raise InputError(
            f"{to} has {free / 1e6:,.0f} MB left, and the checkpoints need {needed / 1e6:,.0f} MB; "
            f"make room, or give a folder on another disk"
        )


def _prepare(
    corpus: Corpus, wish: _Wish, training: Path, device: torch.device, tell: Tell
) -> tuple[Plan, Forecast, Tokenizer, Shards]:
    """The plan of the run that was begun here, or a new one; with the tokens it needs."""
    path = training / "plan.json"
    run = {"data": corpus.fingerprint, "asked": asdict(wish)}
    saved = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    if saved is not None:
        if saved["data"] != run["data"]:
            raise InputError(
                f"{training} holds a run on other data; give another folder, or remove this one"
            )
        if saved["asked"] != run["asked"]:
            asked = str(_Wish(**saved["asked"])) or "without options"
            raise InputError(
                f"{training} holds a run that was asked for otherwise ({asked}); give the same "
                f"options to go on with it, or another folder to start anew"
            )
        plan = Plan.from_dict(saved["plan"])
        forecast = Forecast(**{**saved["forecast"], "reasons": tuple(saved["forecast"]["reasons"])})
        return plan, forecast, *write_tokens(corpus, plan, training, tell)
    shutil.rmtree(training / "tokens", ignore_errors=True)  # of a run that never got to its plan
    facts = Facts(corpus.n_pairs, corpus.n_characters)
    plan, _ = make_plan(facts, size=wish.size, settings=wish.settings)
    tokenizer, shards = write_tokens(corpus, plan, training, tell)
    plan, forecast = _measured_plan(facts, wish, tokenizer, shards, device, tell)
    write_bytes(
        path,
        json.dumps(
            {**run, "plan": plan.to_dict(), "forecast": asdict(forecast)}, indent=2
        ).encode(),
    )
    return plan, forecast, tokenizer, shards


def _measured_plan(
    facts: Facts,
    wish: _Wish,
    tokenizer: Tokenizer,
    shards: Shards,
    device: torch.device,
    tell: Tell,
) -> tuple[Plan, Forecast]:
    """Try some steps of what the data asks for, and of smaller models until the time suffices."""
    size = wish.size or usual_size(facts.n_pairs)
    while True:
        facts = replace(facts, n_tokens=tokenizer.n_tokens)
        plan, _ = make_plan(facts, size=size, settings=wish.settings)
        batches = Batches(shards, plan.n_batch_tokens, plan.training.seed)
        facts = replace(facts, n_batches=max(1, batches.n_batches(0) // plan.n_copies))
        speed = _try(plan, batches, device, tell)
        plan, reasons = make_plan(
            facts, size=size, seconds=wish.seconds, speed=speed, settings=wish.settings
        )
        smaller = None if wish.size else smaller_size(plan, size, facts)
        if smaller is None:
            break
        size = smaller
    n_batches = facts.n_batches or 1
    n_steps = plan.training.n_steps
    forecast = Forecast(
        n_parameters=_build(plan, torch.device("meta")).n_parameters,
        n_pairs=facts.n_pairs,
        n_batches=n_batches,
        n_epochs=round(n_steps * plan.training.n_accumulated / n_batches, 1),
        padding=batches.padding_share(),
        tokens_per_second=speed.tokens_per_second,
        seconds=n_steps * plan.training.n_accumulated * speed.seconds_per_step,
        n_bytes=speed.n_bytes,
        reasons=reasons,
    )
    return plan, forecast


def _try(plan: Plan, batches: Batches, device: torch.device, tell: Tell) -> Speed:
    tell("probe", {"name": f"{plan.model.block.d_model} wide"})
    model = _build(plan, device)
    return probe(model, _loss(model, plan.smoothing, device), batches.some(N_PROBED))


def _build(plan: Plan, device: torch.device) -> Transformer:
    torch.manual_seed(plan.training.seed)
    with torch.device(device):
        return Transformer(plan.model)


def _loss(
    model: Transformer, smoothing: float, device: torch.device
) -> Callable[[Batch], tuple[Tensor, Tensor, int]]:
    def loss(batch: Batch) -> tuple[Tensor, Tensor, int]:
        batch = batch.to(device)
        x = model.read(batch.source, batch.target_in)
        is_token = batch.target_out != model.config.pad
        smoothed, plain = smoothed_loss(
            x, model.output.weight, batch.target_out, is_token, smoothing, model.output.bias
        )
        return smoothed, plain, batch.n_target_tokens

    return loss


def _validate(translator: Translator, pairs: Sequence[Pair], plan: Plan) -> dict[str, Any]:
    """Loss on all validation pairs, greedy BLEU on some, and three of them to look at."""
    start = time.perf_counter()
    encode = translator.tokenizer.encode
    loss = _loss(translator.model, 0.0, torch.device(translator.device))
    total, n_tokens = 0.0, 0
    tokens = [(encode(pair.source), encode(pair.target)) for pair in pairs]
    for batch in evaluation_batches(tokens, plan.n_batch_tokens):
        _, plain, n = loss(batch)
        total, n_tokens = total + float(plain), n_tokens + n
    some = pairs[:N_VALIDATED]
    answers = [a.text for a in translator([pair.source for pair in some], n_beams=1)]
    bleu = score_translations(answers, [pair.target for pair in some])[0]
    samples = [
        {"source": pair.source, "reference": pair.target, "answer": answer}
        for pair, answer in list(zip(some, answers, strict=True))[:3]
    ]
    return {
        "score": bleu.value,
        "bleu": bleu.value,
        "loss": total / n_tokens,
        "samples": samples,
        "seconds": time.perf_counter() - start,
    }
