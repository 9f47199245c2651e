"""Observation: looking at a model from the side, while it runs and afterwards."""

from clearhead.observe.alignment import CrossAttention, watch_cross_attention
from clearhead.observe.heatmap import heatmap_svg

__all__ = ["CrossAttention", "heatmap_svg", "watch_cross_attention"]
