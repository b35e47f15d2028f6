import json

import pytest

from lff.core.errors import BadInputError
from lff.experiments.jobs.pause import PauseJob
from lff.experiments.results import (
    Table,
    collect,
    find_table,
    finished,
    gather,
    need_table,
    record_path,
    table_path,
    write_view,
)
from lff.experiments.spec import Cell, Experiment, ours
from lff.launch.job import JobRow
from lff.launch.local import launch
from lff.launch.records import read_record
from lff.stats import RETURN, Metric
from lff.stats.tables import Row, read_table, write_table

CELLS = (Cell("A", "t", PauseJob(number=1)), Cell("B", "t", PauseJob(number=2)))
EXPERIMENT = Experiment(
    name="x",
    title="?",
    source="nowhere",
    arms={"A": ours(), "B": ours()},
    grid=lambda *_: CELLS,
    metrics=(RETURN, Metric("lff/critic_B_histogram", "bin")),
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
    with pytest.raises(BadInputError, match="run this in a clone, or name its folder"):
        need_table(tmp_path, "x")
    for scale in ("smoke", "laptop"):
        rows = [Row("x", "A", "t", 0, 1, "return", 0.1)]
        path = table_path(tmp_path, "x", scale)
        write_table(path, rows, provenance={"scale": scale})
    assert find_table(tmp_path, "x").path == tmp_path / "laptop" / "x.csv"
    assert need_table(tmp_path, "x", "smoke").scale == "smoke"
    with pytest.raises(BadInputError, match="lff experiment run y --scale laptop"):
        need_table(tmp_path, "y")
    assert find_table(tmp_path, "x").sidecar == {"scale": "laptop"}
    assert json.loads((tmp_path / "smoke" / "x.json").read_text())["scale"] == "smoke"
    assert read_table(tmp_path / "smoke" / "x.csv")[0].value == 0.1


NUMBERS = Experiment(
    name="numbers",
    title="?",
    source="nowhere",
    arms={"A": ours(), "B": ours()},
    grid=lambda *_: CELLS,
    metrics=(Metric("number"),),
)


@pytest.fixture
def places(tmp_path):
    return {"results": tmp_path / "results", "runs": tmp_path / "runs"}


def run_jobs(places, *cells):
    launch([cell.job for cell in cells], places["runs"], workers=1)
    collect([cell.digest for cell in cells], **places)


def test_a_record_has_config_origin_and_every_row_and_the_same_bytes(places):
    run_jobs(places, CELLS[0])
    path = record_path(places["results"], CELLS[0].digest)
    record = read_record(path)
    assert record.header["job"] == {"type": "pause", "seconds": 0.0, "number": 1}
    assert record.header["outcome"] == "finished"
    assert {"commit", "processor", "compiler", "versions", "seconds"} < record.header.keys()
    assert record.rows == [JobRow(0, 0, "number", 1.0)]
    before = path.read_bytes()
    path.unlink()
    collect([CELLS[0].digest], **places)
    assert path.read_bytes() == before


def test_a_partial_table_says_how_many_jobs_it_holds_and_grows(places):
    run_jobs(places, CELLS[0])
    table = write_view(NUMBERS, CELLS, "smoke", **places)
    assert (len(table.jobs), table.planned, table.is_partial) == (1, 2, True)
    assert [row.variant for row in table.rows] == ["A"]
    run_jobs(places, CELLS[1])
    whole = write_view(NUMBERS, CELLS, "smoke", **places)
    assert not whole.is_partial
    assert whole.jobs == {cell.digest: [[cell.variant, "t", None]] for cell in CELLS}
    assert [row.variant for row in whole.rows] == ["A", "B"]


def test_jobs_of_a_committed_table_are_finished_without_any_other_file(places, tmp_path):
    run_jobs(places, *CELLS)
    before = write_view(NUMBERS, CELLS, "smoke", **places)
    for digest in before.jobs:
        record_path(places["results"], digest).unlink()
    elsewhere = {"results": places["results"], "runs": tmp_path / "nowhere"}
    digests = {cell.digest for cell in CELLS}
    assert finished(NUMBERS, CELLS, "smoke", **elsewhere) == digests
    files = [before.path, before.path.with_suffix(".json")]
    bytes_before = [path.read_bytes() for path in files]
    write_view(NUMBERS, CELLS, "smoke", **elsewhere)
    assert [path.read_bytes() for path in files] == bytes_before


def test_a_table_is_not_replaced_by_one_with_fewer_jobs(places):
    run_jobs(places, *CELLS)
    whole = write_view(NUMBERS, CELLS, "smoke", **places)
    others = tuple(Cell(c.variant, c.task, PauseJob(number=9 + i)) for i, c in enumerate(CELLS))
    run_jobs(places, others[0])
    kept = write_view(NUMBERS, others, "smoke", **places)
    assert isinstance(kept, Table)
    assert kept.jobs == whole.jobs
