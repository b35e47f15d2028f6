"""The engine: plan, launch, gather, judge."""

import shutil
from dataclasses import replace

import pytest

import lff.experiments
from lff.core.errors import BadInputError, RunError
from lff.experiments import engine
from lff.experiments.engine import Sweep, run_all
from lff.experiments.grids import Each
from lff.experiments.jobs.pause import PauseJob
from lff.experiments.results import record_path
from lff.experiments.spec import Experiment, Panel, ours, rival
from lff.launch.job import JobRow
from lff.launch.local import Task
from lff.stats import Metric, MoreOften
from tests.experiments.small import small_train_job

NUMBER = Metric("number")
STUDY = Experiment(
    name="numbers",
    title="Is two above one?",
    source="nowhere",
    arms={"one": ours(number=1), "two": rival(number=2)},
    grid=Each(lambda _, number: PauseJob(number=number), {"t": {}}),
    metrics=(NUMBER,),
    sentences={"C-1: It is.": MoreOften("two", metric=NUMBER, above=1.0)},
    panels=(Panel(NUMBER),),
)


@pytest.fixture
def places(tmp_path):
    return {"dir": tmp_path / "runs", "results": tmp_path / "results"}


def test_a_run_returns_table_verdicts_and_figure(places):
    result = lff.experiments.run(STUDY, scale="smoke", workers=1, **places)
    assert [(row.variant, row.value) for row in result.table] == [("one", 1.0), ("two", 2.0)]
    assert result.verdicts["C-1"].because.startswith("last number of two > 1 in 1 of 1")
    assert len(result.figure().axes) >= 1
    assert lff.experiments.load(STUDY, results=places["results"]).table == result.table


def test_a_sweep_continues_from_what_is_committed_alone(places, monkeypatch):
    first = lff.experiments.run(STUDY, scale="smoke", workers=0, **places)
    shutil.rmtree(places["dir"])
    monkeypatch.setattr(engine, "launch_jobs", lambda *_, **__: pytest.fail("a job was run"))
    before = first.on_disk.path.read_bytes()
    again = lff.experiments.run(STUDY, scale="smoke", **places)
    assert again.table == first.table
    assert first.on_disk.path.read_bytes() == before


def test_jobs_with_records_are_not_run_again_without_a_table(places, monkeypatch):
    first = lff.experiments.run(STUDY, scale="smoke", workers=0, **places)
    before = first.on_disk.path.read_bytes()
    shutil.rmtree(places["dir"])
    shutil.rmtree(places["results"] / "smoke")
    monkeypatch.setattr(engine, "launch_jobs", lambda *_, **__: pytest.fail("a job was run"))
    again = lff.experiments.run(STUDY, scale="smoke", **places)
    assert again.on_disk.path.read_bytes() == before


def test_tables_are_gathered_while_jobs_run_and_the_time_left_is_that_of_finished_jobs(
    places, monkeypatch
):
    monkeypatch.setattr(engine, "GATHER_EVERY", -1.0)
    sweep = Sweep([STUDY], "smoke", **places)
    one, two = sweep.jobs
    said = []
    watch = sweep.watch(1, lambda _, left: said.append(left))
    tasks = [Task(one, sweep.jobs[one]), Task(two, sweep.jobs[two])]
    watch(tasks)
    engine.launch([sweep.jobs[one]], places["dir"], workers=0)
    tasks[0].state = "done"
    watch(tasks)
    assert said[0] == "time left known after the first job of each kind"
    assert said[1] == "about 0 seconds left"
    table = sweep.tables["numbers"]
    assert (len(table.jobs), table.planned) == (1, 2)
    assert table.judge(STUDY)["C-1"].because == "1 of 2 jobs are there"
    assert record_path(places["results"], one).exists()


def test_a_failed_job_leaves_the_others_in_a_partial_table(places):
    bad = small_train_job(env="dmc/cheetah-fly")
    broken = replace(
        STUDY, grid=Each(lambda _, number: PauseJob(number=1) if number == 1 else bad, {"t": {}})
    )
    said = []
    with pytest.raises(RunError, match="1 of 2 jobs failed; see"):
        run_all([broken], "smoke", workers=1, say=said.append, **places)
    assert any("cheetah-fly" in line for line in said)
    table = lff.experiments.load(broken, results=places["results"]).on_disk
    assert table.is_partial
    assert [row.variant for row in table.rows] == ["one"]


def test_an_error_in_this_process_is_raised(places):
    class Breaks(PauseJob):
        def run(self, *_):
            yield JobRow(0, 0, "number", 1.0)
            raise ZeroDivisionError

    broken = replace(STUDY, grid=Each(lambda _, number: Breaks(number=number), {"t": {}}))
    with pytest.raises(ZeroDivisionError):
        lff.experiments.run(broken, scale="smoke", workers=0, **places)


def test_a_negative_number_of_workers_is_refused(places):
    with pytest.raises(BadInputError, match="workers must be 0 or more"):
        lff.experiments.run(STUDY, scale="smoke", workers=-1, **places)
