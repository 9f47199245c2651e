"""How large vectors are before and after each norm."""

import torch

from clearhead.observe.drawing import Picture, columns, table_svg
from clearhead.observe.forced import Forced
from clearhead.observe.watch import watch

__all__ = ["norms_view"]


@torch.no_grad()
def norms_view(pair: Forced) -> Picture:
    """How large the vectors are before and after each norm: mean and spread of their numbers."""
    names = [name for name in pair.model.points() if name.endswith(("norm.input", "norm.output"))]
    with watch(pair.model, *names) as seen:
        pair.log_probs()
    rows = []
    for name in names:
        x = seen.steps(name)[0].tensor.float()
        rows.append((name, float(x.mean()), float(x.std(-1).mean()), float(x.abs().max())))
    title = "Norms: what goes in, and what comes out"
    note = "mean of all numbers, their spread within a vector, and the largest"
    table = [["point", "mean", "spread", "largest"]]
    table += [[name, *(f"{n:z.2f}" for n in numbers)] for name, *numbers in rows]
    return Picture(
        title,
        table_svg(table, title=title, note=note),
        f"{title}\n{note}\n\n{columns(table, right=(1, 2, 3))}",
        {"rows": [dict(zip(table[0], row, strict=True)) for row in rows]},
    )
