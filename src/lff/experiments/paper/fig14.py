"""Figures 14 and 15: how much σ and the Fourier dimension matter."""

import itertools

from lff.experiments.measured import DRIFT, RETURN
from lff.experiments.spec import Cell, Experiment, Panel, ScaleName
from lff.stats.kinds import AsGood, Better

SIGMAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
SIZES = (16, 64, 256, 1024)


def sigma_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return one arm per σ."""
    from lff.experiments.state import Variant, sizes, train_grid

    variants = {f"σ={sigma:g}": Variant(preset={"sigma": sigma}) for sigma in SIGMAS}
    tasks = ("dmc/cheetah-run", "dmc/acrobot-swingup")
    return train_grid(sizes(scale, laptop_tasks=tasks), variants)


def size_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return one arm per Fourier dimension."""
    from lff.experiments.state import Variant, sizes, train_grid

    variants = {f"F={size}": Variant(preset={"fourier_dim": size}) for size in SIZES}
    return train_grid(sizes(scale, laptop_tasks=("dmc/cheetah-run",)), variants)


EXPERIMENTS = (
    Experiment(
        name="fig14",
        title="How much does σ matter?",
        source="Figure 14",
        cells=sigma_cells,
        metrics=(*RETURN, *DRIFT),
        claims=(
            *(
                AsGood(
                    name=f"C-14a/{sigma:g}",
                    text=f"σ = {sigma:g} is as good as 0.001: below the floor it does nothing.",
                    arm=f"σ={sigma:g}",
                    than="σ=0.001",
                )
                for sigma in (1e-4, 1e-2)
            ),
            Better(
                name="C-14b",
                text="σ = 0.001 is better than 1.",
                arm="σ=0.001",
                than="σ=1",
            ),
            *(
                Better(
                    name=f"C-14c/{sigma:g}",
                    text=f"One σ fits all tasks: 0.001 is better than {sigma:g} on each.",
                    arm="σ=0.001",
                    than=f"σ={sigma:g}",
                )
                for sigma in (1e-2, 1e-1)
            ),
        ),
        panels=(Panel(metric="return"), Panel(metric="std of B, critics", log=True)),
    ),
    Experiment(
        name="fig15",
        title="How much does the Fourier dimension matter?",
        source="Figure 15",
        cells=size_cells,
        metrics=RETURN,
        claims=(
            *(
                Better(
                    name=f"C-15a/{large}",
                    text=f"F = {large} is better than {small}.",
                    arm=f"F={large}",
                    than=f"F={small}",
                )
                for small, large in itertools.pairwise(SIZES)
            ),
            AsGood(
                name="C-15b",
                text="From 256 to 1024 it is flat.",
                arm="F=256",
                than="F=1024",
            ),
        ),
        panels=(Panel(metric="return"),),
        notes="The hidden layers keep their width.",
    ),
)
