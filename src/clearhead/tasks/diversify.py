"""More pairs from the pairs themselves: first models translate them, both ways.

Few pairs are learned by heart before all that is in them is understood. So some models learn from
them first, half of them from source to target and half of them back, and the last model learns from

    (source, target)   (source, forward(source))   (back(target), target)

which are other words for the same thing (data diversification: Nguyen et al. 2020, algorithm 1).

Departs: one or two models for each way and one round. Of five answers, the one is taken that is
nearest to the sentence that was given (Kim & Rush 2016, §3.3): the most probable one is shorter
than people write. Pairs that come out as they were are not added, and those of two models that
agree only once. In its last steps the model learns from the given pairs only, for nobody else
writes as people do.
"""

import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

from clearhead.data import Pair
from clearhead.data.batches import Batches, InTurn
from clearhead.data.shards import Shards, ShardWriter, Swapped
from clearhead.engine.choice import choose
from clearhead.engine.engine import Engine
from clearhead.models import Transformer
from clearhead.tasks.corpus import Corpus, Tell
from clearhead.tasks.folder import put_weights
from clearhead.tasks.pair_task import PairTask, pair_loss, validate_pairs
from clearhead.tasks.plan import Plan
from clearhead.tasks.translate import Translator
from clearhead.tasks.translation import Translation
from clearhead.text import Tokenizer
from clearhead.training import Interrupted, Trainer, TrainingConfig
from clearhead.training.beside import beside, can_work_beside
from clearhead.training.checkpoint import read_checkpoint, write_bytes

__all__ = ["Diversifier", "given_last", "nearest_answer"]

N_VALIDATIONS = 4
N_AT_ONCE = 4096
N_ANSWERS = 5
LAST_SHARE = 0.25
"""The share of the last model's steps in which it learns from the given pairs only."""


@dataclass(frozen=True)
class Diversifier:
    """The pairs of a run and how it learns from them."""

    task: PairTask
    corpus: Corpus
    tokenizer: Tokenizer
    shards: Shards
    plan: Plan
    folder: Path
    device: torch.device
    tell: Tell

    def run(self) -> tuple[Shards, float]:
        """All pairs with what the first models make of them, and the seconds that it took.

        What is done already is not done again, so a run that was stopped ends with the same pairs.
        """
        more, done = self.folder / "more-tokens", self.folder / "more-tokens.json"
        if not done.exists():
            shutil.rmtree(more, ignore_errors=True)  # of a run that was killed in between
            try:
                seconds = self._write(more)
            except KeyboardInterrupt:  # in a model it is the trainer that hears of it
                raise Interrupted(
                    "stopped while the first models translate; they are saved, and the same "
                    "command goes on from there"
                ) from None
            write_bytes(done, json.dumps({"seconds": seconds}).encode())
        shards = Shards(more)
        n_steps = self.plan.training.n_steps
        self.tell("last_model", {"n_pairs": len(shards), "n_steps": n_steps, "n_after": 0})
        return shards, float(json.loads(done.read_text(encoding="utf-8"))["seconds"])

    def _write(self, folder: Path) -> float:
        """Train, translate, and write all pairs as tokens."""
        both_ways, seconds = self._first_models()
        start = time.perf_counter()
        with ShardWriter(folder, self.tokenizer.n_tokens) as writer:
            for number in range(len(self.shards)):
                source, target = self.shards[number]
                writer.add(source.tolist(), target.tolist())
            for some in self._translated(both_ways):
                sides = zip(*some, strict=True)
                for pair in zip(
                    *(self.tokenizer.encode_batch(side) for side in sides), strict=True
                ):
                    writer.add(*pair)
        return seconds + time.perf_counter() - start

    def _first_models(self) -> tuple[list[tuple[Translator, Translator]], float]:
        """Train all of them, a forward and a back one at a time; and the seconds that it took.

        Small models gain little from more threads. So each of the two has half of them, where
        that can be.
        """
        n_threads, found, seconds = torch.get_num_threads(), [], 0.0
        is_beside = can_work_beside(self.device)
        n_at_once = 2 if is_beside else 1
        torch.set_num_threads(n_threads // n_at_once)
        try:
            for number in range(1, self.plan.n_first_models, 2):
                back_too = partial(self._train_quietly, number + 1)
                with beside(back_too) if is_beside else nullcontext():
                    forward, took = self._first_model(number, n_at_once)
                # After that it is there already; and if it is not, this tells what goes wrong.
                back, took_back = self._first_model(number + 1, n_at_once)
                seconds += max(took, took_back) if is_beside else took + took_back
                found.append((forward, back))
        finally:
            torch.set_num_threads(n_threads)
        return found, seconds

    def _train_quietly(self, number: int, look_up: Callable[[], None]) -> None:
        replace(self, tell=lambda kind, facts: look_up())._first_model(number)

    def _first_model(self, number: int, n_at_once: int = 1) -> tuple[Translator, float]:
        """Train one as the plan says, but for fewer steps and with another seed; even ones back."""
        plan, n_steps = self.plan, self.plan.n_first_steps
        config = replace(
            plan.training,
            n_steps=n_steps,
            warm_up=min(plan.training.warm_up, max(1, n_steps // 10)),
            validate_every=max(1, n_steps // N_VALIDATIONS),
            average=min(plan.training.average, max(0.0, 1 - 10 / n_steps)),
            dropout_rise=plan.training.dropout_rise // (1 + plan.n_first_models),
            seed=plan.training.seed + number,
        )
        shards: Shards | Swapped = self.shards
        pairs = self.corpus.validation
        if number % 2 == 0:
            shards = Swapped(self.shards)
            pairs = tuple(Pair(line, target, source) for line, source, target in pairs)
        card = self.task.about(self.corpus, shards)
        facts = {"number": number, "n_models": plan.n_first_models, "n_steps": n_steps}
        n_in_turn = (plan.n_first_models - number) // n_at_once
        # With all threads to itself a step of the last one takes a share of the time of one here.
        n_after = plan.training.n_steps // n_at_once + n_in_turn * n_steps
        facts |= {"n_after": n_after, "n_at_once": n_at_once}
        self.tell("first_model", {**facts, "languages": " → ".join(card["languages"])})
        torch.manual_seed(config.seed)
        with torch.device(self.device):
            model = Transformer(plan.model)
        trainer = Trainer(
            model,
            Batches(shards, plan.n_batch_tokens, config.seed),
            pair_loss(model, plan.smoothing),
            lambda: validate_pairs(self.task, Translator(model, self.tokenizer, card), pairs, plan),
            config,
            self.folder / f"first-{number}",
            lambda kind, facts: None if kind == "end" else self.tell(kind, facts),
        )
        outcome = trainer.run()
        put_weights(model, read_checkpoint(trainer.checkpoints.best)[0], trainer.checkpoints.best)
        return Translator(_fast(model.eval()), self.tokenizer, card), outcome.seconds

    def _translated(
        self, both_ways: list[tuple[Translator, Translator]]
    ) -> Iterator[list[tuple[str, str]]]:
        """Pairs with one side in the words of a model, where it has other words; some at a time."""
        pairs = list(self.corpus)
        for begin in range(0, len(pairs), N_AT_ONCE):
            self.tell("translating", {"n_done": begin, "n_pairs": len(pairs)})
            some = pairs[begin : begin + N_AT_ONCE]
            given = [(pair.source, pair.target) for pair in some]
            found = []
            for forward, back in both_ways:
                targets = forward([pair.source for pair in some], n_best=N_ANSWERS)
                sources = back([pair.target for pair in some], n_best=N_ANSWERS)
                for (source, target), new_target, new_source in zip(
                    given, targets, sources, strict=True
                ):
                    found += [
                        (source, nearest_answer(new_target, target)),
                        (nearest_answer(new_source, source), target),
                    ]
            # What comes out as it was, or as another model says it, is there already.
            known = set(given)
            yield [pair for pair in dict.fromkeys(found) if all(pair) and pair not in known]


def nearest_answer(answer: Translation, given: str) -> str:
    """Of an answer and the others, the text that has most in common with the one that was given."""
    wanted = _words(given)
    texts = [answer.text, *(other.text for other in answer.others)]
    return max(texts, key=lambda text: _overlap(_words(text), wanted))


def _words(text: str) -> Counter[str | tuple[str, str]]:
    """Words and pairs of words, counted."""
    words = text.split()
    return Counter([*words, *pairwise(words)])


def _overlap(one: Counter[Any], other: Counter[Any]) -> float:
    """The share that they have in common, from 0 to 1 (F1)."""
    return 2 * (one & other).total() / max(1, one.total() + other.total())


def given_last(more: Shards, given: Batches, training: TrainingConfig) -> InTurn:
    """All pairs first, and only the given ones in the last steps; whole epochs of each."""
    first = Batches(more, given.n_tokens, given.seed)
    n_taken = (1 - LAST_SHARE) * training.n_steps * training.n_accumulated
    return InTurn(first, round(n_taken / first.n_batches(0)), given)


def _fast(model: Transformer) -> Transformer | Engine:
    """The engine in float32, which says the same in every run; elsewhere the model itself."""
    if next(model.parameters()).device.type != "cpu":
        return model
    return Engine(lambda: model, *choose(model, "float32"))
