"""Figure 16: the lava maze, whose Q* has fine detail, by regression and by fitted Q-iteration."""

from typing import Any

from lff.experiments.spec import Cell, Experiment, Panel, ScaleName
from lff.stats.kinds import Better, InSeeds

LARGE, SMALL, MEDIUM = "LFF σ=3", "LFF σ=0.01", "LFF σ=0.3"
FIXED = "LFF σ=3, fixed B"
MAZE, RETURN, ERROR = "64x64", "normalised return", "error to Q*"


def networks(width: int) -> dict[str, Any]:
    """Return the arms: the MLP has three layers, LFF as many parameters."""
    from lff.nn import Fourier, MLPTrunk, NetConfig, SIRENTrunk, matched_mlp

    trunk = MLPTrunk((width, width))

    def waves(sigma: float, *, trainable: bool = True) -> NetConfig:
        return NetConfig(Fourier(fourier_dim=width, sigma=sigma, trainable=trainable), trunk)

    return {
        "MLP": matched_mlp(waves(3.0), 2, 5),
        LARGE: waves(3.0),
        MEDIUM: waves(0.3),
        SMALL: waves(0.01),
        FIXED: waves(3.0, trainable=False),
        "SIREN": NetConfig(trunk=SIRENTrunk((width,) * 3)),
    }


def bootstrap_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return one job per network; each has five mazes."""
    from lff.experiments.jobs.fqi import FQIJob
    from lff.tabular import FQIConfig

    small = scale == "smoke"
    made = networks(8 if small else 256)
    return tuple(
        Cell(
            name,
            MAZE,
            FQIJob(
                task="lava",
                fqi=FQIConfig(
                    net=made[name],
                    data="full",
                    gradient_steps=2 if small else 100,
                    batch_size=512,
                    lr=1e-3,
                ),
                every=2,
                size=12 if small else 64,
                iterations=4 if small else 100,
                seeds=2 if small else 5,
            ),
        )
        for name in ("MLP", SMALL, MEDIUM, LARGE)
    )


BOOTSTRAPPED = Experiment(
    name="fig16b",
    title="Does a large σ help where targets are bootstrapped, not given?",
    source="beyond the paper: Figure 16 by fitted Q-iteration",
    whole_at="laptop",
    cells=bootstrap_cells,
    metrics=(("error to Q*", ERROR), ("return", RETURN), ("mean Q", "mean Q")),
    claims=(
        Better(
            name="C-16e",
            text="Bootstrapped, LFF with σ = 3 comes nearer to Q* than an MLP.",
            arm=LARGE,
            than="MLP",
            metric=ERROR,
            statistic="last",
            sign=-1,
        ),
        Better(
            name="C-16f",
            text="Bootstrapped, its greedy policy earns more.",
            arm=LARGE,
            than="MLP",
            metric=RETURN,
            statistic="last",
        ),
        Better(
            name="C-16g",
            text="Bootstrapped, σ = 3 comes nearer to Q* than σ = 0.01.",
            arm=LARGE,
            than=SMALL,
            metric=ERROR,
            statistic="last",
            sign=-1,
        ),
        InSeeds(
            name="C-16h",
            text="Bootstrapped, LFF with σ = 3 reaches nine tenths of the optimal return.",
            arm=LARGE,
            metric=RETURN,
            above=0.9,
            share=0.8,
        ),
    ),
    panels=(
        Panel(metric=ERROR, log=True, x="iteration"),
        Panel(metric=RETURN, x="iteration"),
    ),
    notes="Five mazes, one network each; 100 iterations of 100 gradient steps over all states and "
    "actions with expected targets, batches of 512, Adam at 1e-3. Return: 0 for the uniform "
    "policy, 1 for the optimal one, episodes from any free cell.",
)


def fit_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return one job per network; each fits five mazes."""
    from lff.experiments.jobs.mazes import MazeFitJob

    small = scale == "smoke"
    made = networks(8 if small else 256)
    return tuple(
        Cell(
            name,
            MAZE,
            MazeFitJob(
                net=made[name],
                size=12 if small else 64,
                steps=8 if small else 20_000,
                every=4 if small else 500,
                batch=32 if small else 512,
                seeds=2 if small else 5,
            ),
        )
        for name in ("MLP", LARGE, SMALL, FIXED, "SIREN")
    )


FITTED = Experiment(
    name="fig16",
    title="Can a network fit the Q* of a lava maze at all, and does a large σ help?",
    source="Figure 16",
    whole_at="laptop",
    cells=fit_cells,
    metrics=(("error to Q*", ERROR), ("return", RETURN)),
    claims=(
        InSeeds(
            name="C-16a",
            text="LFF with σ = 3 fits Q* with at most a tenth of the MLP's squared error.",
            arm=LARGE,
            than="MLP",
            metric=ERROR,
            below=0.1,
            share=0.8,
        ),
        Better(
            name="C-16b",
            text="Its greedy policy earns more than the MLP's.",
            arm=LARGE,
            than="MLP",
            metric=RETURN,
            statistic="last",
        ),
        Better(
            name="C-16c",
            text="A small σ fits worse than σ = 3.",
            arm=LARGE,
            than=SMALL,
            metric=ERROR,
            statistic="last",
            sign=-1,
        ),
        InSeeds(
            name="C-16d",
            text="LFF with σ = 3 learns Q* so well that its policy earns 99 % of the optimum.",
            arm=LARGE,
            metric=RETURN,
            above=0.99,
            share=0.8,
        ),
        Better(
            name="C-16i",
            text="Ours: training B fits better than the same B fixed.",
            arm=LARGE,
            than=FIXED,
            metric=ERROR,
            statistic="last",
            sign=-1,
        ),
        Better(
            name="C-16j",
            text="Ours: a SIREN fits better than the MLP, too.",
            arm="SIREN",
            than="MLP",
            metric=ERROR,
            statistic="last",
            sign=-1,
        ),
    ),
    panels=(
        Panel(metric="value", kind="grid"),
        Panel(metric=ERROR, log=True, x="gradient steps"),
        Panel(metric=RETURN, x="gradient steps"),
    ),
    notes="Five mazes of 64x64 cells: 25 % lava that is never left, 10 % wall, eight goals, 20 % "
    "random actions, γ 0.9; 20,000 steps of Adam at 1e-3 on batches of 512 cells, row and column "
    "in [-1, 1] in, five Q-values out. Goals, encoding and optimizer are not published. Return: 0 "
    "for the uniform policy, 1 for the optimal one, episodes from any free cell.",
)

EXPERIMENTS = (FITTED, BOOTSTRAPPED)
