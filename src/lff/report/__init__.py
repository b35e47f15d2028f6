"""Pages made from tables and files alone: needs matplotlib, never torch."""

from lff.report.drawing import draw_experiment as draw_experiment
from lff.report.experiment_page import experiment_page as experiment_page
from lff.report.run_page import run_page as run_page
from lff.report.site import Entry as Entry
from lff.report.site import check_replaceable as check_replaceable
from lff.report.site import write_page as write_page
from lff.report.site import write_site as write_site
