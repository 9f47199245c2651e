"""Parameters, operations and cache of every block."""

from collections.abc import Sequence

from clearhead.models import Transformer
from clearhead.observe.cost import Cost, costs
from clearhead.observe.drawing import Picture, columns, table_svg

__all__ = ["cost_view", "encoder_cost_view"]


def cost_view(model: Transformer, n_source: int, n_target: int) -> Picture:
    """Parameters, operations and cache of every block, for one sentence."""
    found = costs(model, n_source, n_target)
    title = f"Cost: {n_source} tokens read, {n_target} written"
    note = "operations in millions; a step is the last one, with and without the cache"
    table = [["part", "parameters", "read", "step", "without cache", "cache bytes"]]
    names = ("n_parameters", "read", "step", "step_without", "cache_bytes")
    rows = [(cost.part, [getattr(cost, name) for name in names]) for cost in found]
    rows.append(("all", [sum(column) for column in zip(*(row for _, row in rows), strict=True)]))
    for part, (n, *operations, kept) in rows:
        table.append([part, f"{n:,}", *(f"{x / 1e6:.2f}" for x in operations), f"{kept:,}"])
    return Picture(
        title,
        table_svg(table, title=title, note=note),
        f"{title}\n{note}\n\n{columns(table, right=range(1, 6))}",
        {"parts": [vars(cost) for cost in found]},
    )


def encoder_cost_view(found: Sequence[Cost], n_positions: int, what: str) -> Picture:
    """Parameters and operations of every block of an encoder, for one input; `what` it reads."""
    title = f"Cost: {n_positions} vectors read"
    note = f"{what}; operations in millions"
    total = [sum(values) for values in zip(*((c.n_parameters, c.read) for c in found), strict=True)]
    rows = [*((cost.part, cost.n_parameters, cost.read) for cost in found), ("all", *total)]
    table = [["part", "parameters", "operations"]]
    table += [[part, f"{n:,}", f"{read / 1e6:.2f}"] for part, n, read in rows]
    return Picture(
        title,
        table_svg(table, title=title, note=note),
        f"{title}\n{note}\n\n{columns(table, right=(1, 2))}",
        {"parts": [vars(cost) for cost in found]},
    )
