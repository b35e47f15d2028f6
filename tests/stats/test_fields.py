"""Surfaces beside a table: four digits, empty cells, and nothing that is not theirs."""

import json

import numpy as np
import pytest

from lff.core.errors import BadTypeError, CorruptError
from lff.stats.fields import Field, beside, field, of_panel, read_fields, write_fields


def test_a_field_comes_back_to_four_digits(tmp_path):
    rng = np.random.default_rng(0)
    values = 3 + 7 * rng.standard_normal((5, 9))
    values[2, 3] = np.nan
    values[1, 1] = np.inf  # no number either
    path = tmp_path / "fig.fields.json"
    write_fields(
        path, [field("surface", values), field("surface", np.full((2, 2), 4.25), name="c")]
    )
    first, second = read_fields(path)
    assert np.isnan(first.values[[2, 1], [3, 1]]).all()
    finite = np.isfinite(values)
    span = values[finite].max() - values[finite].min()
    np.testing.assert_allclose(first.values[finite], values[finite], atol=1e-5 * span, rtol=0)
    np.testing.assert_array_equal(second.values, 4.25)
    assert (second.metric, second.name, second.title) == ("surface", "c", "c")


def test_the_same_fields_are_the_same_bytes_and_small(tmp_path):
    x = np.linspace(-1, 1, 64)
    grid = np.sin(3 * x)[:, None] * x
    for name in ("a", "b"):
        write_fields(tmp_path / name, [field("surface", grid)])
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert len((tmp_path / "a").read_bytes()) < 12_000  # as rows of a table: 200 kB


def test_no_file_no_fields(tmp_path):
    assert read_fields(beside(tmp_path / "fig2.csv")) == []
    assert beside(tmp_path / "fig2.csv").name == "fig2.fields.json"


def test_a_field_without_one_number_is_kept(tmp_path):
    write_fields(tmp_path / "f", [field("surface", np.full((2, 3), np.nan))])
    assert np.isnan(read_fields(tmp_path / "f")[0].values).all()


@pytest.mark.parametrize("shape", [(4,), (0, 3), (2, 2, 2)])
def test_what_is_no_grid_is_refused(shape):
    with pytest.raises(BadTypeError, match="rows, columns"):
        field("surface", np.zeros(shape))


@pytest.mark.parametrize(
    "harm", [{"shape": [3, 3]}, {"shape": 4}, {"cells": "!"}, {"cells": "AAAA"}, {"low": 9.0}]
)
def test_damage_is_told(harm, tmp_path):
    path = tmp_path / "f"
    write_fields(path, [field("surface", [[1.0, 2.0]])])
    entry = json.loads(path.read_text())[0] | harm
    path.write_text(json.dumps([entry]))
    with pytest.raises(CorruptError, match="holds no fields"):
        read_fields(path)


def test_a_panel_shows_what_is_the_tasks_first_and_once():
    def made(name, variant, task="t", metric="surface"):
        return Field(metric, np.zeros((1, 1)), name=name, variant=variant, task=task)

    mixed = [
        made("", "MLP"),
        made("truth", "MLP"),
        made("", "LFF"),
        made("truth", "LFF"),
        made("truth", "LFF", task="u"),
        made("", "LFF", metric="value"),
    ]
    shown = of_panel(mixed, "surface", "t")
    assert [one.title for one in shown] == ["truth", "MLP", "LFF"]
    assert shown[0] is mixed[1]
