"""Which tokens of a text speak for a label, and which against it."""

import torch

from clearhead.observe.attribution import integrated_gradients
from clearhead.observe.drawing import Cells, Picture, columns, heatmap_svg
from clearhead.observe.reading import Reading
from clearhead.observe.rollout import rollout

__all__ = ["label_view"]

WIDE = 20
"""The longest bar, in letters."""


def label_view(reading: Reading, label: str, probability: float) -> Picture:
    """Integrated gradients of each token, and how much of it reaches the pooling by attention.

    The gradients add up to the difference of the label's log-probability with and without the
    tokens. Attention says what is read, not what it speaks for; where the first vector stands for
    the text, each head of the last block has a row of its own.
    """
    effects = integrated_gradients(reading)[0].tolist()
    tables = list(reading.attention())
    is_first = reading.model.config.pooling == "first"
    mixed = rollout([each.cpu() for each in tables])
    read = (mixed[0] if is_first else mixed.mean(0)).tolist()
    largest = max(map(abs, effects)) or 1.0
    rows = {
        f"for {label}": [max(0.0, effect) / largest for effect in effects],
        "against it": [max(0.0, -effect) / largest for effect in effects],
        "read, by rollout": [share / max(read) for share in read],
    }
    if is_first:
        last = tables[-1]
        for head, weights in enumerate(last[:, 0].tolist()):
            rows[f"read by head {head} at the end"] = weights
    title = f"Label: {label}, with a probability of {probability:.2f}"
    note = (
        f"integrated gradients, of their largest, {largest:.2f} nats; rollout of the attention, of "
        f"its largest, {max(read):.2f}"
    )
    names, weights = list(reading.names), list(rows.values())
    return Picture(
        title,
        heatmap_svg(weights, list(rows), names, title=title, note=note),
        f"{title}\n{_told(names, effects, read)}",
        {
            "label": label,
            "probability": probability,
            "tokens": names,
            "effects": effects,
            "log_prob": float(torch.log(torch.tensor(probability))),
            "rows": rows,
        },
        Cells(list(rows), names, weights),
    )


def _told(names: list[str], effects: list[float], read: list[float]) -> str:
    """A line for each token: what it adds to the log-probability, and which share of it is read."""
    largest = max(map(abs, effects)) or 1.0
    table = [["token", "nats", "read", ""]]
    for name, effect, share in zip(names, effects, read, strict=True):
        bar = ("█" if effect > 0 else "░") * round(WIDE * abs(effect) / largest)
        table.append([name, f"{effect:+.2f}", f"{share:.2f}", bar])
    told = "nats: for the label (█) or against it (░); read: by attention, through all blocks"
    return f"{told}\n\n{columns(table, right=(1, 2))}"
