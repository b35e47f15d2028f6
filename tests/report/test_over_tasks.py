"""Panels over all tasks, by hand."""

import numpy as np
from matplotlib.figure import Figure

from lff.experiments.spec import Experiment, Panel, baseline, ours
from lff.report.drawing import draw_middle, draw_profile
from lff.report.experiment_figure import draw_experiment
from lff.stats import RETURN, Row

SCORES = {"MLP": np.array([[0.1, 0.2], [0.3, 0.4]]), "LFF": np.array([[0.5, 0.6], [0.7, 0.8]])}
COLORS = {"MLP": "#6b7280", "LFF": "#0b6bcb"}


def test_a_profile_is_the_share_of_runs_above_each_score():
    axis = Figure().subplots()
    draw_profile(axis, SCORES, colors=COLORS)
    mlp, lff = axis.lines
    levels, shares = mlp.get_xdata(), mlp.get_ydata()
    assert (levels[0], levels[-1]) == (0, 0.8)
    assert np.interp([0.05, 0.25, 0.45], levels, shares).tolist() == [1.0, 0.5, 0.0]
    assert np.interp([0.05, 0.45, 0.65], lff.get_xdata(), lff.get_ydata()).tolist() == [1, 1, 0.5]


def test_the_middle_is_the_interquartile_mean():
    axis = Figure().subplots()
    draw_middle(axis, SCORES, colors=COLORS)
    np.testing.assert_allclose([line.get_ydata()[0] for line in axis.lines[1::2]], [0.25, 0.65])


def test_they_stand_behind_the_tasks_as_shares_of_the_span():
    tasks = {"dmc/cheetah-run": 100.0, "gym/HalfCheetah-v5": 400.0}
    rows = [
        Row("x", arm, task, seed, step, "return", scale * (1 + (arm == "LFF")))
        for arm in ("MLP", "LFF")
        for task, scale in tasks.items()
        for seed in range(3)
        for step in (10, 20)
    ]
    experiment = Experiment(
        name="x",
        title="Which?",
        arms={"MLP": baseline(), "LFF": ours()},
        grid=lambda *_: (),
        panels=(Panel(RETURN), Panel(RETURN, kind="profile"), Panel(RETURN, kind="middle")),
    )
    figure = draw_experiment(experiment, rows)
    titles = [axis.get_title() for axis in figure.axes]
    assert titles == [*tasks, "performance profile", "interquartile mean"]
    points = [line.get_ydata()[0] for line in figure.axes[-1].lines[1::2]]
    np.testing.assert_allclose(points, [0.15, 0.3])  # 100 of 1,000 and 400 of 2,000, and twice
    for across, height in ((2, 2), (4, 1)):
        figure = draw_experiment(experiment, rows, across=across)
        places = [axis.get_subplotspec() for axis in figure.axes]
        assert figure.get_figwidth() == 2.9 * across
        assert (max(p.colspan.stop for p in places), max(p.rowspan.stop for p in places)) == (
            across,
            height,
        )
