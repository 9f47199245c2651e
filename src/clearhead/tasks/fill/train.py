"""From plain texts to a model that fills gaps: doctor → plan → tokens → training → scores."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from clearhead.config import BertConfig
from clearhead.data.masking import GapBatch, GapBatches, Hider, words_begin
from clearhead.data.texts import Texts
from clearhead.data.windows import Windows
from clearhead.errors import ConfigError, InputError
from clearhead.models import Bert, Model
from clearhead.models.bert import FillScores
from clearhead.tasks.fill.evaluate import (
    Hidden,
    guess_gaps,
    hide_tokens,
    ordinary_tokens,
    score_gaps,
)
from clearhead.tasks.fill.filler import Filler
from clearhead.tasks.fill.first_weights import look_around
from clearhead.tasks.fill.plan import FillFacts, FillPlan, make_plan, smaller_size, usual_size
from clearhead.tasks.folder import ModelFolder, load_folder, put_weights
from clearhead.tasks.job import BatchesOf, Tell, Wish, carry_out, claim, nothing_left_behind
from clearhead.tasks.markup import isolate, say_share, table
from clearhead.tasks.steps import Speed
from clearhead.tasks.text_corpus import (
    TextCorpus,
    beginning_of,
    learn_vocabulary,
    survey_texts,
    write_tokens,
)
from clearhead.tasks.text_job import TextJob, keep_text_model
from clearhead.text import Kind, Tokenizer
from clearhead.text.framing import Framing
from clearhead.text.normal import MASK
from clearhead.training import smoothed_loss
from clearhead.training.device import Device

__all__ = ["train_filler"]

N_VALIDATED = 50_000
"""Characters of the validation texts that are followed in training."""
N_SAMPLES, N_SHOWN = 3, 12
N_SEARCHED = 2000
"""Lines in which samples are looked for."""
MIN_WORDS, MAX_WORDS = 4, 16


def train_filler(
    texts: Texts,
    to: Path,
    *,
    validation: Texts | None = None,
    test: Texts | None = None,
    start: Path | None = None,
    size: str | None = None,
    seconds: float | None = None,
    settings: dict[str, Any] | None = None,
    device: Device = "auto",
    tell: Tell = lambda *_: None,
) -> Filler:
    """Train a model on `texts` and write it to the folder `to`; resumes what was begun there.

    With `start` it goes on from the model of another folder, with its vocabulary.
    """
    wish = Wish(size, seconds, settings or {})
    begin = None if start is None else _open_start(start, wish)
    make_plan(_facts(1_000_000, begin), size=size, settings=wish.settings)  # wrong names fail here
    training = claim(to)
    with nothing_left_behind(training, to):
        corpus = survey_texts(texts, validation, test, tell)
    job = _Filling(corpus, begin)
    result = carry_out(job, to, training, wish, device, tell)
    model = cast(Bert, result.model)
    hidden = hide_tokens(job.tokenizer, corpus.test)
    found = guess_gaps(model, job.tokenizer, hidden, result.plan.context)
    scores = score_gaps(found, hidden, job.tokenizer, job.tokens)
    more = {"Gaps": job.show_gaps(model)}
    card = keep_text_model("fill", job, result, scores, to, tell, more)
    return Filler(model, job.tokenizer, card)


def _open_start(folder: Path, wish: Wish) -> ModelFolder:
    """The model to begin with; refuses one that fills no gaps, and what it decides itself."""
    found = load_folder(folder)
    config = found.model.config
    if not isinstance(config, BertConfig) or config.head != "fill":
        raise InputError(f"--from {folder} holds no model that fills gaps: give one that does")
    found.tokenizer.encode_gaps(["", ""])  # refuses a vocabulary without gaps
    fixed = ("tokenizer", "n_vocabulary", "model.")
    if wish.size or any(name.startswith(fixed) for name in wish.settings):
        raise ConfigError(
            f"--from {folder} brings its size and vocabulary: leave out --size, and --set of "
            "tokenizer, n_vocabulary and model"
        )
    return found


def _facts(n_characters: int, begin: ModelFolder | None) -> FillFacts:
    if begin is None:
        return FillFacts(n_characters)
    start = cast(BertConfig, begin.model.config)
    return FillFacts(n_characters, start=start, is_foreign=begin.tokenizer.kind == "foreign")


class _Filling(TextJob[FillPlan, GapBatch]):
    """What is to be known of a run that learns to fill gaps."""

    def __init__(self, corpus: TextCorpus, begin: ModelFolder | None) -> None:
        super().__init__(corpus)
        self.begin = begin
        self.facts = _facts(corpus.n_characters, begin)
        self.hidden: Hidden
        self._fingerprint = corpus.fingerprint
        if begin is not None:
            digest = blake2b(corpus.fingerprint.encode(), digest_size=16)
            for parameter in begin.model.parameters():
                digest.update(parameter.detach().numpy().tobytes())
            self._fingerprint = digest.hexdigest()

    @property
    def fingerprint(self) -> str:
        """Of all texts, and of the weights that it begins with."""
        return self._fingerprint

    def read_plan(self, data: dict[str, Any]) -> FillPlan:
        """Refuses what a plan does not have."""
        return FillPlan.from_dict(data)

    def plan(self, wish: Wish, speed: Speed | None) -> tuple[FillPlan, tuple[str, ...]]:
        """From the number of characters."""
        seconds = None if speed is None else wish.seconds
        return make_plan(
            self.facts, size=wish.size, seconds=seconds, speed=speed, settings=wish.settings
        )

    def smaller(self, plan: FillPlan, wish: Wish) -> Wish | None:
        """A size or length that was asked for stays, and a model that is there already."""
        is_asked = (wish.size and not self._is_made_smaller) or "training.n_steps" in wish.settings
        if is_asked or self.begin is not None:
            return None
        usual = usual_size(self.facts.n_characters)
        size = smaller_size(plan, wish.size or usual, self.facts)
        self._is_made_smaller = True
        return None if size is None else replace(wish, size=size)

    _is_made_smaller = False

    def prepare(self, plan: FillPlan, folder: Path, tell: Tell) -> None:
        """The vocabulary, all tokens in one row on disk, and the gaps to validate with."""
        begin = self.begin
        self.tokenizer, self.tokens = write_tokens(
            self.corpus,
            folder,
            lambda: begin.tokenizer if begin else self._learn(plan, tell),
        )
        self.facts = replace(self.facts, n_tokens=self.tokenizer.n_tokens)
        texts = beginning_of(self.corpus.validation, N_VALIDATED)
        self.hidden = hide_tokens(self.tokenizer, texts, n_rounds=1)

    def _learn(self, plan: FillPlan, tell: Tell) -> Tokenizer:
        kind = _kind(plan)
        return learn_vocabulary(self.corpus, kind, plan.n_vocabulary, tell, has_mask=True)

    def batches(self, plan: FillPlan) -> BatchesOf[GapBatch]:
        """Windows of the row, with gaps."""
        windows = Windows(self.tokens, plan.n_text, plan.n_rows, plan.training.seed)
        pieces = self.tokenizer.tokens(range(self.tokenizer.n_tokens))
        begins = words_begin(pieces) if plan.has_whole_words else None
        ordinary = ordinary_tokens(self.tokenizer)
        hider = Hider(self.tokenizer.mask, ordinary, plan.hidden, begins)
        frame = Framing.of(self.tokenizer)
        found = GapBatches(windows, hider, (frame.first, frame.last))
        self.facts = replace(self.facts, n_batches=found.n_batches(0))
        return found

    def build(self, plan: FillPlan) -> Bert:
        """An encoder by itself."""
        model = Bert(plan.model)
        if self.begin is not None:
            put_weights(model, dict(self.begin.model.named_parameters()), Path("--from"))
        else:
            look_around(model)
        return model

    def loss(
        self, model: Model, plan: FillPlan
    ) -> Callable[[GapBatch], tuple[Tensor, Tensor, int]]:
        """Cross-entropy of what is hidden; nothing else is compared with the vocabulary."""
        bert, device = cast(Bert, model), next(model.parameters()).device
        output = cast(FillScores, bert.output)

        def loss(batch: GapBatch) -> tuple[Tensor, Tensor, int]:
            batch = batch.to(device)
            x = output.work(bert.read(batch.inputs)[batch.is_hidden][None])
            targets = batch.targets[batch.is_hidden][None]
            is_token = torch.ones_like(targets, dtype=torch.bool)
            scores = output.scores
            both = smoothed_loss(x, scores.weight, targets, is_token, bias=scores.bias)
            return *both, batch.n_tokens

        return loss

    def validate(self, model: Model, plan: FillPlan) -> dict[str, Any]:
        """How many tokens of the validation texts are guessed, and three of them to look at."""
        begin = time.perf_counter()
        found = guess_gaps(cast(Bert, model), self.tokenizer, self.hidden, plan.context)
        return {
            "score": found.accuracy,
            "measure": "accuracy of hidden tokens, %",
            "told": f"accuracy {found.accuracy:.1f} %, perplexity {found.perplexity:.1f}",
            "loss": found.loss,
            "samples": self.samples(cast(Bert, model), N_SAMPLES),
            "seconds": time.perf_counter() - begin,
        }

    def samples(self, model: Bert, n_samples: int) -> list[dict[str, str]]:
        """Lines of the validation texts with a word hidden, as they were, and as they became."""
        filler = Filler(model, self.tokenizer, {})
        lines = self._lines(self.corpus.validation, n_samples)
        return [
            {"source": source, "reference": whole, "answer": filler(source).text}
            for source, whole, _ in lines
        ]

    def show_gaps(self, model: Bert) -> str:
        """Lines of the test texts with a gap, and what the model holds likely there, as HTML."""
        filler = Filler(model, self.tokenizer, {})
        rows = []
        for source, _, word in self._lines(self.corpus.test, N_SHOWN):
            told = [
                f"{isolate(each.text.strip())} {say_share(each.probability)}"
                for each in filler(source).gaps[0]
            ]
            rows.append((isolate(source), f"<b>{isolate(word)}</b>", ", ".join(told)))
        return table(("text", "hidden", "what the model holds likely"), rows) if rows else ""

    def _lines(self, texts: Sequence[str], n_lines: int) -> list[tuple[str, str, str]]:
        """Some lines with a word hidden that is one token, as they were, and the words."""
        found: dict[str, tuple[str, str, str]] = {}
        for line in islice((line for text in texts for line in text.splitlines()), N_SEARCHED):
            words = line.strip().split(" ")
            if not MIN_WORDS <= len(words) <= MAX_WORDS or MASK in line:
                continue
            # Neither the first nor the last, and not the same one in each line.
            place = 1 + len(found) % (len(words) - 2)
            if words[place].isalpha() and len(self.tokenizer.encode(words[place])) == 1:
                hidden = " ".join([*words[:place], MASK, *words[place + 1 :]])
                found.setdefault(line.strip(), (hidden, line.strip(), words[place]))
        some = list(found.values())
        return some[:: max(1, len(some) // n_lines)][:n_lines]


def _kind(plan: FillPlan) -> Kind:
    if plan.tokenizer == "foreign":
        raise ConfigError("tokenizer=foreign comes with a model: give --from")
    return plan.tokenizer
