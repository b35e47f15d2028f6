"""``lff verify`` on runs, jobs and results."""

import gzip
import json
import shutil
from pathlib import Path

import pytest

from lff.experiments import run
from lff.experiments.jobs.pause import PauseJob
from lff.experiments.spec import Cell, Experiment, ours
from lff.stats import Metric
from lff.training import train
from tests.training.runs import small

RESULTS = Path(__file__).parents[2] / "results"
CELLS = (Cell("A", "t", PauseJob(number=1)), Cell("B", "t", PauseJob(number=2)))
SWEEP = Experiment(
    name="x",
    title="?",
    source="nowhere",
    arms={"A": ours(), "B": ours()},
    grid=lambda *_: CELLS,
    metrics=(Metric("number"),),
)


@pytest.fixture
def swept(tmp_path):
    run(SWEEP, "smoke", workers=0, dir=tmp_path / "runs", results=tmp_path / "results")
    return tmp_path


def test_a_run_is_right_until_a_byte_differs(cli, tmp_path):
    train(small("probe/action", steps=120, eval_every=60), directory=tmp_path / "run")
    ended = cli("verify", "run")
    assert ended.code == 0
    assert ended.out.endswith("0 damaged, 0 without a hash\n")
    path = tmp_path / "run/evaluations/000000060.json"
    path.write_text(path.read_text().replace("1", "2", 1))
    ended = cli("verify", "run")
    assert ended.code == 74
    assert ended.out.startswith("damaged: run/evaluations/000000060.json is not what was written")
    assert "1 damaged" in ended.out
    shutil.rmtree(tmp_path / "run/evaluations")
    assert cli("verify", "run").out.count("is missing") == 2


def test_a_folder_that_is_neither_is_refused(cli, tmp_path):
    ended = cli("verify", tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert "must be a run directory, a job's folder or a results folder" in ended.err


def test_committed_results_are_right(cli):
    ended = cli("verify", RESULTS)
    assert ended.code == 0
    assert " 0 damaged" in ended.out


def test_jobs_and_results_are_right_until_a_byte_differs(cli, swept):
    for name in ("results", "runs", f"runs/jobs/{CELLS[0].digest}"):
        ended = cli("verify", name)
        assert (ended.code, "0 damaged, 0 without a hash" in ended.out) == (0, True), ended.out
    table = swept / "results/smoke/x.csv"
    good = table.read_text()
    table.write_text(good.replace("number,2", "number,3"))
    ended = cli("verify", "results")
    assert ended.code == 74
    assert "damaged: results/smoke/x.csv is not what was written" in ended.out
    with pytest.raises(Exception, match=r"x\.csv is not what was written"):  # nobody reads it
        run(SWEEP, "smoke", workers=0, dir=swept / "runs", results=swept / "results")
    table.write_text(good)
    job = swept / "runs/jobs" / CELLS[0].digest / "table.csv"
    job.write_text(job.read_text().replace("1.0", "1.5"))
    assert "table.csv is not what was written" in cli("verify", "runs").out


def test_a_record_under_another_name_is_found(cli, swept):
    one, two = (swept / f"results/jobs/{cell.digest}.csv.gz" for cell in CELLS)
    shutil.copy(one, two)
    ended = cli("verify", "results")
    assert ended.code == 74
    assert f"{CELLS[1].digest}.csv.gz is the record of another job, {CELLS[0].digest}" in ended.out
    one.write_bytes(gzip.compress(b"{}\nseed"))
    assert "is not a record of a job" in cli("verify", "results").out


def test_an_older_sidecar_has_no_hash_and_a_replaced_table_two(cli, swept):
    sidecar = swept / "results/smoke/x.json"
    data = json.loads(sidecar.read_text())
    assert [*data["files"]] == ["x.csv"]
    older = {name: value for name, value in data.items() if name not in ("files", "sha256")}
    sidecar.write_text(json.dumps(older))
    ended = cli("verify", "results")
    assert (ended.code, "0 damaged, 2 without a hash" in ended.out) == (0, True)
    sidecar.write_text(json.dumps(data | {"planned": 3}))
    assert "x.json is not what was written" in cli("verify", "results").out
    sidecar.unlink()
    assert "x.json is missing or empty" in cli("verify", "results").out
