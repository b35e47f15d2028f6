"""Theorem 1: from which σ on is the Bellman update a contraction?"""

from typing import Any

from lff.experiments.spec import Cell, Experiment, Panel, ScaleName
from lff.stats.kinds import InSeeds

BOUND, SMALL = "σ at the bound", "σ = 0.01"


def cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return a job at the bound and one far below."""
    from lff.experiments.jobs.bellman import ContractionJob

    size: dict[str, Any] = {"draws": 2, "states": (5, 6)} if scale == "smoke" else {"draws": 100}
    return (
        Cell(BOUND, "random MDPs", ContractionJob(**size)),
        Cell(SMALL, "random MDPs", ContractionJob(sigma=0.01, **size)),
    )


EXPERIMENTS = (
    Experiment(
        name="thm1",
        title="From which σ on is the Bellman update a contraction?",
        source="Theorem 1",
        whole_at="laptop",
        cells=cells,
        metrics=(
            ("coupling", "coupling"),
            ("norm", "norm of the update"),
            ("growth", "growth"),
            ("bound", "bound on σ"),
            ("bound over least", "bound over least σ"),
            ("bound over contracting", "bound over contracting σ"),
        ),
        claims=(
            InSeeds(
                name="THM-1a",
                text="From the bound on the theorem's condition holds on every MDP.",
                arm=BOUND,
                metric="coupling",
                below=1.0,
                share=1.0,
            ),
            InSeeds(
                name="THM-1b",
                text="There the evaluation of a policy contracts on every MDP.",
                arm=BOUND,
                metric="norm of the update",
                below=1.0,
                share=1.0,
            ),
            InSeeds(
                name="THM-1c",
                text="So does the update with the maximum over actions.",
                arm=BOUND,
                metric="growth",
                below=1.0,
                share=1.0,
            ),
            InSeeds(
                name="THM-1d",
                text="A small learning rate is not enough: at σ = 0.01 the condition fails on "
                "every MDP.",
                arm=SMALL,
                metric="coupling",
                above=1.0,
                share=1.0,
            ),
            InSeeds(
                name="THM-1e",
                text="At σ = 0.01 the update with the maximum is no contraction.",
                arm=SMALL,
                metric="growth",
                above=1.0,
                share=0.9,
            ),
            InSeeds(
                name="THM-1f",
                text="The bound is within a factor of two of the least σ that fulfils the "
                "condition.",
                arm=BOUND,
                metric="bound over least σ",
                below=2.0,
                share=1.0,
            ),
        ),
        panels=(
            Panel(metric="coupling", kind="bars", log=True, line=1.0, line_label="at most 1 asked"),
            Panel(metric="growth", kind="bars", log=True, line=1.0, line_label="below: contracts"),
            Panel(metric="bound over least σ", kind="bars"),
            Panel(metric="bound over contracting σ", kind="bars"),
        ),
        notes="100 random MDPs of 5 to 50 states and two actions at random points of spheres in 2, "
        "3 and 8 dimensions, γ of 0.5, 0.9 and 0.99, α K ρ = 0.5. σ is Lemma 1's: "
        "the layer's times 2π. The bound is the one the printed theorem leaves out.",
    ),
)
