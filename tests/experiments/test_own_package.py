"""An experiment, a job and a claim kind of a package outside the repository."""

import os
import subprocess
import sys

import pytest

from lff.core.errors import BadInputError
from lff.experiments import find_experiment
from lff.launch.job import job_from_dict
from lff.stats.tables import read_table

STUDY = """
from dataclasses import dataclass
from lff.experiments.grids import Each
from lff.experiments.spec import Experiment, ours, rival
from lff.launch.job import JobRow
from lff.stats import Kind, Metric, Verdict

HEIGHT = Metric("height")

@dataclass(frozen=True)
class DoubleJob:
    number: float

    def run(self, folder, report):
        report(0.5, "doubling")
        return [JobRow(seed, 0, "height", 2 * self.number + seed) for seed in range(5)]

@dataclass(frozen=True)
class Counts(Kind):
    arm: str

    @property
    def arms(self):
        return (self.arm,)

    def judge(self, rows):
        return Verdict("holds", f"{sum(row.variant == self.arm for row in rows)} rows")

NAME = Experiment(
    name="doubles",
    title="Is twice a number larger?",
    source="a package of its own",
    arms={"one": ours(number=1.0), "two": rival(number=2.0)},
    grid=Each(lambda scale, number: DoubleJob(number), tasks={"numbers": {}}),
    metrics=(HEIGHT,),
    sentences={"D-1: It has rows.": Counts("two")},
)
EXPERIMENTS = (NAME,)
"""
SMOKE = ("--scale", "smoke", "--dir", "runs", "--results", "results", "--workers", "1")


@pytest.fixture
def study(tmp_path):
    package = tmp_path / "elsewhere" / "my_package"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "my_study.py").write_text(STUDY)
    for name in ("csv", "json", "selectors"):  # a worker that imports from here fails
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('{name} of the working directory')")
    return tmp_path


def run(study, *words):
    env = {**os.environ, "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    command = [sys.executable, "-m", "lff", "--path", "elsewhere", "experiment", *words]
    return subprocess.run(command, cwd=study, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "how", [(), pytest.param(("--ray",), marks=pytest.mark.system)], ids=["local", "ray"]
)
def test_a_study_of_another_package_runs_and_is_judged_by_name(study, how):
    done = run(study, "run", "my_package.my_study:NAME", *SMOKE, *how)
    assert done.returncode == 0, done.stderr
    assert "holds: 5 rows" in done.stdout
    rows = read_table(study / "results" / "smoke" / "doubles.csv")
    assert [row.value for row in rows if row.variant == "two"] == [4, 5, 6, 7, 8]
    assert len([*(study / "results" / "jobs").iterdir()]) == 2
    again = run(study, "run", "my_package.my_study:doubles", *SMOKE)
    assert "2 are done, 0 to do" in again.stderr
    judged = run(study, "verdict", "my_package.my_study:NAME", "--results", "results")
    assert "holds: 5 rows" in judged.stdout


def test_a_stored_job_cannot_import_a_package(study, monkeypatch):
    monkeypatch.syspath_prepend(str(study / "elsewhere"))
    data = {"type": "my_package.my_study:DoubleJob", "number": 1.0}
    with pytest.raises(BadInputError, match="--trust my_package"):
        job_from_dict(data)
    assert "my_package" not in sys.modules
    assert job_from_dict(data, trust=["my_package"]).number == 1.0


@pytest.mark.parametrize(
    ("name", "says"),
    [("no_such_package.study:X", "PYTHONPATH"), ("lff.experiments.paper.fig01:nothing", "name an")],
)
def test_a_name_that_leads_nowhere_is_refused_in_one_line(name, says):
    with pytest.raises(BadInputError, match=says):
        find_experiment(name)
