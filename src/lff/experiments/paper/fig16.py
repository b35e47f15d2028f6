"""Figure 16: the lava maze, whose Q* has fine detail, by regression and by fitted Q-iteration."""

from typing import Any

from lff.experiments.grids import Each, network
from lff.experiments.spec import Experiment, Panel, ScaleName, baseline, ours, rival
from lff.stats.kinds import Better
from lff.stats.metrics import Metric

LARGE, SMALL, MEDIUM = "LFF σ=3", "LFF σ=0.01", "LFF σ=0.3"
FIXED = "LFF σ=3, fixed B"
ERROR, VALUE = Metric("error to Q*", better="lower"), Metric("value")
RETURN, Q = Metric("return", "normalised return"), Metric("mean Q")
LAST: dict[str, Any] = {"metric": ERROR, "statistic": "last", "scale": "log"}
TASKS: dict[str, dict[str, Any]] = {"64x64": {}}


def bootstrapped(scale: ScaleName, **net: Any) -> Any:
    """Return fitted Q-iteration of one network in five mazes."""
    from lff.experiments.jobs.gridworlds import FQIJob
    from lff.tabular import FQIConfig

    small = scale == "smoke"
    return FQIJob(
        task="lava",
        fqi=FQIConfig(
            net=network(8 if small else 256, **net),
            data="full",
            gradient_steps=2 if small else 100,
            batch_size=512,
            lr=1e-3,
        ),
        every=2,
        size=12 if small else 64,
        iterations=4 if small else 100,
        seeds=2 if small else 5,
    )


BOOTSTRAPPED = Experiment(
    name="fig16b",
    title="Does a large σ help where targets are bootstrapped, not given?",
    source="beyond the paper: Figure 16 by fitted Q-iteration",
    arms={
        "MLP": baseline(net="mlp", sigma=3.0),
        SMALL: ours(sigma=0.01),
        MEDIUM: ours(sigma=0.3),
        LARGE: ours(sigma=3.0),
    },
    grid=Each(bootstrapped, TASKS),
    metrics=(ERROR, RETURN, Q),
    sentences={
        "C-16e: Bootstrapped, LFF with σ = 3 comes nearer to Q* than an MLP.": Better(
            LARGE, than="MLP", **LAST
        ),
        "C-16f: Bootstrapped, its greedy policy earns more.": Better(
            LARGE, than="MLP", metric=RETURN, statistic="last"
        ),
        "C-16g: Bootstrapped, σ = 3 comes nearer to Q* than σ = 0.01.": Better(
            LARGE, than=SMALL, **LAST
        ),
        "C-16h: Bootstrapped, LFF with σ = 3 reaches nine tenths of the optimal return.": Better(
            LARGE, than=0.9, metric=RETURN, statistic="last"
        ),
    },
    panels=(Panel(ERROR, log=True, x="iteration"), Panel(RETURN, x="iteration")),
    notes="Five mazes, one network each; 100 iterations of 100 gradient steps over all states and "
    "actions with expected targets, batches of 512, Adam at 1e-3. Return: 0 for the uniform "
    "policy, 1 for the optimal one, episodes from any free cell.",
)


FITTED = Experiment(
    name="fig16",
    title="Can a network fit the Q* of a lava maze at all, and does a large σ help?",
    source="Figure 16",
    whose="paper, empirical",
    quote='Appendix F.1: "our LFF embedding with σ=3 is able to perfectly learn the ground-truth '
    'Q-function"',
    arms={
        "MLP": baseline(net="mlp", sigma=3.0),
        LARGE: ours(sigma=3.0),
        SMALL: ours(sigma=0.01),
        FIXED: ours(net="fixed-b", sigma=3.0),
        "SIREN": rival(net="siren"),
    },
    grid=Each(
        "maze-fit",
        TASKS,
        size={"hidden_dim": 256},
        small={"hidden_dim": 8, "size": 12, "steps": 8, "every": 4, "batch": 32, "seeds": 2},
    ),
    metrics=(ERROR, RETURN),
    sentences={
        "C-16a: LFF with σ = 3 fits Q* with at most a tenth of the MLP's squared error.": Better(
            LARGE,
            than="MLP",
            **LAST,
            by=10.0,
            primary=True,
            quote='Appendix F.1: "MLPs have extreme difficulty fitting Q*(s, a)"',
        ),
        "C-16b: Its greedy policy earns more than the MLP's.": Better(
            LARGE,
            than="MLP",
            metric=RETURN,
            statistic="last",
            quote='Appendix F.1: "making it impossible for the agent to successfully navigate '
            'narrow corridors of lava"',
        ),
        "C-16c: A small σ fits worse than σ = 3.": Better(LARGE, than=SMALL, **LAST),
        "C-16d: LFF with σ = 3 learns Q* so well that its policy earns 99 % of the optimum or "
        "more.": Better(LARGE, than=0.99, metric=RETURN, statistic="last"),
        "C-16i: Training B fits better than the same B fixed.": Better(
            LARGE, than=FIXED, **LAST, whose="ours"
        ),
        "C-16j: A SIREN fits better than the MLP, at ten times its authors' rate.": Better(
            "SIREN", than="MLP", **LAST, whose="ours"
        ),
    },
    panels=(
        Panel(VALUE, kind="grid"),
        Panel(ERROR, log=True, x="gradient steps"),
        Panel(RETURN, x="gradient steps"),
    ),
    notes="Five mazes of 64x64 cells: 25 % lava that is never left, 10 % wall, eight goals, 20 % "
    "random actions, γ 0.9; 20,000 steps of Adam at 1e-3 on batches of 512 cells, row and column "
    "in [-1, 1] in, five Q-values out. Goals, encoding and optimizer are not published. Return: 0 "
    "for the uniform policy, 1 for the optimal one, episodes from any free cell.",
)

EXPERIMENTS = (FITTED, BOOTSTRAPPED)
