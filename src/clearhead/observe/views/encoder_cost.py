"""Parameters and operations of an encoder by itself, part by part."""

from clearhead.models import Bert
from clearhead.observe.drawing import Picture, columns, table_svg

__all__ = ["encoder_cost_view"]


def encoder_cost_view(model: Bert, n_tokens: int) -> Picture:
    """Of every block and of what is around them, for one text."""
    config = model.config
    d = config.d_model
    # Queries, keys, values and the output; the two halves of the feed-forward; weights and sums.
    per_token = 2 * (4 * d * d + 2 * d * config.d_ff) + 4 * d * n_tokens
    rows = [
        (f"encoder.blocks.{n}", sum(p.numel() for p in block.parameters()), n_tokens * per_token)
        for n, block in enumerate(model.encoder.blocks)
    ]
    around = model.n_parameters - sum(n for _, n, _ in rows)
    head = {
        "classify": d * (config.n_labels + d * (config.pooling == "first")),
        "span": 2 * d * n_tokens,
        "fill": d * (d + config.n_tokens) * n_tokens,
        "none": 0,
    }[config.head]
    rows.append(("embeddings, head", around, 2 * head))
    rows.append(("all", sum(n for _, n, _ in rows), sum(n for *_, n in rows)))
    title = f"Cost: {n_tokens} tokens read"
    note = "operations in millions, of the products alone"
    table = [["part", "parameters", "operations"]]
    table += [[part, f"{n:,}", f"{work / 1e6:.2f}"] for part, n, work in rows]
    return Picture(
        title,
        table_svg(table, title=title, note=note),
        f"{title}\n{note}\n\n{columns(table, right=(1, 2))}",
        {"parts": [{"part": p, "n_parameters": n, "operations": work} for p, n, work in rows]},
    )
