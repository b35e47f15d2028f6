"""Figures and pages, made from tables and files alone: needs matplotlib and Jinja2, never torch."""

from lff.report.curves import draw_curves as draw_curves
from lff.report.experiment_figure import draw_experiment as draw_experiment
from lff.report.experiment_page import experiment_page as experiment_page
from lff.report.html import check_replaceable as check_replaceable
from lff.report.html import write_page as write_page
from lff.report.run_page import run_page as run_page
from lff.report.site import Entry as Entry
from lff.report.site import write_site as write_site
from lff.report.style import new_figure as new_figure
from lff.report.style import run_colors as run_colors
from lff.report.style import save_figure as save_figure
from lff.report.style import variant_colors as variant_colors
