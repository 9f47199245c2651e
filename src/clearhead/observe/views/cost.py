"""Parameters, operations and cache of every block."""

from clearhead.models import Bert, Transformer
from clearhead.observe.cost import costs, reading_costs
from clearhead.observe.drawing import Picture, columns, table_svg

__all__ = ["cost_view", "reading_cost_view"]


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


def reading_cost_view(model: Bert, n_tokens: int, n_scored: int = 0) -> Picture:
    """Parameters and operations of every block of an encoder, for one text."""
    found = reading_costs(model, n_tokens, n_scored)
    title = f"Cost: {n_tokens} tokens read"
    note = "operations in millions"
    rows = [(cost.part, cost.n_parameters, cost.read) for cost in found]
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    table = [["part", "parameters", "read"]]
    table += [[part, f"{n:,}", f"{read / 1e6:.2f}"] for part, n, read in rows]
    return Picture(
        title,
        table_svg(table, title=title, note=note),
        f"{title}\n{note}\n\n{columns(table, right=(1, 2))}",
        {"parts": [vars(cost) for cost in found]},
    )
