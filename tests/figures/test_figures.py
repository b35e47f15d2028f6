import numpy as np
import pytest

from lff.core import BadInputError
from lff.figures import color_of, draw_curves, draw_grids, new_figure, save_figure
from lff.stats import Row

ROWS = [
    Row("x", variant, "t", seed, step, "return", value)
    for variant, base in (("MLP", 0.0), ("LFF", 10.0))
    for step in (0, 100)
    for seed, value in enumerate((base + step, base + step + 2))
]


def test_curves_are_means_with_standard_errors():
    _, (axis,) = new_figure(1, width=3, height=2)
    draw_curves(axis, ROWS, metric="return")
    mlp, lff = axis.lines
    np.testing.assert_allclose(mlp.get_xydata(), [[0, 1], [100, 101]])
    np.testing.assert_allclose(lff.get_ydata(), [11, 111])
    low, high = np.array([0, 2]).mean() - 1.0, np.array([0, 2]).mean() + 1.0
    band = axis.collections[0].get_paths()[0].vertices
    assert band[band[:, 0] == 0, 1].min() == pytest.approx(low)
    assert band[band[:, 0] == 0, 1].max() == pytest.approx(high)
    assert axis.get_ylabel() == "return"


def test_the_mlp_is_grey_everywhere_and_others_differ():
    names = ["MLP", "LFF", "linear control"]
    colors = [color_of(name, names) for name in names]
    assert colors[0] == color_of("MLP", ["MLP"])
    assert len(set(colors)) == 3


def test_grids_share_one_scale_and_orientation():
    figure, axes = new_figure(2, width=4, height=2)
    grid = np.arange(6.0).reshape(2, 3)
    draw_grids(axes, {"a": grid, "b": -grid}, low=-1, high=5)
    images = [axis.images[0] for axis in axes]
    assert {image.get_clim() for image in images} == {(-1, 5)}
    np.testing.assert_array_equal(images[0].get_array(), grid.T)
    assert len(figure.axes) == 3


def test_same_figure_same_bytes(tmp_path):
    pictures = []
    for name in ("a.png", "b.png"):
        figure, (axis,) = new_figure(1, width=2, height=2)
        axis.plot([0, 1])
        pictures.append(save_figure(figure, tmp_path / "new" / name).read_bytes())
    assert pictures[0] == pictures[1]
    assert pictures[0].startswith(b"\x89PNG")


def test_ratios_must_fit():
    with pytest.raises(BadInputError, match="one width per column"):
        new_figure(2, width=4, height=2, ratios=(1.0,))
