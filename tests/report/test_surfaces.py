"""Surfaces: one scale, one colour bar, and pages that hold figures, not numbers."""

import base64
import dataclasses
import re

import numpy as np
import pytest
from matplotlib.figure import Figure

from lff.core.errors import BadInputError
from lff.experiments.jobs.pause import PauseJob
from lff.experiments.results import gather_fields
from lff.experiments.spec import Cell, Experiment, Panel, baseline, ours
from lff.report import Entry, draw_experiment
from lff.report.drawing import draw_tiles
from lff.stats import Metric, Row
from lff.stats.fields import field
from tests.report.test_pages import images

X = np.linspace(-1, 1, 64)
GRIDS = {"true Q": X[:, None] * X, "": X[:, None] ** 2 + X}
SURFACE, ERROR = Metric("surface"), Metric("error")
PANELS = (Panel(SURFACE, kind="grid"), Panel(ERROR))
EXPERIMENT = Experiment(
    name="fig2",
    title="?",
    source="Figure 2",
    arms={"MLP": baseline(), "LFF": ours()},
    grid=lambda *_: (),
    metrics=(ERROR,),
    panels=PANELS,
)
ROWS = [
    Row("fig2", v, t, 0, s, "error", 1.0 + s)
    for v in ("MLP", "LFF")
    for t in ("ridge", "maze")
    for s in (0, 1)
]


def cells():
    return [
        Cell(variant, task, PauseJob(number=2 * i + j))
        for i, variant in enumerate(("MLP", "LFF"))
        for j, task in enumerate(("ridge", "maze"))
    ]


@pytest.fixture(scope="module")
def fields():
    made = [field("surface", values, name=name) for name, values in GRIDS.items()]
    return gather_fields(cells(), {cell.digest: made for cell in cells()})


def test_gathering_tells_variant_and_task_and_keeps_the_truth_once(fields):
    assert [(f.task, f.title) for f in fields] == [
        ("ridge", "true Q"),
        ("ridge", "MLP"),
        ("maze", "true Q"),
        ("maze", "MLP"),
        ("ridge", "LFF"),
        ("maze", "LFF"),
    ]


def test_tiles_share_a_scale_that_single_cells_do_not_set():
    spiked = GRIDS["true Q"].copy()
    spiked[3, 4] = 1e6
    spiked[5, 5] = np.nan
    axis = Figure().subplots()
    low, high = draw_tiles(axis, {"a": GRIDS["true Q"], "b": spiked})
    assert -1 <= low < -0.8
    assert 0.8 < high <= 1
    a, b, bar = axis.child_axes
    assert a.images[0].get_clim() == b.images[0].get_clim() == (low, high)
    assert (a.get_title(), b.get_title()) == ("a", "b")
    assert bar.get_ylim() == (low, high)
    np.testing.assert_array_equal(a.images[0].get_array(), GRIDS["true Q"])
    assert b.images[0].get_array().mask[5, 5]  # rows from the top, an empty cell


def test_a_figure_has_a_row_of_surfaces_beside_the_curves(fields):
    figure = draw_experiment(EXPERIMENT, ROWS, fields=fields)
    surfaces, curves = figure.axes[:2], figure.axes[2:]
    for axis in surfaces:
        assert [tile.get_title() for tile in axis.child_axes[:-1]] == ["true Q", "MLP", "LFF"]
    assert [len(axis.lines) for axis in curves] == [2, 2]
    assert not draw_experiment(EXPERIMENT, ROWS).axes[0].child_axes  # without fields: curves alone


def test_a_figure_is_two_panels_wide():
    tasks = [f"t{i}" for i in range(5)]
    rows = [Row("fig2", "MLP", t, 0, s, "error", 1.0 + s) for t in tasks for s in (0, 1)]
    figure = draw_experiment(EXPERIMENT, rows)
    assert figure.get_figwidth() == 5.8
    assert [axis.get_title() for axis in figure.axes] == [*tasks, ""]
    columns = [axis.get_subplotspec().colspan.start for axis in figure.axes]
    assert columns == [0, 1, 0, 1, 0, 1]
    assert [bool(axis.get_ylabel()) for axis in figure.axes[:5]] == [True, False] * 2 + [True]
    legend = figure.axes[-1].get_legend()  # in the place that is left
    assert legend.get_title().get_text() == "one seed"
    assert not figure.legends


def test_panels_of_chosen_tasks_and_the_ends_of_curves_over_tasks(fields):
    rows = [
        Row("fig2", v, f"{t}, {n}", seed, s, "error", base + s + seed)
        for v, base in (("MLP", 10.0), ("LFF", 1.0))
        for t in ("ridge", "maze")
        for n in ("white", "2 cells")
        for s in (0, 1)
        for seed in range(3)
    ]
    ridge = ("ridge, white", "ridge, 2 cells")
    panels = (Panel(ERROR, tasks=ridge[:1]), Panel(ERROR, kind="ends", tasks=ridge, x="noise"))
    experiment = dataclasses.replace(EXPERIMENT, panels=panels)
    figure = draw_experiment(experiment, rows)
    curves, ends = figure.axes
    assert (curves.get_title(), ends.get_title()) == ("ridge, white", "at the end, ridge")
    assert [tick.get_text() for tick in ends.get_xticklabels()] == ["white", "2 cells"]
    named = {line.get_label(): line.get_ydata() for line in ends.lines}
    np.testing.assert_allclose(named["MLP"], [12, 12])  # 10 + the last step + the mean seed
    np.testing.assert_allclose(named["LFF"], [3, 3])
    half = 4.302653 / 3**0.5  # Student's, of the seeds 0, 1 and 2
    np.testing.assert_allclose(ends.lines[0].get_ydata(), [12 - half, 12 + half], rtol=1e-6)
    (legend,) = figure.legends
    assert legend.get_title().get_text() == "mean of 3 seeds, band: 95 % interval"
    page = Entry(experiment=experiment, rows=rows, scale="laptop", fields=fields).page()
    shown, behind = page.split("<h2>More curves")
    assert (shown.count("<picture>"), behind.count("<picture>")) == (2, 4)  # then all tasks


def test_a_panel_may_show_some_variants(fields):
    panel = Panel(SURFACE, kind="grid", variants=("LFF",))
    only = dataclasses.replace(EXPERIMENT, panels=(panel,))
    figure = draw_experiment(only, ROWS, fields=fields)
    assert [tile.get_title() for tile in figure.axes[0].child_axes[:-1]] == ["true Q", "LFF"]
    with pytest.raises(BadInputError):
        draw_experiment(only, ROWS)


def test_a_page_holds_surfaces_as_images(fields):
    given = {"scale": "laptop", "provenance": {}, "verdicts": {}, "fields": fields}
    entry = Entry(experiment=EXPERIMENT, rows=ROWS, **given)
    text = entry.page()
    embedded = re.findall(r"<image ([^>]*)>", "".join(images(text)))
    tiles = [image for image in embedded if "image-rendering:pixelated" in image]
    assert len(tiles) == 2 * 6  # light and dark
    for image in embedded:
        (source,) = re.findall(r'href="([^"]*)"', image)
        kind, data = source.split(",")
        assert kind == "data:image/png;base64"
        assert base64.b64decode("".join(data.split()), validate=True).startswith(b"\x89PNG")
    assert "surface on ridge: true Q, MLP, LFF" in text
    assert "style=" not in text
    words = re.sub(r"<[^>]*>", " ", text)
    assert len(words) < 8_000, "no surface as text"
    assert text == entry.page()
