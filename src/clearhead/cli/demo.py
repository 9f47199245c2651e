"""The demo: a small untrained Transformer, shown from tokens to attention weights."""

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor
from torch.nn import functional as F

from clearhead.layers.tap import Tap, listen
from clearhead.models import Transformer, TransformerConfig

__all__ = ["show_demo"]

PAIRS = [
    ("How are you ?", "आप कैसे हैं ?"),
    ("I like eating ice-cream", "मुझे आइसक्रीम खाना पसंद है"),
    ("We are friends", "हम दोस्त हैं"),
    ("money bank grows", "पैसा बैंक बढ़ता है"),
    ("river bank flows", "नदी तट बहता है"),
]
SPECIALS = ["<pad>", "<bos>", "<eos>"]
UNTRAINED = "[yellow]untrained: random weights[/yellow]"


def show_demo(seed: int) -> None:
    """Build the model, run the sentences through it, and print what happened."""
    console = Console(highlight=False)
    torch.manual_seed(seed)
    words = SPECIALS + sorted({word for pair in PAIRS for side in pair for word in side.split()})
    model = Transformer(TransformerConfig.preset("tiny", len(words))).eval()
    source = _batch([f"{english} <eos>" for english, _ in PAIRS], words)
    target_in = _batch([f"<bos> {hindi}" for _, hindi in PAIRS], words)

    seen: dict[str, Tensor] = {}
    with torch.no_grad(), listen(_recorders(model, seen)):
        model(source, target_in)

    console.print(f"[bold]A Transformer, tiny[/bold] · {UNTRAINED} (seed {seed})\n")
    console.print(_parameter_table(model))
    console.print(_shape_table(model, seen))
    _show_cross_attention(console, seen)
    _show_two_banks(console, seen)
    console.print(
        f"\n{len(model.points())} places in this model can be watched; "
        "`model.points()` names them all.\nTry next: clearhead --help · make test · docs/map.md"
    )


def _recorders(model: Transformer, seen: dict[str, Tensor]) -> dict[Tap, "_Recorder"]:
    taps = {name: module for name, module in model.named_modules() if isinstance(module, Tap)}
    return {tap: _Recorder(name, seen) for name, tap in taps.items()}


class _Recorder:
    """Write down what passes a place, and pass it on."""

    def __init__(self, name: str, seen: dict[str, Tensor]) -> None:
        self.name, self.seen = name, seen

    def __call__(self, value: Tensor) -> Tensor:
        self.seen[self.name] = value
        return value


def _batch(sentences: list[str], words: list[str]) -> Tensor:
    rows = [torch.tensor([words.index(word) for word in s.split()]) for s in sentences]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)


def _parameter_table(model: Transformer) -> Table:
    table = Table("part", "parameters", title="Parameters", title_justify="left")
    table.columns[1].justify = "right"
    for name in ("source_embedding", "encoder", "decoder"):
        part = model.get_submodule(name)
        label = "embedding (shared, and the output)" if name == "source_embedding" else name
        table.add_row(label, f"{sum(p.numel() for p in part.parameters()):,}")
    table.add_row("[bold]in all[/bold]", f"[bold]{model.n_parameters:,}[/bold]")
    return table


def _shape_table(model: Transformer, seen: dict[str, Tensor]) -> Table:
    table = Table("place", "axes", "shape", title="The way through the model", title_justify="left")
    axes = model.points()
    for name in (
        "source_embedding.vectors",
        "source_positions.vectors",
        "encoder.blocks.0.self_attention.q",
        "encoder.blocks.0.self_attention.weights",
        "encoder.blocks.0.feed_forward.hidden",
        "encoder.blocks.3.feed_forward.output",
        "decoder.blocks.0.self_attention.weights",
        "decoder.blocks.0.cross_attention.weights",
        "output.logits",
    ):
        table.add_row(name, axes[name], " × ".join(map(str, seen[name].shape)))
    return table


def _show_cross_attention(console: Console, seen: dict[str, Tensor]) -> None:
    """Which English word each Hindi word reads, in one head."""
    english, hindi = (side.split() for side in PAIRS[1])
    weights = seen["decoder.blocks.0.cross_attention.weights"][1, 0]
    columns = [*english, "<eos>"]
    table = Table("", *columns, title_justify="left")
    table.title = f"Cross-attention of {' '.join(english)}, block 0, head 0 · {UNTRAINED}"
    for column in table.columns[1:]:
        column.justify = "right"
    for row, word in zip(weights, ["<bos>", *hindi], strict=False):
        table.add_row(word, *(f"{weight:.2f}" for weight in row[: len(columns)].tolist()))
    console.print(table)


def _show_two_banks(console: Console, seen: dict[str, Tensor]) -> None:
    """One static vector for *bank*, two contextual ones."""
    money, river = 3, 4  # rows of PAIRS; *bank* is the second word of both
    console.print(f"[bold]One word, two contexts[/bold] · {UNTRAINED}")
    for row in (money, river):
        words = PAIRS[row][0].split()
        weights = seen["encoder.blocks.0.self_attention.weights"][row, 0, 1]
        mixture = " + ".join(
            f"{w:.2f}·{word}" for w, word in zip(weights.tolist(), words, strict=False)
        )
        console.print(f"  {' '.join(words):18} bank′ = {mixture} + {weights[3]:.2f}·<eos>")
    static = seen["source_embedding.vectors"][[money, river], 1]
    contextual = seen["encoder.blocks.3.feed_forward_residual.norm.output"][[money, river], 1]
    for name, (one, other) in (("static", static), ("contextual", contextual)):
        similarity = F.cosine_similarity(one, other, dim=0)
        console.print(f"  cosine of the two {name} vectors of bank: {similarity:.3f}")
