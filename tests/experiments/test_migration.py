"""The tables of version 0.1 are valid: their jobs are those of today, and they regenerate."""

import json
import shutil
from pathlib import Path

import pytest

from lff.experiments import find_experiment
from lff.experiments.results import finished, write_view

RESULTS = Path(__file__).parents[2] / "results"
OLD = json.loads((RESULTS / "migration-0.1.json").read_text())
SUFFIXES = (".csv", ".json", ".fields.json")


@pytest.mark.parametrize("place", OLD)
def test_every_job_of_a_table_is_a_job_of_today_and_need_not_run(place, tmp_path):
    scale, _, name = place.partition("/")
    experiment = find_experiment(name)
    table = f"{scale}/{experiment.name}"
    cells = experiment.cells(scale)
    sidecar = json.loads((RESULTS / f"{table}.json").read_text())
    remedy = "run python results/migrate.py"
    assert sidecar["jobs"].keys() == {cell.digest for cell in cells}, remedy
    places = [[cell.variant, cell.task, cell.seed] for cell in cells]
    assert places == [old[:3] for old in OLD[place]]
    (tmp_path / scale).mkdir()
    files = [path for s in SUFFIXES if (path := RESULTS / f"{table}{s}").exists()]
    for path in files:
        shutil.copy(path, tmp_path / scale)
    done = finished(experiment, cells, scale, results=tmp_path, runs=tmp_path / "runs")
    assert len(done) == sidecar["planned"]
    write_view(experiment, cells, scale, results=tmp_path)
    for path in files:
        assert (tmp_path / scale / path.name).read_bytes() == path.read_bytes(), path.name
