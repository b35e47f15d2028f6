"""Figures 7 and 12: Gaussian noise on the bootstrap targets."""

from lff.experiments.measured import Q_VALUES, RETURN
from lff.experiments.spec import Cell, Experiment, Panel, ScaleName
from lff.stats.kinds import Better, Point, Slope

NETS = {"MLP": "mlp", "LFF": "lff", "linear control": "linear"}
SMALL, FULL = (0.0, 1.0, 3.0), (0.0, 1.0, 10.0, 30.0)


def _cells(scale: ScaleName, noises: tuple[float, ...], tasks: tuple[str, ...]) -> tuple[Cell, ...]:
    from lff.envs import PAPER_TASKS
    from lff.experiments.state import Variant, sizes, train_grid

    variants = {
        f"{name}, noise {noise:g}": Variant(net=net, agent={"target_noise": noise})
        for noise in noises
        for name, net in NETS.items()
    }
    all_but_humanoid = tuple(task for task in PAPER_TASKS if "humanoid" not in task)
    return train_grid(sizes(scale, laptop_tasks=tasks, paper_tasks=all_but_humanoid), variants)


def fig7_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return noise of a few units: at the small scale |Q| is some tens, not hundreds."""
    noises = FULL if scale == "paper" else SMALL
    return _cells(scale, noises, ("dmc/walker-run", "dmc/cheetah-run"))


def fig12_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return the paper's own noise, 1, 10 and 30, whatever the scale."""
    return _cells(scale, FULL, ("dmc/cheetah-run",))


def _claims(figure: str, noises: tuple[float, ...]) -> tuple[Better | Slope, ...]:
    return (
        Slope(
            name=f"C-{figure}a",
            text="The more noise on the targets, the more LFF gains over the MLP.",
            points=tuple(
                Point(noise, f"LFF, noise {noise:g}", minus=f"MLP, noise {noise:g}")
                for noise in noises
            ),
        ),
        *(
            Better(
                name=f"C-{figure}b/{noise:g}",
                text=f"With noise of {noise:g} on the targets LFF learns better than the MLP.",
                arm=f"LFF, noise {noise:g}",
                than=f"MLP, noise {noise:g}",
            )
            for noise in noises[1:]
        ),
        *(
            Better(
                name=f"C-{figure}c/{noise:g}",
                text=f"With noise of {noise:g} it takes the waves: LFF beats the linear control.",
                arm=f"LFF, noise {noise:g}",
                than=f"linear control, noise {noise:g}",
            )
            for noise in noises[1:]
        ),
    )


EXPERIMENTS = (
    Experiment(
        name="fig7",
        title="Does LFF withstand noise on the targets better than an MLP?",
        source="Figure 7",
        cells=fig7_cells,
        metrics=(*RETURN, *Q_VALUES),
        claims=_claims("7", SMALL),
        panels=(Panel(metric="return"),),
        notes="At laptop scale the noise is 0, 1 and 3, in proportion to |Q| after 40,000 steps; "
        "fig12 has the paper's 1, 10 and 30. At paper scale the claims judge the small ones.",
    ),
    Experiment(
        name="fig12",
        title="The same with the paper's noise, whatever the scale: 1, 10 and 30.",
        source="Figure 12",
        cells=fig12_cells,
        metrics=(*RETURN, *Q_VALUES),
        claims=_claims("12", FULL),
        panels=(Panel(metric="return"),),
    ),
)
