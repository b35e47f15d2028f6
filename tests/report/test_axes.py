"""The x-axis of a panel says what its steps are."""

from lff.experiments.spec import Panel
from lff.report.experiment_figure import draw_panel, task_panels
from lff.report.style import power_of_ten
from lff.stats import Metric, Row

ROWS = [
    Row("x", "A", "d = 2", seed, width, "error", 1 / width + 0.001 * seed)
    for seed in range(5)
    for width in (64, 128, 1024, 16384)
]


def axis_of(panel, rows=ROWS):
    (one,) = task_panels(panel, rows, {"A": "#000000"})
    return draw_panel(one).axes[0]


def test_a_width_on_a_logarithmic_axis():
    axis = axis_of(Panel(metric=Metric("error"), log=True, x="width m", log_x=True))
    assert axis.get_xlabel() == "width m"
    assert axis.get_xscale() == axis.get_yscale() == "log"
    assert {100.0, 1000.0, 10000.0} <= {*axis.get_xticks()}


def test_a_narrow_logarithmic_axis_has_more_ticks():
    rows = [row for row in ROWS if row.step < 2000]
    axis = axis_of(Panel(metric=Metric("error"), x="width m", log_x=True), rows)
    assert {100.0, 200.0, 500.0} <= {*axis.get_xticks()}


def test_the_default_is_steps():
    axis = axis_of(Panel(metric=Metric("error")))
    assert (axis.get_xlabel(), axis.get_xscale()) == ("steps", "linear")
    rows = [row._replace(task="dmc/walker-run") for row in ROWS]
    assert axis_of(Panel(metric=Metric("error")), rows).get_xlabel() == "environment steps"


def test_ticks_between_powers_of_ten_are_told_apart():
    shown = [power_of_ten(value) for value in (1e-4, 2e-4, 5e-4, 2e5, 1e-15)]
    assert shown == ["10⁻⁴", "2·10⁻⁴", "5·10⁻⁴", "2·10⁵", "10⁻¹⁵"]
