"""Figures 17 and 18: how far B moves in training, in actor and critics."""

from lff.experiments.grids import Training
from lff.experiments.measured import ACTOR_STD, CRITIC_STD, DRIFT, HISTOGRAMS, RETURN
from lff.experiments.spec import Experiment, Panel, ours
from lff.stats.kinds import AsGood, InSeeds

SIGMAS = (0.001, 0.003, 0.01)
ROLES = {"critics": CRITIC_STD, "actor": ACTOR_STD}


EXPERIMENTS = (
    Experiment(
        name="fig17",
        title="How far does B move in training?",
        source="Figures 17 and 18",
        arms={f"LFF σ={sigma:g}": ours(sigma=sigma) for sigma in SIGMAS},
        grid=Training(laptop=("dmc/cheetah-run",)),
        metrics=(RETURN, *DRIFT, *HISTOGRAMS),
        sentences={
            **{
                f"C-17a/{role}/{sigma:g}: "
                f"B of the {role} ends more than ten times wider than σ = {sigma:g}.": InSeeds(
                    f"LFF σ={sigma:g}", metric=metric, above=10 * sigma, share=0.8
                )
                for role, metric in ROLES.items()
                for sigma in SIGMAS
            },
            **{
                f"C-17b/{role}: "
                f"Where B of the {role} ends does not depend on σ: 0.001 against 0.003.": AsGood(
                    "LFF σ=0.001", than="LFF σ=0.003", metric=metric, statistic="last"
                )
                for role, metric in ROLES.items()
            },
        },
        panels=(
            Panel(CRITIC_STD, log=True),
            Panel(ACTOR_STD, log=True),
            *(Panel(metric, kind="histogram") for metric in reversed(HISTOGRAMS)),
        ),
        notes="Histograms count entries in twenty bins from -4 to 4 standard deviations of their "
        "own time: they show the shape, the curves above them the width.",
    ),
)
