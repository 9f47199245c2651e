"""How fast the bricks are: the base model's stacks beside `torch.nn.Transformer`.

    python benchmarks/layers.py [--quick] [--json FILE]
    python benchmarks/layers.py --crossover      where the fused attention kernel begins to win

Both sides get the same embedded sentences, the same padding and causal masks, and dropout 0.1. Our
dropout is where the paper has it; torch's layers drop attention weights and hidden numbers too, so
one row has ours do the same.
"""

import sys
from collections.abc import Callable
from functools import partial

import torch
from measure import Figure, arguments, report, take_turns
from torch import Tensor, nn

from clearhead.config import BlockConfig
from clearhead.layers import Decoder, Encoder, MultiHeadAttention, attention, masks

Run = Callable[[Tensor, Tensor], Tensor]

# Batch × length. Larger products of the two need more memory than an ordinary machine has.
SHAPES = [(1, n) for n in (8, 25, 64, 128, 256, 512)]
SHAPES += [(8, n) for n in (8, 25, 64, 128, 256, 512)]
SHAPES += [(32, n) for n in (8, 25, 64, 128)] + [(128, n) for n in (8, 25)]
QUICK_SHAPES = [(1, 8), (1, 128), (128, 8)]


def ours(changes: dict[str, float]) -> nn.ModuleList:
    """Encoder and decoder of the base model."""
    config = BlockConfig().override(changes)
    return nn.ModuleList([Encoder(config, 6), Decoder(config, 6)])


def run_ours(model: nn.ModuleList) -> Run:
    """Run our two stacks as the model does."""
    encoder, decoder = model

    def run(source: Tensor, target: Tensor) -> Tensor:
        is_readable = masks.padding(torch.ones(source.shape[:2], dtype=torch.bool))
        return decoder(target, encoder(source, is_readable), is_readable)

    return run


def run_torch(model: nn.Transformer) -> Run:
    """Run torch's model with the masks of the same meaning (there, True forbids)."""

    def run(source: Tensor, target: Tensor) -> Tensor:
        is_padding = torch.zeros(source.shape[:2], dtype=torch.bool)
        later = ~masks.causal(target.shape[1])[0, 0]
        return model(
            source,
            target,
            tgt_mask=later,
            src_key_padding_mask=is_padding,
            memory_key_padding_mask=is_padding,
            tgt_is_causal=True,
        )

    return run


def training(model: nn.Module, run: Run, source: Tensor, target: Tensor) -> Callable[[], None]:
    """Forward and backward, gradients included."""
    model.train()

    def step() -> None:
        model.zero_grad(set_to_none=True)
        run(source, target).sum().backward()

    return step


def forward(model: nn.Module, run: Run, source: Tensor, target: Tensor) -> Callable[[], None]:
    """Forward alone, as in inference."""
    model.eval()

    def step() -> None:
        with torch.no_grad():
            run(source, target)

    return step


def in_bfloat16(step: Callable[[], None]) -> Callable[[], None]:
    """The same under autocast."""

    def run() -> None:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            step()

    return run


def has_fast_bfloat16() -> bool:
    """Whether products in bfloat16 are faster here than in float32."""
    wide, narrow = torch.randn(256, 512), torch.randn(256, 512).bfloat16()
    times = take_turns({"wide": lambda: wide @ wide.T, "narrow": lambda: narrow @ narrow.T}, 0.2)
    return times.median("narrow") < times.median("wide")


def compare(quick: bool) -> list[Figure]:
    """All figures of the table."""
    peer = nn.Transformer(dropout=0.1, batch_first=True)
    model = ours({})
    everywhere = ours({"attention_dropout": 0.1, "hidden_dropout": 0.1})
    source, target = torch.randn(32, 25, 512), torch.randn(32, 25, 512)

    train_torch = training(peer, run_torch(peer), source, target)
    train_ours = training(model, run_ours(model), source, target)
    train_everywhere = training(everywhere, run_ours(everywhere), source, target)
    times = take_turns(
        {"torch": train_torch, "ours": train_ours, "everywhere": train_everywhere},
        12 if quick else 60,
    )
    rows = 32 if has_fast_bfloat16() else 2  # without such products a step takes a minute
    source, target = source[:rows], target[:rows]
    halved = take_turns(
        {
            "torch": training(peer, run_torch(peer), source, target),
            "ours": in_bfloat16(training(model, run_ours(model), source, target)),
        },
        6 if quick else 30,
    )
    figures = [
        _figure(times.speed_up("ours", "torch"), "training 32 × 25, float32", 1.1),
        _figure(halved.speed_up("ours", "torch"), f"training {rows} × 25, bfloat16 / float32", 2.2),
        _figure(
            times.speed_up("everywhere", "torch"), "training 32 × 25, dropout everywhere", None
        ),
    ]
    for rows, length in QUICK_SHAPES if quick else SHAPES:
        source, target = torch.randn(rows, length, 512), torch.randn(rows, length, 512)
        for name, job in (("training", training), ("forward", forward)):
            candidates = {
                "torch": job(peer, run_torch(peer), source, target),
                "ours": job(model, run_ours(model), source, target),
            }
            times = take_turns(candidates, 4 if quick else 15)
            figures.append(
                _figure(times.speed_up("ours", "torch"), f"{name} {rows} × {length}", 1.0)
            )
    return figures


def _figure(ratio: tuple[float, str], name: str, bar: float | None) -> Figure:
    print(f"{name}: {ratio[0]:.2f} ({ratio[1]})", file=sys.stderr, flush=True)
    return Figure(name, ratio[0], "× torch", bar, ratio[1])


def crossover(quick: bool) -> list[Figure]:
    """Explicit beside fused attention by length: above 1, the fused kernel is faster."""
    layer = MultiHeadAttention(512, 8)
    figures = []
    for rows, length in [(1, 32), (8, 64), (8, 256)] if quick else SHAPES:
        x, mask = torch.randn(rows, length, 512), masks.causal(length)
        for name, job in (("training", training), ("forward", forward)):
            run = job(layer, lambda x, mask: layer(x, may_attend=mask), x, mask)
            candidates = {"explicit": partial(_go, False, run), "fused": partial(_go, True, run)}
            times = take_turns(candidates, 0.5 if quick else 3)
            ratio = times.speed_up("fused", "explicit")
            figures.append(_figure(ratio, f"{name} {rows} × {length}", None))
    return figures


def _go(is_fused: bool, run: Callable[[], None]) -> None:
    attention.is_fused_faster = lambda q, k: is_fused
    run()


def main() -> None:
    """Measure, print, and write."""
    parser = arguments("The bricks beside torch.nn.Transformer.")
    parser.add_argument("--crossover", action="store_true", help="fused beside explicit attention")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    measure = crossover if options.crossover else compare
    report("Speed of the bricks (base model)", measure(options.quick), options.json)


if __name__ == "__main__":
    main()
