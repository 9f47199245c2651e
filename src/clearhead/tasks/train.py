"""From a file of pairs to a model folder: doctor → tokenizer → plan → training → scores."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from clearhead.data import Pair, PairFile, Report, clean, examine, shares_for, side_of
from clearhead.data.batches import Batch, Batches, evaluation_batches
from clearhead.data.shards import Shards, ShardWriter
from clearhead.errors import InputError
from clearhead.models import Transformer, TransformerConfig
from clearhead.tasks.folder import ModelFolder, put_weights, save_folder
from clearhead.tasks.plan import Plan, make_plan
from clearhead.tasks.scores import Score, score_translations
from clearhead.tasks.translate import Translator
from clearhead.text import Tokenizer, choose_size
from clearhead.training import Trainer, smoothed_loss
from clearhead.training.checkpoint import read_checkpoint, write_bytes

__all__ = ["Ready", "Tell", "prepare", "score", "train"]

Tell = Callable[[str, dict[str, Any]], None]

N_VALIDATED = 300
"""Validation pairs that are translated to follow the score; the loss uses all of them."""
N_PROBED = 6


@dataclass(frozen=True)
class Ready:
    """Data on disk as tokens, the pairs that were held out, and what the doctor said."""

    report: Report
    tokenizer: Tokenizer
    shards: Shards
    validation: list[Pair]
    test: list[Pair]
    fingerprint: str


def prepare(pairs: PairFile, folder: Path, seed: int = 0, tell: Tell = lambda *_: None) -> Ready:
    """Let the doctor look, hold some sentences out, learn a vocabulary, and write the tokens."""
    report = examine(pairs)
    tell("report", {"report": report})
    if report.is_fatal:
        raise InputError(f"{', '.join(report.paths)}: {report.verdict}")
    shares = shares_for(report.n_kept)
    sides: dict[str, list[Pair]] = {"validation": [], "test": []}

    def training_pairs() -> Iterator[Pair]:
        for pair in clean(pairs):
            if side_of(pair.source, seed, shares) == "train":
                yield pair

    digest = blake2b(digest_size=16)
    n_characters = n_pairs = 0
    for pair in clean(pairs):
        side = side_of(pair.source, seed, shares)
        if side == "train":
            digest.update(f"{pair.source}\t{pair.target}\n".encode())
            n_characters += len(pair.source) + len(pair.target)
            n_pairs += 1
        else:
            sides[side].append(pair)
    fingerprint = digest.hexdigest()
    tokenizer_path, shards_path = folder / "tokenizer.json", folder / f"data-{fingerprint}"
    if not shards_path.exists():
        tell("tokenizer", {"n_pairs": n_pairs})
        texts = (text for pair in training_pairs() for text in (pair.source, pair.target))
        tokenizer = Tokenizer.train(texts, "bpe", choose_size(n_pairs, n_characters))
        folder.mkdir(parents=True, exist_ok=True)
        tokenizer.save(tokenizer_path)
        with ShardWriter(shards_path, tokenizer.n_tokens) as writer:
            for pair in training_pairs():
                writer.add(tokenizer.encode(pair.source), tokenizer.encode(pair.target))
    return Ready(
        report,
        Tokenizer.load(tokenizer_path),
        Shards(shards_path),
        sides["validation"],
        sides["test"],
        fingerprint,
    )


def train(
    pairs: PairFile,
    to: Path,
    *,
    size: str | None = None,
    seconds: float | None = None,
    settings: dict[str, Any] | None = None,
    tell: Tell = lambda *_: None,
) -> Translator:
    """Train a translator on `pairs` and write it to the folder `to`; resumes what was begun there.

    `tell` hears what happens: report, tokenizer, plan, step, validation, end, scores.
    """
    training = to / "training"
    ready = prepare(pairs, training, tell=tell)
    plan = _plan(ready, training, size, seconds, settings)
    model = _build(plan, ready.tokenizer)
    batches = Batches(ready.shards, plan.n_batch_tokens, plan.training.seed)
    tell(
        "plan",
        {
            "plan": plan,
            "n_parameters": model.n_parameters,
            "n_pairs": len(ready.shards),
            "padding": batches.padding_share(),
        },
    )
    translator = Translator(model, ready.tokenizer, {})
    trainer = Trainer(
        model,
        batches,
        _loss(model, plan.smoothing, ready.tokenizer.pad),
        lambda: _validate(translator, ready.validation, plan),
        plan.training,
        training,
        tell,
    )
    outcome = trainer.run()
    put_weights(model, read_checkpoint(trainer.checkpoints.best)[0], trainer.checkpoints.best)
    translator = Translator(model, ready.tokenizer, {})
    scores = score(translator, ready.test)
    card = {
        "task": "translate",
        "languages": list(ready.report.names),
        "n_parameters": model.n_parameters,
        "data": {**ready.report.to_dict(), "fingerprint": ready.fingerprint},
        "held_out": {"validation": len(ready.validation), "test": len(ready.test)},
        "plan": plan.to_dict(),
        "training": asdict(outcome),
        "scores": [asdict(each) for each in scores],
    }
    save_folder(to, ModelFolder(model, ready.tokenizer, card))
    tell("scores", {"scores": scores, "outcome": outcome})
    return Translator(model, ready.tokenizer, card)


def score(translator: Translator, pairs: Sequence[Pair], n_beams: int = 5) -> list[Score]:
    """Translate the sources and compare with the targets; copying the source is the baseline."""
    answers = translator([pair.source for pair in pairs], n_beams=n_beams)
    references = [pair.target for pair in pairs]
    scores = score_translations([answer.text for answer in answers], references)
    copied = score_translations([pair.source for pair in pairs], references)[0]
    return [*scores, Score("BLEU of copying the source", copied.value, copied.signature)]


def _plan(
    ready: Ready,
    training: Path,
    size: str | None,
    seconds: float | None,
    settings: dict[str, Any] | None,
) -> Plan:
    """The plan of the run that was begun here, or a new one."""
    path = training / f"plan-{ready.fingerprint}.json"
    asked = {"size": size, "seconds": seconds, "settings": settings or {}}
    if path.exists():
        saved = json.loads(path.read_text(encoding="utf-8"))
        if saved["asked"] != asked:
            raise InputError(
                f"{training} holds a run that was asked for otherwise ({saved['asked']}); give the "
                f"same options to go on with it, or another folder to start anew"
            )
        return Plan.from_dict(saved["plan"])
    if next(training.glob("plan-*.json"), None) is not None:
        raise InputError(
            f"{training} holds a run on other data; give another folder, or remove this one"
        )
    n_pairs, n_tokens = len(ready.shards), ready.tokenizer.n_tokens
    # A first plan says how large the batches are; only then can they and their time be counted.
    plan = make_plan(n_pairs, 1, n_tokens, size=size, settings=settings)
    n_batches = Batches(ready.shards, plan.n_batch_tokens).n_batches(0)
    n_steps = None if seconds is None else max(10, int(seconds / _seconds_per_step(plan, ready)))
    plan = make_plan(n_pairs, n_batches, n_tokens, size=size, n_steps=n_steps, settings=settings)
    write_bytes(path, json.dumps({"asked": asked, "plan": plan.to_dict()}).encode())
    return plan


def _build(plan: Plan, tokenizer: Tokenizer) -> Transformer:
    torch.manual_seed(plan.training.seed)
    changes = {"block.dropout": plan.dropout, "pad": tokenizer.pad}
    return Transformer(TransformerConfig.preset(plan.size, tokenizer.n_tokens, **changes))


def _seconds_per_step(plan: Plan, ready: Ready) -> float:
    """Try some steps on a model that is thrown away, validation's share included."""
    model = _build(plan, ready.tokenizer).train()
    loss = _loss(model, plan.smoothing, ready.tokenizer.pad)
    adam = torch.optim.Adam(model.parameters(), fused=True)
    times = []
    for batch in islice(Batches(ready.shards, plan.n_batch_tokens).epoch(0), N_PROBED):
        start = time.perf_counter()
        loss(batch)[0].backward()
        adam.step()
        adam.zero_grad()
        times.append(time.perf_counter() - start)
    return 1.15 * sorted(times)[len(times) // 2]


def _loss(
    model: Transformer, smoothing: float, pad: int
) -> Callable[[Batch], tuple[Tensor, Tensor, int]]:
    def loss(batch: Batch) -> tuple[Tensor, Tensor, int]:
        x = model.read(batch.source, batch.target_in)
        is_token = batch.target_out != pad
        smoothed, plain = smoothed_loss(
            x, model.output.weight, batch.target_out, is_token, smoothing
        )
        return smoothed, plain, batch.n_target_tokens

    return loss


def _validate(translator: Translator, pairs: list[Pair], plan: Plan) -> dict[str, Any]:
    """Loss on all validation pairs, greedy BLEU on some, and three of them to look at."""
    encode = translator.tokenizer.encode
    loss = _loss(translator.model, 0.0, translator.tokenizer.pad)
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
    return {"score": bleu.value, "bleu": bleu.value, "loss": total / n_tokens, "samples": samples}
