"""Theorem 1: from which σ on is the Bellman update a contraction?"""

from lff.experiments.grids import Each
from lff.experiments.spec import Experiment, Panel, ours
from lff.stats.kinds import Computed
from lff.stats.metrics import Metric

BOUND, SMALL = "σ at the bound", "σ = 0.01"
COUPLING, GROWTH = Metric("coupling", better="lower"), Metric("growth", better="lower")
NORM = Metric("norm", "norm of the update", "lower")
SIGMA = Metric("bound", "bound on σ", "lower")
OVER_LEAST = Metric("bound over least", "bound over least σ", "lower")
OVER_CONTRACTING = Metric("bound over contracting", "bound over contracting σ", "lower")


EXPERIMENTS = (
    Experiment(
        name="thm1",
        title="From which σ on is the Bellman update a contraction?",
        source="Theorem 1",
        whose="paper, mathematical",
        quote="Theorem 1: from some σ on the Bellman update is a contraction",
        arms={BOUND: ours(), SMALL: ours(sigma=0.01)},
        grid=Each(
            "contraction",
            {"random MDPs": {}},
            size={"draws": 100},
            small={"draws": 2, "states": (5, 6)},
        ),
        metrics=(COUPLING, NORM, GROWTH, SIGMA, OVER_LEAST, OVER_CONTRACTING),
        sentences={
            "THM-1a: From the bound on the theorem's condition holds on every MDP.": Computed(
                BOUND, metric=COUPLING, below=1.0
            ),
            "THM-1b: There the evaluation of a policy contracts on every MDP.": Computed(
                BOUND, metric=NORM, below=1.0
            ),
            "THM-1c: So does the update with the maximum over actions.": Computed(
                BOUND, metric=GROWTH, below=1.0
            ),
            "THM-1d: A small learning rate is not enough: at σ = 0.01 the condition fails on every "
            "MDP.": Computed(SMALL, metric=COUPLING, above=1.0, whose="ours"),
            "THM-1e: At σ = 0.01 the update with the maximum is not a contraction, on every "
            "MDP.": Computed(SMALL, metric=GROWTH, above=1.0, whose="ours"),
            "THM-1f: The bound is within a factor of "
            "two of the least σ that fulfils the condition.": Computed(
                BOUND, metric=OVER_LEAST, below=2.0, whose="ours"
            ),
        },
        panels=(
            Panel(COUPLING, kind="bars", log=True, line=1.0, line_label="at most 1 asked"),
            Panel(GROWTH, kind="bars", log=True, line=1.0, line_label="below: contracts"),
            Panel(OVER_LEAST, kind="bars"),
            Panel(OVER_CONTRACTING, kind="bars"),
        ),
        notes="100 random MDPs of 5 to 50 states and two actions at random points of spheres in 2, "
        "3 and 8 dimensions, γ of 0.5, 0.9 and 0.99, α K ρ = 0.5. σ is Lemma 1's: "
        "the layer's times 2π. The bound is the one the printed theorem leaves out.",
    ),
)
