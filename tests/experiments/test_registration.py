"""Registration: a table keeps what decided its registered claims when it got its first row."""

import json
from dataclasses import replace

import pytest

import lff.experiments
from lff.experiments.jobs.pause import PauseJob
from lff.experiments.results import Table, claim_digest, write_view
from lff.experiments.spec import Cell, Experiment, ours, rival
from lff.stats import Better, Metric, MoreOften, Row

M = Metric("number")
PLACES = [(arm, "t", seed) for arm in "AB" for seed in range(3)]
CLAIM = Better("A", than="B", metric=M)


def grid(_arms, _scale):
    return tuple(
        Cell(arm, task, PauseJob(number=10 * i + seed), seed)
        for i, (arm, task, seed) in enumerate(PLACES)
    )


def study(claim=CLAIM, **fields):
    return Experiment(
        name="study",
        title="?",
        arms={"A": ours(), "B": rival()},
        grid=grid,
        metrics=(M,),
        sentences={"C-1: A is better.": claim},
        **{"registered": "2026-11-18", **fields},
    )


@pytest.fixture
def places(tmp_path):
    return {"dir": tmp_path / "runs", "results": tmp_path / "results"}


def sidecar(places):
    return json.loads((places["results"] / "smoke" / "study.json").read_text())


def marks(experiment, places):
    result = lff.experiments.run(experiment, "smoke", workers=0, **places)
    return result.verdicts["C-1"].marks


@pytest.mark.parametrize(
    "other",
    [
        replace(CLAIM, name="C-2", text="Other words."),
        replace(CLAIM, whose="ours", quote="Figure 1", registered="2026-01-01", primary=True),
    ],
)
def test_prose_does_not_decide(other):
    assert claim_digest(other, PLACES) == claim_digest(CLAIM, PLACES)


@pytest.mark.parametrize(
    "other",
    [
        replace(CLAIM, arm="C"),
        replace(CLAIM, sign=-1),
        replace(CLAIM, by=1.0),
        replace(CLAIM, scale="ratio"),
        replace(CLAIM, statistic="last"),
        replace(CLAIM, tasks=("t",)),
        replace(CLAIM, on_at_least=1),
        replace(CLAIM, alpha=0.0294),
        replace(CLAIM, metric=Metric("number", better="lower")),
        MoreOften("A", than="B", metric=M, above=0.0),
    ],
)
def test_what_decides_is_in_the_digest(other):
    assert claim_digest(other, PLACES) != claim_digest(CLAIM, PLACES)


def test_so_are_the_seeds_of_its_own_arms_in_any_order():
    digest = claim_digest(CLAIM, PLACES)
    assert claim_digest(CLAIM, PLACES[::-1]) == digest
    assert claim_digest(CLAIM, [*PLACES, ("C", "t", 0)]) == digest
    assert claim_digest(CLAIM, [*PLACES, ("A", "t", 3)]) != digest
    assert claim_digest(CLAIM, [(arm, "u", seed) for arm, _, seed in PLACES]) != digest


def test_infinite_bounds_have_a_digest():
    claim = MoreOften("A", metric=M, above=0.5)
    assert claim.decides["below"] == "inf"
    assert len(claim_digest(claim, PLACES)) == 16


def test_a_study_that_was_registered_is_marked_so(places):
    assert marks(study(), places) == ("registered 2026-11-18",)
    assert sidecar(places)["claims"] == {"C-1": claim_digest(CLAIM, PLACES)}


def test_a_study_that_was_not_is_post_hoc_and_its_sidecar_holds_no_claims(places):
    assert marks(study(registered=""), places) == ("post hoc",)
    assert "claims" not in sidecar(places)


def test_one_claim_of_a_registered_study_may_be_post_hoc(places):
    assert marks(study(replace(CLAIM, registered="")), places) == ("post hoc",)


def test_a_claim_that_changed_after_the_first_row_is_marked_and_the_first_digest_stays(places):
    marks(study(), places)
    changed = study(replace(CLAIM, by=2.0))
    expected = ("registered 2026-11-18", "changed after the first row")
    assert marks(changed, places) == expected
    assert sidecar(places)["claims"] == {"C-1": claim_digest(CLAIM, PLACES)}
    assert marks(study(), places) == ("registered 2026-11-18",)


def test_a_claim_that_came_after_the_first_row_is_marked(places):
    marks(study(registered=""), places)
    assert marks(study(), places)[1:] == ("changed after the first row",)


def test_before_the_first_row_a_claim_may_change(places):
    cells = grid(None, "smoke")
    empty = write_view(study(), cells, "smoke", results=places["results"])
    assert (len(empty.jobs), empty.rows) == (0, [])
    assert marks(study(replace(CLAIM, by=2.0)), places) == ("registered 2026-11-18",)


def table(*sides, planned=1):
    """A table of ten seeds; each pair of arms differs by so many standard errors of Welch."""
    rows = []
    for i, gap in enumerate(sides):
        for seed in range(10):
            noise = (seed - 4.5) / 9.166**0.5  # standard deviation 1
            rows.append(Row("x", f"A{i}", "t", seed, 1, "number", noise + gap * 0.2**0.5))
            rows.append(Row("x", f"B{i}", "t", seed, 1, "number", noise))
    jobs = {"d": [["A0", "t", None]]}
    return Table("laptop", None, rows, {"jobs": jobs, "planned": planned})


def family(*, primary=None):
    return Experiment(
        name="family",
        title="?",
        arms={"A0": ours()},
        grid=lambda *_: (),
        metrics=(M,),
        sentences={
            f"C-{i}: A is better.": Better(f"A{i}", than=f"B{i}", metric=M, primary=i == primary)
            for i in range(3)
        },
    )


def test_the_primary_claim_is_judged_alone_and_holms_correction_is_made_over_the_rest():
    """t = 2.3, 2.3 and 2.9 with 18 degrees: p = 0.034, 0.034 and 0.0096."""
    judged = table(2.3, 2.3, 2.9).judge(family(primary=0))
    assert [v.p for v in judged.values()] == pytest.approx([0.0336, 0.0336, 0.0096], abs=5e-4)
    assert {v.outcome for v in judged.values()} == {"supported here"}
    # 2 · 0.0096 and then 0.034 are below 0.05
    assert {v.adjusted for v in judged.values()} == {"supported here"}
    # without a primary claim 3 · 0.0096 is, 2 · 0.034 is not
    alone = table(2.3, 2.3, 2.9).judge(family())
    assert [v.adjusted for v in alone.values()] == [
        "undecided here",
        "undecided here",
        "supported here",
    ]


def test_a_partial_table_is_not_judged():
    judged = table(9.0, 9.0, 9.0, planned=2).judge(family())
    assert {v.outcome for v in judged.values()} == {"incomplete table"}
    assert judged["C-0"].because == "1 of 2 jobs are there"
