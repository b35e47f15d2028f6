import json

import pytest

from lff.core.errors import BadInputError
from lff.experiments.gathering import (
    find_table,
    gather,
    need_table,
    read_provenance,
    table_path,
)
from lff.experiments.jobs.pause import PauseJob
from lff.experiments.spec import Cell, Experiment
from lff.launch.job import JobRow
from lff.stats.tables import Row, read_table, write_table

CELLS = (Cell("A", "t", PauseJob(number=1)), Cell("B", "t", PauseJob(number=2)))
EXPERIMENT = Experiment(
    name="x",
    title="?",
    source="nowhere",
    cells=lambda _: CELLS,
    metrics=(("eval/return", "return"), ("lff/critic_B_histogram", "bin")),
)


def tables(first, second=()):
    return {CELLS[0].digest: first, CELLS[1].digest: second}


def test_rows_get_their_place_and_title():
    found = gather(EXPERIMENT, CELLS, tables([JobRow(3, 10, "eval/return", 1.5)]))
    assert found == [Row("x", "A", "t", 3, 10, "return", 1.5)]


def test_metrics_that_were_not_asked_for_stay_out():
    assert gather(EXPERIMENT, CELLS, tables([JobRow(0, 1, "train/alpha", 0.1)])) == []


def test_histograms_keep_their_bin():
    rows = gather(EXPERIMENT, CELLS, tables([JobRow(0, 1, "lff/critic_B_histogram[7]", 4.0)]))
    assert rows[0].metric == "bin[7]"


def test_the_random_policy_is_a_variant_and_counted_once():
    row = JobRow(0, 0, "random return", 2.0)
    found = gather(EXPERIMENT, CELLS, tables([row], [row]))
    assert found == [Row("x", "random policy", "t", 0, 0, "return", 2.0)]


def test_the_largest_scale_is_taken_and_a_missing_table_says_how_to_make_it(tmp_path):
    assert find_table(tmp_path, "x") is None
    with pytest.raises(BadInputError, match="lff experiment run x --scale laptop"):
        need_table(tmp_path, "x")
    for scale in ("smoke", "laptop"):
        rows = [Row("x", "A", "t", 0, 1, "return", 0.1)]
        path = table_path(tmp_path, "x", scale)
        write_table(path, rows, provenance={"scale": scale})
    assert find_table(tmp_path, "x") == ("laptop", tmp_path / "laptop" / "x.csv")
    assert need_table(tmp_path, "x", "smoke")[0] == "smoke"
    assert read_provenance(tmp_path / "laptop" / "x.csv") == {"scale": "laptop"}
    assert json.loads((tmp_path / "smoke" / "x.json").read_text())["scale"] == "smoke"
    assert read_table(tmp_path / "smoke" / "x.csv")[0].value == 0.1
