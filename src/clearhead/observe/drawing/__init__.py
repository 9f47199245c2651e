"""Drawing: numbers and texts as SVG, as shades in a terminal, and as a picture in every form."""

from clearhead.observe.drawing.grid import grid_svg
from clearhead.observe.drawing.heatmap import heatmap_svg
from clearhead.observe.drawing.picture import FORMS, Cells, Picture
from clearhead.observe.drawing.table import table_svg
from clearhead.observe.drawing.terminal import blocks, columns

__all__ = ["FORMS", "Cells", "Picture", "blocks", "columns", "grid_svg", "heatmap_svg", "table_svg"]
