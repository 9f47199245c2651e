"""Parameters, operations and cache of every block."""

from clearhead.models import Model
from clearhead.observe.cost import costs
from clearhead.observe.drawing import Picture, columns, table_svg

__all__ = ["cost_view"]


def cost_view(model: Model, n_source: int, n_target: int = 0, n_scored: int = 1) -> Picture:
    """Parameters, operations and cache of every block, for one sentence."""
    found = costs(model, n_source, n_target, n_scored)
    title = f"Cost: {n_source} tokens read"
    note = "operations in millions"
    names = {"n_parameters": "parameters", "read": "read"}
    if n_target:
        title += f", {n_target} written"
        note += "; a step is the last one, with and without the cache"
        names |= {"step": "step", "step_without": "without cache", "cache_bytes": "cache bytes"}
    table = [["part", *names.values()]]
    rows = [(cost.part, [getattr(cost, name) for name in names]) for cost in found]
    rows.append(("all", [sum(column) for column in zip(*(row for _, row in rows), strict=True)]))
    for part, numbers in rows:
        told = [
            f"{x:,}" if name in ("n_parameters", "cache_bytes") else f"{x / 1e6:.2f}"
            for name, x in zip(names, numbers, strict=True)
        ]
        table.append([part, *told])
    return Picture(
        title,
        table_svg(table, title=title, note=note),
        f"{title}\n{note}\n\n{columns(table, right=range(1, len(table[0])))}",
        {"parts": [vars(cost) for cost in found]},
    )
