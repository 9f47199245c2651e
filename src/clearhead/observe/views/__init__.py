"""The views: each puts numbers of a model into one picture."""

from clearhead.observe.views.align import align_view
from clearhead.observe.views.cost import cost_view
from clearhead.observe.views.gaps import gaps_view
from clearhead.observe.views.heads import head_view, heads_view, reading_heads_view
from clearhead.observe.views.layers import gap_layers_view, layers_view
from clearhead.observe.views.norms import norms_view
from clearhead.observe.views.patches import patch_head_view, patch_heads_view, patches_view
from clearhead.observe.views.positions import positions_view
from clearhead.observe.views.steps import steps_view
from clearhead.observe.views.tree import tree_view
from clearhead.observe.views.words import words_view

__all__ = [
    "align_view",
    "cost_view",
    "gap_layers_view",
    "gaps_view",
    "head_view",
    "heads_view",
    "layers_view",
    "norms_view",
    "patch_head_view",
    "patch_heads_view",
    "patches_view",
    "positions_view",
    "reading_heads_view",
    "steps_view",
    "tree_view",
    "words_view",
]
