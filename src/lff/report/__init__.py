"""Figures and pages, made from tables and files alone: needs matplotlib and Jinja2, never torch."""

from lff.report.drawing import draw_curves
from lff.report.experiment_figure import draw_experiment
from lff.report.html import check_replaceable, write_page
from lff.report.run_page import run_page
from lff.report.site import Entry, write_site
from lff.report.stress_page import write_comparison, write_stress_page
from lff.report.style import new_figure, run_colors, save_figure, variant_colors
