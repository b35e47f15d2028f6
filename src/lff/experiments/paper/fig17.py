"""Figures 17 and 18: how far B moves in training, in actor and critics."""

from lff.experiments.measured import DRIFT, HISTOGRAMS, RETURN
from lff.experiments.spec import Cell, Experiment, Panel, ScaleName
from lff.stats.kinds import AsGood, InSeeds

SIGMAS = (0.001, 0.003, 0.01)
ROLES = {"critics": "Q", "actor": "π"}


def cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return LFF from three σ."""
    from lff.experiments.state import Variant, sizes, train_grid

    variants = {f"LFF σ={sigma:g}": Variant(preset={"sigma": sigma}) for sigma in SIGMAS}
    return train_grid(sizes(scale, laptop_tasks=("dmc/cheetah-run",)), variants)


EXPERIMENTS = (
    Experiment(
        name="fig17",
        title="How far does B move in training?",
        source="Figures 17 and 18",
        cells=cells,
        metrics=(*RETURN, *DRIFT, *HISTOGRAMS),
        claims=(
            *(
                InSeeds(
                    name=f"C-17a/{role}/{sigma:g}",
                    text=f"B of the {role} ends more than ten times wider than σ = {sigma:g}.",
                    arm=f"LFF σ={sigma:g}",
                    metric=f"std of B, {role}",
                    above=10 * sigma,
                    share=0.8,
                )
                for role in ROLES
                for sigma in SIGMAS
            ),
            *(
                AsGood(
                    name=f"C-17b/{role}",
                    text=f"Where B of the {role} ends does not depend on σ: 0.001 against 0.003.",
                    arm="LFF σ=0.001",
                    than="LFF σ=0.003",
                    metric=f"std of B, {role}",
                    statistic="last",
                )
                for role in ROLES
            ),
        ),
        panels=(
            Panel(metric="std of B, critics", log=True),
            Panel(metric="std of B, actor", log=True),
            Panel(metric="B of critics, bin", kind="histogram"),
            Panel(metric="B of actor, bin", kind="histogram"),
        ),
        notes="Histograms count entries in twenty bins from -4 to 4 standard deviations of their "
        "own time: they show the shape, the curves above them the width.",
    ),
)
