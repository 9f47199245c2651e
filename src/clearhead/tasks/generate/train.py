"""From plain texts to a model that continues them: doctor → plan → tokens → training → scores."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from clearhead.config import MixtralConfig
from clearhead.data.texts import Texts
from clearhead.data.windows import WindowBatch, Windows
from clearhead.models import Llama, Mixtral, Model
from clearhead.tasks.generate.evaluate import guess, score_texts
from clearhead.tasks.generate.generator import Generator
from clearhead.tasks.generate.plan import GeneratePlan, TextFacts, make_plan
from clearhead.tasks.job import BatchesOf, Tell, Wish, carry_out, claim, nothing_left_behind
from clearhead.tasks.steps import Speed
from clearhead.tasks.text_corpus import (
    TextCorpus,
    beginning_of,
    learn_vocabulary,
    survey_texts,
    write_tokens,
)
from clearhead.tasks.text_job import TextJob, keep_text_model
from clearhead.training import smoothed_loss
from clearhead.training.device import Device

__all__ = ["train_generator"]

N_VALIDATED = 20_000
"""Characters of the validation texts that are followed in training."""
N_SAMPLES = 3


def train_generator(
    texts: Texts,
    to: Path,
    *,
    validation: Texts | None = None,
    test: Texts | None = None,
    size: str | None = None,
    seconds: float | None = None,
    settings: dict[str, Any] | None = None,
    device: Device = "auto",
    tell: Tell = lambda *_: None,
) -> Generator:
    """Train a model on `texts` and write it to the folder `to`; resumes what was begun there."""
    wish = Wish(size, seconds, settings or {})
    make_plan(TextFacts(1_000_000), size=size, settings=wish.settings)  # wrong names fail here
    training = claim(to)
    with nothing_left_behind(training, to):
        corpus = survey_texts(texts, validation, test, tell)
    job = _Continuing(corpus)
    result = carry_out(job, to, training, wish, device, tell)
    model = cast(Llama, result.model)
    found = guess(model, job.tokenizer, corpus.test, result.plan.context)
    scores = score_texts(found, corpus.train, corpus.test)
    card = keep_text_model("generate", job, result, scores, to, tell)
    return Generator(model, job.tokenizer, card)


class _Continuing(TextJob[GeneratePlan, WindowBatch]):
    """What is to be known of a run on texts."""

    def __init__(self, corpus: TextCorpus) -> None:
        super().__init__(corpus)
        self.facts = TextFacts(corpus.n_characters)

    def read_plan(self, data: dict[str, Any]) -> GeneratePlan:
        """Refuses what a plan does not have."""
        return GeneratePlan.from_dict(data)

    def plan(self, wish: Wish, speed: Speed | None) -> tuple[GeneratePlan, tuple[str, ...]]:
        """From the number of characters."""
        seconds = None if speed is None else wish.seconds
        return make_plan(
            self.facts, size=wish.size, seconds=seconds, speed=speed, settings=wish.settings
        )

    def prepare(self, plan: GeneratePlan, folder: Path, tell: Tell) -> None:
        """The vocabulary, and all tokens in one row on disk."""
        self.tokenizer, self.tokens = write_tokens(
            self.corpus,
            folder,
            lambda: learn_vocabulary(self.corpus, plan.tokenizer, plan.n_vocabulary, tell),
        )
        self.facts = replace(self.facts, n_tokens=self.tokenizer.n_tokens)

    def batches(self, plan: GeneratePlan) -> BatchesOf[WindowBatch]:
        """Windows of the row."""
        found = Windows(self.tokens, plan.context, plan.n_rows, plan.training.seed)
        self.facts = replace(self.facts, n_batches=found.n_batches(0))
        return found

    def build(self, plan: GeneratePlan) -> Llama | Mixtral:
        """A decoder by itself."""
        config = plan.decoder
        return Mixtral(config) if isinstance(config, MixtralConfig) else Llama(config)

    def loss(
        self, model: Model, plan: GeneratePlan
    ) -> Callable[[WindowBatch], tuple[Tensor, Tensor, int]]:
        """Cross-entropy of the next token, at every position."""
        llama, device = cast(Llama, model), next(model.parameters()).device

        def loss(batch: WindowBatch) -> tuple[Tensor, Tensor, int]:
            batch = batch.to(device)
            is_token = torch.ones_like(batch.targets, dtype=torch.bool)
            uneven: Tensor | float = 0.0
            if isinstance(model, Mixtral):
                x, uneven = model.read_with_balance(batch.inputs)
            else:
                x = llama.read(batch.inputs)
            smoothed, plain = smoothed_loss(x, llama.output.weight, batch.targets, is_token)
            return smoothed + plan.balance * batch.n_tokens * uneven, plain, batch.n_tokens

        return loss

    def validate(self, model: Model, plan: GeneratePlan) -> dict[str, Any]:
        """Bits per byte of the validation texts, and three continuations to look at."""
        start = time.perf_counter()
        texts = beginning_of(self.corpus.validation, N_VALIDATED)
        found = guess(cast(Llama, model), self.tokenizer, texts, plan.context)
        return {
            "score": -found.bits_per_byte,
            "measure": "bits per byte",
            "told": f"bits per byte {found.bits_per_byte:.3f}",
            "loss": found.loss,
            "samples": self.samples(cast(Llama, model), plan.context),
            "seconds": time.perf_counter() - start,
        }

    def samples(self, model: Llama, context: int) -> list[dict[str, str]]:
        """Beginnings from the validation texts, how they go on there, and by the model.

        Together they are no longer than what the model has seen at once.
        """
        n_prompt, n_continued = context // 3, context // 2
        text = self.corpus.validation[0]
        generator = Generator(model, self.tokenizer, {})
        places = [len(text) * n // (N_SAMPLES + 1) for n in range(N_SAMPLES)]
        prompts = [text[place : place + n_prompt] for place in places]
        answers = generator(prompts, temperature=0.8, max_length=n_continued)
        return [
            {
                "source": prompt,
                "reference": text[place + n_prompt : place + n_prompt + n_continued],
                "answer": answer.text,
            }
            for place, prompt, answer in zip(places, prompts, answers, strict=True)
        ]
