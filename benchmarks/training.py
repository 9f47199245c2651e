"""How fast training is: our step beside `torch.nn.Transformer` and Hugging Face's Marian.

    python benchmarks/training.py [--quick] [--json FILE] [--precision bfloat16]

A step is forward, backward, clipping and Adam, with dropout 0.1 and label smoothing 0.1. All have
the same shape, read the same batches, and take turns; the ratios are taken batch by batch.

- Ours: the loss in chunks on real tokens, fused Adam; in float32, and in bfloat16 where a short
  probe finds such products faster. The bars assume a processor where they are.
- `nn.Transformer` in float32 as people write it: tied output, `F.cross_entropy`, default Adam. Its
  layers drop attention weights and hidden numbers too, so one row has ours do the same.
- Marian in float32: the same `F.cross_entropy`, with the fused Adam of Hugging Face's trainer.

Speed is nothing if less is learnt. So our step learns a part of the phrasebook, beside the same
model in float32 whose loss is computed from all logits at once; the results may differ by no more
than those of other seeds do. Peak memory is that of a new process for each candidate; the average
of the weights, which `clearhead train` keeps besides, is as large as they are.
"""

import multiprocessing
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import chain, cycle, islice
from typing import NamedTuple, cast

import numpy as np
import torch
from corpus import peak_memory
from layers import has_fast_bfloat16
from measure import Figure, Times, arguments, report, take_turns
from torch import Tensor, nn
from torch.nn import functional as F

from clearhead.data.batches import Batch, evaluation_batches
from clearhead.data.phrasebook import phrasebook
from clearhead.layers import masks
from clearhead.layers.positions import sinusoids
from clearhead.models import Transformer, TransformerConfig
from clearhead.text import Tokenizer
from clearhead.text.normal import PAD
from clearhead.training import smoothed_loss

Loss = Callable[[Batch], Tensor]
Maker = partial["Candidate"]

SMOOTHING = 0.1
DROPOUT = 0.1
N_VOCABULARY = 16_000
BARS = {"base": (2.6, 2.0), "small": (2.4, 1.8)}
"""How many times as fast as nn.Transformer and as Marian."""
MAX_LENGTH = 128
N_HELD_OUT = 500


class Candidate(NamedTuple):
    """Something that can be trained: its loss is the mean over the real tokens of a batch."""

    model: nn.Module
    loss: Loss
    optimizer: torch.optim.Optimizer
    precision: str = "float32"


class TorchTransformer(nn.Module):
    """`nn.Transformer` between an embedding with positions and the tied output."""

    positions: Tensor

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        block = config.block
        self.d_model = block.d_model
        self.embedding = nn.Embedding(config.n_source_tokens, block.d_model)
        nn.init.normal_(self.embedding.weight, std=block.d_model**-0.5)
        self.register_buffer("positions", sinusoids(MAX_LENGTH, block.d_model))
        self.dropout = nn.Dropout(block.dropout)
        sizes = block.d_model, block.n_heads, config.n_encoder_layers, config.n_decoder_layers
        self.transformer = nn.Transformer(*sizes, block.d_ff, block.dropout, batch_first=True)

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Logits of all positions, padding included (in torch's masks, True forbids)."""
        is_padding = source == PAD
        x = self.transformer(
            self._embed(source),
            self._embed(target_in),
            tgt_mask=~masks.causal(target_in.shape[1])[0, 0],
            src_key_padding_mask=is_padding,
            tgt_key_padding_mask=target_in == PAD,
            memory_key_padding_mask=is_padding,
        )
        return F.linear(x, self.embedding.weight)

    def _embed(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens) * self.d_model**0.5
        return self.dropout(x + self.positions[: tokens.shape[1]])


def ours(config: TransformerConfig, precision: str = "float32") -> Candidate:
    """Our model and our loss."""
    model = Transformer(config)

    def loss(batch: Batch) -> Tensor:
        x = model.read(batch.source, batch.target_in)
        is_token = batch.target_out != PAD
        summed, _ = smoothed_loss(x, model.output.weight, batch.target_out, is_token, SMOOTHING)
        return summed / batch.n_target_tokens

    return Candidate(model, loss, _adam(model, fused=True), precision)


def ours_plainly(config: TransformerConfig) -> Candidate:
    """Our model in float32, with the loss from all logits at once."""
    model = Transformer(config)
    return Candidate(model, partial(_plain_loss, model), _adam(model, fused=True))


def torchs(config: TransformerConfig, precision: str = "float32") -> Candidate:
    """torch's own layers."""
    model = TorchTransformer(config)
    return Candidate(model, partial(_plain_loss, model), _adam(model), precision)


def marian(config: TransformerConfig) -> Candidate:
    """Hugging Face's Transformer, of the same shape."""
    from transformers import MarianConfig, MarianMTModel

    block = config.block
    model = MarianMTModel(
        MarianConfig(
            vocab_size=config.n_source_tokens,
            d_model=block.d_model,
            encoder_layers=config.n_encoder_layers,
            decoder_layers=config.n_decoder_layers,
            encoder_ffn_dim=block.d_ff,
            decoder_ffn_dim=block.d_ff,
            encoder_attention_heads=block.n_heads,
            decoder_attention_heads=block.n_heads,
            max_position_embeddings=MAX_LENGTH,
            activation_function="relu",
            dropout=block.dropout,
            scale_embedding=True,
            pad_token_id=PAD,
            decoder_start_token_id=PAD,
            forced_eos_token_id=None,
        )
    )

    def logits(source: Tensor, target_in: Tensor) -> Tensor:
        is_token = (source != PAD).long()
        return model(source, is_token, decoder_input_ids=target_in, use_cache=False).logits

    return Candidate(model, partial(_plain_loss, logits), _adam(model, fused=True))


def _plain_loss(logits: Callable[[Tensor, Tensor], Tensor], batch: Batch) -> Tensor:
    return F.cross_entropy(
        logits(batch.source, batch.target_in).flatten(0, 1),
        batch.target_out.flatten(),
        ignore_index=PAD,
        label_smoothing=SMOOTHING,
    )


def _adam(model: nn.Module, fused: bool | None = None) -> torch.optim.Adam:
    return torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=fused)


def has_marian() -> bool:
    """Whether Hugging Face's library is there to compare with."""
    return find_spec("transformers") is not None


def step(candidate: Candidate, batch: Batch) -> None:
    """Forward, backward, clipping and Adam."""
    model, loss, optimizer, precision = candidate
    with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16"):
        value = loss(batch)
    value.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def made_batches(n_tokens: int, n_vocabulary: int) -> list[Batch]:
    """Random sentences of 25 ± 10 tokens, in shuffled batches of like lengths."""
    random = np.random.default_rng(0)
    n_pairs = 3 * n_tokens  # so that 5 to 10 % of the places are padding
    sources = np.clip(random.normal(25, 10, n_pairs), 3, 80).astype(int)
    targets = np.clip(sources * random.normal(1, 0.15, n_pairs), 3, 80).astype(int)
    pairs = [
        (random.integers(4, n_vocabulary, source), random.integers(4, n_vocabulary, target))
        for source, target in zip(sources, targets, strict=True)
    ]
    return _shuffled(evaluation_batches(pairs, n_tokens))


def race(
    config: TransformerConfig, batches: Sequence[Batch], precisions: Sequence[str], seconds: float
) -> tuple[Times, dict[str, float]]:
    """Let all take turns, a batch in each; return the times, and the median tokens/s."""
    makers: dict[str, Maker] = {"nn.Transformer": partial(torchs, config)}
    if has_marian():
        makers["Marian"] = partial(marian, config)
    for precision in precisions:
        makers[f"ours in {precision}"] = partial(ours, config, precision)
    dropped = config.override({"block.attention_dropout": DROPOUT, "block.hidden_dropout": DROPOUT})
    makers[f"ours in {precision}, dropout as torch's"] = partial(ours, dropped, precision)
    if "bfloat16" in precisions:
        makers["nn.Transformer in bfloat16"] = partial(torchs, config, "bfloat16")
    times = take_turns({name: _turns(make(), batches) for name, make in makers.items()}, seconds)
    speeds = {}
    for name, taken in times.seconds.items():
        used = islice(cycle(batches), 1, None)  # the first was not measured
        speeds[name] = statistics.median(
            batch.n_target_tokens / second for second, batch in zip(taken, used, strict=False)
        )
    return times, speeds


def _turns(candidate: Candidate, batches: Sequence[Batch]) -> Callable[[], None]:
    """A step on the next batch at each call."""
    candidate.model.train()
    ahead = cycle(batches)
    return lambda: step(candidate, next(ahead))


def compare_speed(
    name: str, config: TransformerConfig, n_tokens: int, precisions: Sequence[str], seconds: float
) -> list[Figure]:
    """The figures of one size; the bars are for the precision that proves the faster."""
    batches = made_batches(n_tokens, config.n_source_tokens)
    times, speeds = race(config, batches, precisions, seconds)
    best = min((f"ours in {each}" for each in precisions), key=times.median)
    figures = []
    for peer, bar in zip(("nn.Transformer", "Marian"), BARS.get(name, (None, None)), strict=True):
        if peer in times.seconds:
            ratio, spread = times.speed_up(best, peer)
            figures.append(Figure(f"{name}, {best} / {peer}", ratio, "×", bar, spread))
    for other in times.seconds:
        if other not in (best, "nn.Transformer", "Marian"):
            ratio, spread = times.speed_up(other, "nn.Transformer")
            figures.append(Figure(f"{name}, {other} / nn.Transformer", ratio, "×", None, spread))
    for each, speed in speeds.items():
        figures.append(Figure(f"{name}, {each}", speed, "tokens/s"))
    n_padding = sum(batch.n_padding for batch in batches)
    n_places = sum(batch.source.numel() + batch.target_out.numel() for batch in batches)
    title = f"{name}, padding in batches of {n_tokens:,} tokens"
    return [*figures, Figure(title, 100 * n_padding / n_places, "%")]


def phrasebook_batches(n_tokens: int) -> tuple[list[Batch], list[Batch], int]:
    """Training batches, held-out batches, and the size of the vocabulary."""
    pairs = phrasebook(0)
    tokenizer = Tokenizer.train(chain.from_iterable(pairs), "bpe", 4000)
    encoded = [(tokenizer.encode(source), tokenizer.encode(target)) for source, target in pairs]
    held_out = list(evaluation_batches(encoded[:N_HELD_OUT], n_tokens))
    batches = _shuffled(evaluation_batches(encoded[N_HELD_OUT:], n_tokens))
    return batches, held_out, tokenizer.n_tokens


def learn(candidate: Candidate, batches: Sequence[Batch], n_steps: int) -> Transformer:
    """Train for some steps, with a rate that rises to 0.001 in the first fifth of them."""
    candidate.model.train()
    for number, batch in enumerate(islice(cycle(batches), n_steps), start=1):
        candidate.optimizer.param_groups[0]["lr"] = 1e-3 * min(1, 5 * number / n_steps)
        step(candidate, batch)
    return cast(Transformer, candidate.model)


def loss_of(model: Transformer, batches: Sequence[Batch]) -> float:
    """Nats a token in eval mode, in float32 and without smoothing."""
    model.eval()
    total = 0.0
    with torch.no_grad():
        for batch in batches:
            x, is_token = model.read(batch.source, batch.target_in), batch.target_out != PAD
            total += float(smoothed_loss(x, model.output.weight, batch.target_out, is_token)[1])
    return total / sum(batch.n_target_tokens for batch in batches)


def compare_learning(
    size: str, n_steps: int, n_seeds: int, precision: str, n_tokens: int = 1024
) -> list[Figure]:
    """The loss after some steps of ours, beside plain float32 with the same and other seeds."""
    batches, held_out, n_vocabulary = phrasebook_batches(n_tokens)
    config = _config(size, n_vocabulary)

    def loss_after(make: Maker, seed: int) -> float:
        torch.manual_seed(seed)
        return loss_of(learn(make(), batches, n_steps), held_out)

    plain = [loss_after(partial(ours_plainly, config), seed) for seed in range(n_seeds + 1)]
    fast = loss_after(partial(ours, config, precision), 0)
    noise, difference = max(plain) - min(plain), abs(fast - plain[0])
    title, seeds = f"{size}, loss after {n_steps} steps", f"{min(plain):.4f}–{max(plain):.4f}"
    return [
        Figure(f"{title}, plain float32", plain[0], "nats", spread=seeds),
        Figure(f"{title}, ours in {precision}", fast, "nats"),
        Figure(
            f"{title}, our difference",
            1000 * difference,
            "nats/1000",
            round(1000 * noise, 2),
            is_limit=True,
        ),
    ]


def compare_memory(
    name: str, config: TransformerConfig, n_tokens: int, precision: str, n_steps: int
) -> list[Figure]:
    """Peak memory of each candidate's steps, in a process of its own."""
    makers: dict[str, Maker] = {f"ours in {precision}": partial(ours, config, precision)}
    if has_marian():
        makers["Marian"] = partial(marian, config)
    figures = []
    for who, make in makers.items():
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            todo = (make, config.n_source_tokens, n_tokens, n_steps, torch.get_num_threads())
            before, peak = pool.submit(_peak_of, *todo).result()
        note = f"libraries {before:.2f}"
        figures.append(Figure(f"{name}, peak memory, {who}", peak, "GB", spread=note))
    if has_marian():
        ratio = figures[0].value / figures[1].value
        figures.append(Figure(f"{name}, peak memory, ours / Marian", ratio, "×", 1, is_limit=True))
    return figures


def _peak_of(
    make: Maker, n_vocabulary: int, n_tokens: int, n_steps: int, n_threads: int
) -> tuple[float, float]:
    """Train for some steps; return the peak after the imports and after the steps, in GB."""
    torch.set_num_threads(n_threads)
    if make.func is marian:
        import_module("transformers.models.marian.modeling_marian")
    before = peak_memory()
    candidate = make()
    candidate.model.train()
    for batch in made_batches(n_tokens, n_vocabulary)[:n_steps]:
        step(candidate, batch)
    return before, peak_memory()


def _shuffled(batches: Iterator[Batch]) -> list[Batch]:
    made = list(batches)
    return [made[i] for i in np.random.default_rng(0).permutation(len(made))]


def _config(size: str, n_vocabulary: int) -> TransformerConfig:
    return TransformerConfig.preset(size, n_vocabulary, **{"block.dropout": DROPOUT, "pad": PAD})


def measure(quick: bool, precision: str) -> list[Figure]:
    """All figures of the table."""
    if precision == "auto":
        precision = "bfloat16" if has_fast_bfloat16() else "float32"
    precisions = list(dict.fromkeys(["float32", precision]))
    n_tokens = 512 if quick else 2048
    figures = []
    for size, seconds in {"base": 12, "small": 6}.items():
        config, seconds = _config(size, N_VOCABULARY), seconds if quick else 20 * seconds
        figures += _tell(compare_speed(size, config, n_tokens, precisions, seconds))
    n_steps, n_seeds = (60, 2) if quick else (300, 3)
    figures += _tell(compare_learning("tiny", n_steps, n_seeds, precision))
    base, n_steps = _config("base", N_VOCABULARY), 3 if quick else 10
    return figures + _tell(compare_memory("base", base, n_tokens, precision, n_steps))


def _tell(figures: list[Figure]) -> list[Figure]:
    for figure in figures:
        print(f"{figure.name}: {figure.value:.2f} {figure.unit}", file=sys.stderr, flush=True)
    return figures


def main() -> None:
    """Measure, print, and write."""
    parser = arguments("Training beside torch.nn.Transformer and Hugging Face's Marian.")
    parser.add_argument(
        "--precision",
        choices=["auto", "float32", "bfloat16"],
        default="auto",
        help="of our step beside float32 (auto: bfloat16 where a probe finds it faster)",
    )
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    if not has_marian():
        print("transformers is not installed: no rows for Marian (pip install '.[oracles]')")
    report("Speed of training", measure(options.quick, options.precision), options.json)


if __name__ == "__main__":
    main()
