"""Observation: looking at a model from the side, while it runs and afterwards."""

from clearhead.observe.alignment import CrossAttention, watch_cross_attention
from clearhead.observe.edit import Edit, edit, put, replace, scale, zero
from clearhead.observe.heatmap import heatmap_svg
from clearhead.observe.value import Steps, Value
from clearhead.observe.watch import Seen, watch

__all__ = [
    "CrossAttention",
    "Edit",
    "Seen",
    "Steps",
    "Value",
    "edit",
    "heatmap_svg",
    "put",
    "replace",
    "scale",
    "watch",
    "watch_cross_attention",
    "zero",
]
