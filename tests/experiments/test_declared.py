"""What is declared, without running it."""

import functools
import json
import re
import subprocess
import sys
from collections import Counter

import pytest

from lff.core.config import to_dict
from lff.core.errors import BadInputError
from lff.experiments import find_experiment, list_experiments
from lff.launch.job import job_from_dict
from lff.stats.tables import Row

NAMES = list(list_experiments())


@functools.cache
def cells_of(name, scale):
    return find_experiment(name).cells(scale)


def test_the_figures_of_the_paper_are_there():
    assert {
        "fig1",
        "fig2",
        "fig5",
        "fig7",
        "fig8",
        "fig9",
        "fig10",
        "fig11",
        "fig14",
        "fig15",
    } < {*NAMES}


def test_names_of_claims_are_used_once():
    claims = [claim.name for e in list_experiments().values() for claim in e.claims]
    assert all(claims)
    assert not [name for name, count in Counter(claims).items() if count > 1]


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(BadInputError, match="did you mean fig14"):
        find_experiment("fig144")


@pytest.mark.parametrize("name", NAMES)
def test_grids_at_every_scale(name):
    for scale in ("smoke", "laptop", "paper"):
        cells = cells_of(name, scale)
        assert cells
        for cell in cells[:3]:
            assert job_from_dict(to_dict(cell.job)) == cell.job
        if scale == "laptop":
            arms = {(c.variant, c.task) for c in cells}
            if cells[0].seed is None:
                assert len(cells) == len(arms), "one job makes all draws of an arm"
                assert min(getattr(c.job, "draws", 5) for c in cells) >= 5
            else:
                seeds = 2 if name in ("tuning", "rivals-tuning") else 5
                assert len({c.digest for c in cells}) >= len(arms) * seeds, "seeds of every arm"


@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
@pytest.mark.parametrize("name", NAMES)
def test_fault_9_every_arm_that_a_claim_names_is_run_at_every_scale(name, scale):
    arms = {cell.variant for cell in cells_of(name, scale)}
    for claim in find_experiment(name).claims:
        assert {*claim.arms} <= arms, claim.name


@pytest.mark.parametrize("name", NAMES)
def test_claims_and_panels_name_arms_tasks_and_metrics_that_there_are(name):
    experiment = find_experiment(name)
    cells = [cell for scale in ("laptop", "paper") for cell in cells_of(name, scale)]
    arms, tasks = ({getattr(cell, part) for cell in cells} for part in ("variant", "task"))
    metrics = {*experiment.metrics}
    for claim in experiment.claims:
        assert {claim.metric, getattr(claim, "other", claim.metric)} <= metrics, claim.name
        assert {*(claim.tasks or ())} <= tasks, claim.name
        points = getattr(claim, "points", ())
        assert {point.task for point in points if point.task} <= tasks, claim.name
    for panel in experiment.panels:
        assert panel.kind == "grid" or panel.metric in metrics  # grids show fields, not rows
        assert {*panel.variants} <= arms


@pytest.mark.parametrize("name", NAMES)
def test_claims_say_whose_they_are_and_those_of_the_paper_quote_it(name):
    for claim in find_experiment(name).claims:
        assert claim.whose in ("paper, empirical", "paper, mathematical", "ours")
        if claim.whose != "ours":
            assert claim.quote, claim.name
    assert sum(claim.primary for claim in find_experiment(name).claims) <= 1


@pytest.mark.parametrize("name", NAMES)
def test_a_registered_study_has_a_date_and_one_primary_claim_unless_it_reads_anothers_runs(name):
    experiment = find_experiment(name)
    if experiment.registered:
        assert experiment.registered == "2026-11-18"
        primary = [claim.name for claim in experiment.claims if claim.primary]
        assert len(primary) == (name not in ("fig5-baselines", "fig17", "fig19"))


@pytest.mark.parametrize("name", NAMES)
def test_claims_judge_a_table_that_has_nothing(name):
    rows = [Row(name, "random policy", "t", 0, 0, "return", 1.0)]
    outcomes = {claim.judge(rows).outcome for claim in find_experiment(name).claims}
    assert outcomes <= {"not run"}


def test_declarations_need_no_torch():
    program = (
        "import sys; from lff.experiments import list_experiments; list_experiments();"
        "print({'torch', 'gymnasium', 'mujoco'} & {*sys.modules})"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "set()", done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_what_calls_a_scale_the_whole_has_the_same_jobs_above_it(name):
    experiment = find_experiment(name)
    if experiment.whole_at == "laptop":
        one, other = ({c.digest for c in cells_of(name, s)} for s in ("laptop", "paper"))
        assert one == other
    assert experiment.is_small("smoke")
    assert not experiment.is_small("paper")


BARE = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("mujoco", "dm_control", "ray", "optuna"):
            raise ImportError(f"{name} is not installed here")
sys.meta_path.insert(0, Refuse())
from lff.cli.main import main
main()
"""


def test_status_plans_every_experiment_without_simulators_and_extras(tmp_path):
    command = [sys.executable, "-c", BARE, "experiment", "status", "--json"]
    command += ["--dir", str(tmp_path), "--results", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    counts = {line["name"]: line["jobs"]["laptop"][1] for line in json.loads(done.stdout)}
    assert counts.keys() == {*NAMES}
    assert counts["fig8"] == 8 * 2 * 6


@pytest.mark.parametrize("name", NAMES)
def test_claims_of_the_paper_quote_it(name):
    for claim in find_experiment(name).claims:
        assert claim.whose in ("paper, empirical", "paper, mathematical", "ours")
        if claim.whose != "ours":
            assert re.match(
                r"(Section|Figure|Appendix|Lemma|Theorem|Introduction|Poster)", claim.quote
            )
    assert sum(claim.primary for claim in find_experiment(name).claims) <= 1
