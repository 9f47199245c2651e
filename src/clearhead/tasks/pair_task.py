"""What can be learned from pairs: the loss of a batch, and the score of a model on some pairs."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from clearhead.data import Limits, Pair
from clearhead.data.batches import Batch, evaluation_batches
from clearhead.data.shards import Shards, Swapped
from clearhead.models import Transformer
from clearhead.tasks.corpus import Corpus
from clearhead.tasks.evaluate import Evaluation
from clearhead.tasks.lengths import describe_lengths
from clearhead.tasks.plan import Plan
from clearhead.tasks.scores import Score
from clearhead.tasks.translate import Translator
from clearhead.training import smoothed_loss

__all__ = ["PairTask", "pair_loss", "validate_pairs"]


@dataclass(frozen=True)
class PairTask:
    """What can be learned from pairs by an encoder and a decoder, and what it takes."""

    name: str
    kind: type[Translator]
    """What the trained model becomes."""
    plan: type[Plan]
    make_plan: Callable[..., tuple[Plan, tuple[str, ...]]]
    measure: Callable[[Sequence[str], Sequence[str]], Score]
    """The score that training follows, of answers beside references."""
    evaluate: Callable[..., Evaluation]
    limits: Limits = field(default_factory=Limits)
    is_shortening: bool = False
    """Whether both sides are of one language, and a target may be short whatever its source is."""

    def about(self, corpus: Corpus, shards: Shards | Swapped) -> dict[str, Any]:
        """What a model has to know of its data to answer."""
        order = -1 if isinstance(shards, Swapped) else 1
        names = {} if self.is_shortening else {"languages": list(corpus.report.names)[::order]}
        lengths = describe_lengths(shards, corpus.n_pairs, with_targets=self.is_shortening)
        return {"task": self.name, **names, "data": {"lengths": lengths}}


def pair_loss(
    model: Transformer, smoothing: float
) -> Callable[[Batch], tuple[Tensor, Tensor, int]]:
    """Smoothed cross-entropy of the target, given the source."""
    device = next(model.parameters()).device

    def loss(batch: Batch) -> tuple[Tensor, Tensor, int]:
        batch = batch.to(device)
        x = model.read(batch.source, batch.target_in)
        is_token = batch.target_out != model.config.pad
        smoothed, plain = smoothed_loss(
            x, model.output.weight, batch.target_out, is_token, smoothing, model.output.bias
        )
        return smoothed, plain, batch.n_target_tokens

    return loss


def validate_pairs(
    task: PairTask, translator: Translator, pairs: Sequence[Pair], plan: Plan
) -> dict[str, Any]:
    """Loss on all validation pairs, the score of greedy answers to some, and three to look at."""
    start = time.perf_counter()
    encode = translator.tokenizer.encode
    loss = pair_loss(translator.model, 0.0)
    total, n_tokens = 0.0, 0
    tokens = [(encode(pair.source)[: plan.max_source], encode(pair.target)) for pair in pairs]
    for batch in evaluation_batches(tokens, plan.n_batch_tokens):
        _, plain, n = loss(batch)
        total, n_tokens = total + float(plain), n_tokens + n
    some = pairs[: plan.n_validated]
    answers = [a.text for a in translator([pair.source for pair in some], n_beams=1)]
    score = task.measure(answers, [pair.target for pair in some])
    samples = [
        {"source": pair.source, "reference": pair.target, "answer": answer}
        for pair, answer in list(zip(some, answers, strict=True))[:3]
    ]
    told = {"measure": score.name, "told": f"{score.name} {score.value:.2f}"}
    return {
        "score": score.value,
        **({"bleu": score.value} if score.name == "BLEU" else told),
        "loss": total / n_tokens,
        "samples": samples,
        "seconds": time.perf_counter() - start,
    }
