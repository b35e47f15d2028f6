"""Figures, drawn from tables and arrays alone: needs matplotlib, never torch."""

from lff.figures.bars import draw_bars as draw_bars
from lff.figures.bars import draw_histograms as draw_histograms
from lff.figures.curves import center_and_band as center_and_band
from lff.figures.curves import draw_curves as draw_curves
from lff.figures.grids import draw_grids as draw_grids
from lff.figures.grids import draw_tiles as draw_tiles
from lff.figures.grids import tile_shape as tile_shape
from lff.figures.published import draw_published as draw_published
from lff.figures.style import color_of as color_of
from lff.figures.style import dash_of as dash_of
from lff.figures.style import new_figure as new_figure
from lff.figures.style import save_figure as save_figure
