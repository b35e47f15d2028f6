import numpy as np
import pytest

from lff.report import draw_curves, new_figure, save_figure, variant_colors
from lff.report.drawing import draw_published
from lff.stats import Published, Row, paired_t_interval, stratified_bootstrap
from lff.stats.metrics import COLORS

ROWS = [
    Row("x", variant, "t", seed, step, "return", value)
    for variant, base in (("MLP", 0.0), ("LFF", 10.0))
    for step in (0, 100)
    for seed, value in enumerate((base + step, base + step + 2))
]


def band_at(axis, step, place=0):
    """The ends of a band where it was drawn."""
    band = axis.collections[place].get_paths()[0].vertices
    ends = band[band[:, 0] == step, 1]
    return ends.min(), ends.max()


def test_curves_as_the_paper_draws_them_are_means_with_standard_errors():
    _, (axis,) = new_figure(1, width=3, height=2)
    draw_curves(axis, ROWS, metric="return", as_paper=True)
    mlp, lff = axis.lines
    np.testing.assert_allclose(mlp.get_xydata(), [[0, 1], [100, 101]])
    np.testing.assert_allclose(lff.get_ydata(), [11, 111])
    assert band_at(axis, 0) == pytest.approx((0, 2))
    assert axis.get_legend().get_title().get_text() == ""
    assert axis.get_ylabel() == "return"


def curve_rows(values, *, task="t", step=0):
    return [Row("x", "LFF", task, seed, step, "return", v) for seed, v in enumerate(values)]


def test_a_band_is_the_interval_that_the_verdicts_use():
    values = [1.0, 2.0, 3.0, 4.0, 5.0]
    _, (axis,) = new_figure(1, width=3, height=2)
    draw_curves(axis, curve_rows(values) + curve_rows(values, step=9), metric="return")
    interval = paired_t_interval(values, [0.0] * 5)
    assert band_at(axis, 0) == pytest.approx((interval.low, interval.high))
    assert axis.get_legend().get_title().get_text() == "mean of 5 runs, 95 % interval"


def test_over_several_tasks_the_band_is_the_stratified_bootstrap():
    """Between the tasks lie 100 points, which are no uncertainty."""
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    rows = curve_rows(values) + curve_rows(values + 100, task="u")
    rows += [row._replace(step=9) for row in rows]
    _, (axis,) = new_figure(1, width=3, height=2)
    draw_curves(axis, rows, metric="return")
    np.testing.assert_allclose(axis.lines[0].get_ydata(), 53)
    table = np.stack([values, values + 100], axis=1)
    expected = stratified_bootstrap(table, np.mean, resamples=500)
    assert band_at(axis, 9) == pytest.approx((expected.low, expected.high))
    assert expected.high - expected.low < 3


def test_two_runs_have_no_band_and_a_variant_without_rows_no_line():
    _, (axis,) = new_figure(1, width=3, height=2)
    draw_curves(axis, ROWS, metric="return", variants=["MLP", "absent"])
    assert band_at(axis, 0) == (1, 1)
    assert len(axis.lines[1].get_xydata()) == 0
    assert axis.get_legend().get_title().get_text() == ""


def test_a_diverged_run_is_drawn_at_its_last_finite_value():
    rows = curve_rows([0.0, 0.0, 0.0]) + curve_rows([3.0, 3.0, np.nan], step=5)
    rows += curve_rows([6.0], step=9)
    _, (axis,) = new_figure(1, width=3, height=2)
    draw_curves(axis, rows, metric="return")
    np.testing.assert_allclose(axis.lines[0].get_xydata(), [[0, 0], [5, 2], [9, 3]])


def published(algorithm, env_steps, score, spread=None, task="cheetah-run"):
    return Published(
        task=task,
        algorithm=algorithm,
        env_steps=env_steps,
        score=score,
        spread=spread,
        seeds=3,
        source="there",
    )


def test_published_scores_are_marks_at_their_steps_or_lines_if_later():
    scores = [
        published("SAC", 200, 6.0),
        published("SAC", 100, 5.0, spread=2.0),
        published("SAC", 999, 9.0),
        published("late", 2000, 8.0),
        published("late", 1000, 7.0),
        published("SAC", 100, 1.0, task="walker-run"),
    ]
    _, (axis,) = new_figure(1, width=3, height=2)
    draw_curves(axis, curve_rows([1.0, 2.0, 3.0]), metric="return")
    draw_published(axis, scores, task="dmc/cheetah-run", until=200)
    marks, (line, end) = axis.containers[0].lines[0], axis.lines[-2:]
    np.testing.assert_array_equal(marks.get_xydata(), [[100, 5], [200, 6]])
    (bars,) = axis.containers[0].lines[2]
    np.testing.assert_array_equal(bars.get_segments()[0], [[100, 3], [100, 7]])
    np.testing.assert_array_equal(line.get_ydata(), [7, 7])
    np.testing.assert_array_equal(end.get_xydata(), [[200, 7]])
    labels = [text.get_text() for text in axis.get_legend().get_texts()]
    assert labels == ["late at 1,000 (published)", "SAC (published)"]


def test_a_task_that_nobody_published_is_left_as_it_is():
    _, (axis,) = new_figure(1, width=3, height=2)
    draw_curves(axis, ROWS, metric="return")
    before = len(axis.get_children())
    draw_published(axis, [published("SAC", 100, 1.0)], task="dmc/ball_in_cup-catch", until=100)
    assert len(axis.get_children()) == before


def test_the_mlp_is_grey_everywhere_and_others_differ():
    names = ["MLP", "LFF", "linear control"]
    colors = variant_colors(names)
    assert colors["MLP"] == variant_colors(["MLP"])["MLP"] == COLORS["baseline"][0]
    assert len(set(colors.values())) == 3
    assert variant_colors(["LFF"], {"LFF": "rival"}) == {"LFF": COLORS["rival"][0]}


def test_same_figure_same_bytes(tmp_path):
    figures = []
    for name in ("a.png", "b.png"):
        figure, (axis,) = new_figure(1, width=2, height=2)
        axis.plot([0, 1])
        figures.append(save_figure(figure, tmp_path / "new" / name).read_bytes())
    assert figures[0] == figures[1]
    assert figures[0].startswith(b"\x89PNG")
