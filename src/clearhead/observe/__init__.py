"""Observation: looking at a model from the side, while it runs and afterwards."""

from clearhead.observe.alignment import CrossAttention, cross_attention
from clearhead.observe.compare import Comparison, compare
from clearhead.observe.drawing import heatmap_svg
from clearhead.observe.edit import Edit, edit, put, replace, scale, zero
from clearhead.observe.value import Steps, Value
from clearhead.observe.watch import Seen, watch

__all__ = [
    "Comparison",
    "CrossAttention",
    "Edit",
    "Seen",
    "Steps",
    "Value",
    "compare",
    "cross_attention",
    "edit",
    "heatmap_svg",
    "put",
    "replace",
    "scale",
    "watch",
    "zero",
]
