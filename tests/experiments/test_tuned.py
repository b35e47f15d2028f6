"""Equal tuning: the rule that chooses rates, and the studies at those rates."""

import math
from pathlib import Path

import pytest

from lff.core.errors import BadInputError
from lff.experiments import find_experiment
from lff.experiments.beyond.tuned import (
    CHOSEN,
    NETS,
    RATES,
    RIVALS,
    best_rates,
    named,
    rivals,
    why,
)
from lff.experiments.results import find_table
from lff.stats.tables import Row

TASKS = ("dmc/cheetah-run", "dmc/finger-spin")
MADE_UP = dict.fromkeys((*NETS, *RIVALS), 3e-4)


def table(scores, nets=("A", "B")):
    """Curves of two points, 0 at first; ``scores[net][rate][task][seed]`` is half the last one."""
    rows = []
    for net in nets:
        for rate, tasks in zip(RATES, scores[net], strict=True):
            for task, seeds in zip(TASKS, tasks, strict=True):
                for seed, score in enumerate(seeds, 100):
                    arm = named(net, rate)
                    rows.append(Row("tuning", arm, task, seed, 1, "return", 0.0))
                    rows.append(Row("tuning", arm, task, seed, 3, "return", 2 * score))
    return rows


SCORES = {
    # mean over seeds and tasks: 25, 30, 20; the best single run and the best task are elsewhere
    "A": [[(10, 30), (30, 30)], [(40, 40), (20, 20)], [(80, 0), (0, 0)]],
    "B": [[(5, 5), (5, 5)], [(5, 5), (5, 5)], [(6, 6), (5, 5)]],
}


def test_the_highest_mean_over_seeds_and_tasks_is_chosen():
    assert best_rates(table(SCORES), ("A", "B")) == {"A": 1e-3, "B": 3e-3}


def test_of_equal_rates_the_smaller_is_chosen():
    even = {"A": [[(7, 7), (7, 7)]] * 3}
    assert best_rates(table(even, ("A",)), ("A",)) == {"A": 3e-4}


def test_a_rate_with_a_run_without_a_finite_return_is_not_chosen():
    rows = table({"A": [[(1, 1), (1, 1)], [(9, 9), (9, 9)], [(99, 99), (99, 99)]]}, ("A",))
    lost = (named("A", 3e-3), TASKS[0], 101)
    rows = [r._replace(value=math.nan) if r[1:4] == lost else r for r in rows]
    assert best_rates(rows, ("A",)) == {"A": 1e-3}


def test_the_mean_is_by_trapezoids_over_steps():
    """0 at step 1, then 10 from step 3 to 11: the mean is 9 over ten steps, not 6.7."""
    rows = []
    for rate, points in zip(
        RATES, ({1: 0, 3: 10, 11: 10}, {1: 8, 11: 8}, {1: 0, 11: 10}), strict=True
    ):
        rows += [
            Row("tuning", named("A", rate), TASKS[0], 100, step, "return", float(value))
            for step, value in points.items()
        ]
    assert best_rates(rows, ("A",)) == {"A": 3e-4}


def test_a_table_with_missing_jobs_is_refused():
    rows = [r for r in table(SCORES) if (r.variant, r.seed) != (named("B", 3e-3), 101)]
    with pytest.raises(BadInputError, match="of the same seeds for all arms"):
        best_rates(rows, ("A", "B"))


@pytest.mark.parametrize(("name", "nets"), [("tuning", NETS), ("rivals-tuning", RIVALS)])
def test_chosen_rates_are_those_of_the_committed_table_as_soon_as_it_is_complete(name, nets):
    found = find_table(Path(__file__).parents[2] / "results", name, "laptop")
    complete = found is not None and not found.is_partial
    expected = best_rates(found.rows, nets) if complete else {}
    assert {net: rate for net, rate in CHOSEN.items() if net in nets} == expected


@pytest.mark.parametrize(
    ("study", "arms", "primary"),
    [
        (why, ["MLP", "MLP-2", "MLP + layer norm", "MLP + normalised observations"], "W-1"),
        (rivals, ["SimBa", "CrossQ", "LFF + layer norm"], "R-1"),
    ],
)
def test_studies_are_ready_for_their_rates(study, arms, primary):
    experiment = study(MADE_UP)
    cells = experiment.cells("laptop")
    assert {*arms, "LFF"} == {*experiment.arms} - {"linear control"}
    assert len(cells) == len(experiment.arms) * 3 * 8
    assert {c.seed for c in cells} == {*range(10, 18)}
    assert {c.task for c in cells} == {*TASKS, "dmc/walker-walk"}
    assert {c.job.config.steps for c in cells} == {60_000}
    for claim in experiment.claims:
        assert {*claim.arms} <= {*experiment.arms}
        assert claim.registered == "2026-11-18"
    assert [claim.name for claim in experiment.claims if claim.primary] == [primary]


def test_rates_reach_both_networks_and_runs_at_the_default_are_shared_with_fig5():
    rates = {**MADE_UP, "LFF": 1e-3, "SimBa": 3e-3, "CrossQ": 1e-3}
    first = {c.variant: c.job.config.algo for c in why(rates).cells("laptop")}
    assert {(a.actor_lr, a.critic_lr) for n, a in first.items() if "LFF" not in n} == {
        (3e-4, 3e-4),
        (1e-3, 1e-3),  # the linear control has LFF's
    }
    assert first["linear control"].critic_lr == first["LFF"].critic_lr == 1e-3
    second = {c.variant: c.job.config.algo for c in rivals(rates).cells("laptop")}
    assert (second["SimBa"].actor_lr, second["CrossQ"].critic_lr) == (3e-3, 1e-3)
    assert (second["SimBa"].normalize_obs, second["CrossQ"].normalize_obs) == (True, False)
    assert (second["SimBa"].actor.trunk.blocks, second["SimBa"].critic.trunk.blocks) == (1, 2)
    shared = {c.digest for c in find_experiment("fig5").cells("laptop")}
    own = [c for c in why(rates).cells("laptop") if c.variant == "MLP"]
    assert {c.digest for c in own} <= shared
