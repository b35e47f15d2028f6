"""Figures 14 and 15: how much σ and the Fourier dimension matter."""

import itertools

from lff.experiments.grids import Training
from lff.experiments.measured import CRITIC_STD, DRIFT, RETURN
from lff.experiments.spec import Experiment, Panel, ours
from lff.stats.kinds import AsGood, Better

SIZES = (16, 64, 256, 1024)


EXPERIMENTS = (
    Experiment(
        name="fig14",
        title="How much does σ matter?",
        source="Figure 14",
        arms={f"σ={sigma:g}": ours(sigma=sigma) for sigma in (1e-4, 1e-3, 1e-2, 1e-1, 1.0)},
        grid=Training(laptop=("dmc/cheetah-run", "dmc/acrobot-swingup")),
        metrics=(RETURN, *DRIFT),
        sentences={
            **{
                f"C-14a/{sigma:g}: "
                f"σ = {sigma:g} is as good as 0.001: below the floor it does nothing.": AsGood(
                    f"σ={sigma:g}", than="σ=0.001"
                )
                for sigma in (1e-4, 1e-2)
            },
            "C-14b: σ = 0.001 is better than 1.": Better("σ=0.001", than="σ=1"),
            **{
                f"C-14c/{sigma:g}: "
                f"One σ fits all tasks: 0.001 is better than {sigma:g} on each.": Better(
                    "σ=0.001", than=f"σ={sigma:g}"
                )
                for sigma in (1e-2, 1e-1)
            },
        },
        panels=(Panel(RETURN), Panel(CRITIC_STD, log=True)),
    ),
    Experiment(
        name="fig15",
        title="How much does the Fourier dimension matter?",
        source="Figure 15",
        arms={f"F={size}": ours(fourier_dim=size) for size in SIZES},
        grid=Training(laptop=("dmc/cheetah-run",)),
        sentences={
            **{
                f"C-15a/{large}: F = {large} is better than {small}.": Better(
                    f"F={large}", than=f"F={small}"
                )
                for small, large in itertools.pairwise(SIZES)
            },
            "C-15b: From 256 to 1024 it is flat.": AsGood("F=256", than="F=1024"),
        },
        notes="The hidden layers keep their width.",
    ),
)
