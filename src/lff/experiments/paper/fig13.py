"""Figure 13: noise amplification against underparameterization, by fitted Q-iteration."""

import math
from dataclasses import replace
from typing import Any

from lff.experiments.grids import Each, network, regularizers
from lff.experiments.spec import Experiment, Panel, ScaleName, baseline, control, ours, rival
from lff.stats.kinds import Better, Computed, Correlates, MoreOften, Point, Slope
from lff.stats.metrics import Metric

STEPS = (10, 50, 100, 200)  # T, gradient steps in an iteration; the paper does not state them
WIDTHS = (64, 256)
LFF, LINEAR = "LFF σ=0.1", "linear control"
TASKS = {
    f"T={steps}, width {width}": {"steps": steps, "width": width}
    for width in WIDTHS
    for steps in STEPS
}
FROM_50 = tuple(f"T={steps}, width {width}" for width in WIDTHS for steps in STEPS[1:])
FEW = {f"T={steps}": {"steps": steps, "width": WIDTHS[0]} for steps in (50, 200)}
MOST = tuple(f"T={STEPS[-1]}, width {width}" for width in WIDTHS)
Q, TARGET = Metric("mean Q"), Metric("mean target")
OFF = Metric("magnitude of Q over Q*", better="lower")
ERROR = Metric("error to Q*", better="lower")
RETURN = Metric("return", "normalised return")
RANK, LARGEST = Metric("effective rank"), Metric("largest singular value", peak=True)
SMALLEST = Metric("smallest singular value")
PENALTIES = Metric("difference of penalties", better="lower")
RANK_KEPT = Metric("effective rank, end over start")
LARGEST_GREW = Metric("largest singular value, end over start")
NORM = rival(net="mlp", regularize=("layer-norm",))
AS_WIDE = "constant, as wide"
SINGULAR_VALUES = (LARGEST, SMALLEST, PENALTIES, RANK_KEPT, LARGEST_GREW)
ARMS = {
    "MLP": baseline(net="mlp"),
    LFF: ours(net="lff", sigma=0.1),
    "LFF σ=0.01": ours(net="lff", sigma=0.01),
    LINEAR: control(net="linear", sigma=0.1),
    "constant control": control(net=AS_WIDE),
    "MLP + layer norm": NORM,
}
NEAR = {
    "mlp": "MLP",
    "lff": LFF,
    "linear": LINEAR,
    "constant": "constant control",
    "layer norm": "MLP + layer norm",
}


LAST: dict[str, Any] = {"metric": ERROR, "statistic": "last", "scale": "log"}
BLOWS_UP: dict[str, Any] = {"metric": OFF, "statistic": "max", "above": math.log10(2)}
BLOW_UP = (
    'Appendix E: "MLP-based Q-functions steadily blow up to orders of magnitude above the true Q*"'
)
STABLE = (
    'Appendix E: "LFF-based Q-functions either converge stably to the correct magnitude, or '
    'resist increasing as much"'
)
MORE_STEPS = (
    'Appendix E: "increasing the number of gradient steps is empirically more likely to cause '
    'divergence for MLP Q-functions"'
)
RANK_STAYS = 'Appendix E: "the MLP\'s effective rank does not actually drop over training"'
SINGULAR = (
    'Appendix E: "the largest singular value blows up for MLPs, but stabilizes when training LFF '
    'for a reasonable number of gradient steps"'
)
ZERO = 'Appendix E: "the minimum singular value stays at zero over the course of training"'


def job(
    scale: ScaleName,
    steps: int,
    width: int,
    net: str,
    sigma: float = 0.1,
    *,
    regularize: tuple[str, ...] = (),
    seeds: int = 5,
) -> Any:
    """Return the job of an arm, T and width, all seeds; with 40 of them each has its own grid."""
    from lff.experiments.jobs.gridworlds import FQIJob
    from lff.nn import ConstantControl
    from lff.tabular import FQIConfig

    small = scale == "smoke"
    width = 8 if small else width
    if net == AS_WIDE:
        made = replace(network(width), front=ConstantControl(fourier_dim=width))
    else:
        made = network(width, net, sigma)
    return FQIJob(
        fqi=FQIConfig(
            net=made,
            regularizers=regularizers(regularize),
            gradient_steps=max(1, steps // 50) if small else steps,
        ),
        iterations=10 if small else 300,
        every=1 if small else 5,
        seeds=2 if small else seeds,
        own_grids=seeds > 5,
    )


def at(width: int) -> tuple[str, ...]:
    """Return the tasks of a width."""
    return tuple(f"T={step}, width {width}" for step in STEPS)


QUALITIES: tuple[tuple[Metric, bool, dict[str, Any]], ...] = (
    (OFF, False, {"line": 0.0, "line_label": "Q*"}),
    (RETURN, False, {}),
    (RANK, False, {}),
    (LARGEST, True, {}),
)
"""What the figure shows: metrics, whether on a logarithmic scale, and a line to compare with."""

EXPERIMENTS = (
    Experiment(
        name="fig13",
        title="Is it waves or depth that keeps fitted Q-iteration from blowing up?",
        source="Figure 13 (a)",
        whose="paper, empirical",
        quote=BLOW_UP,
        registered="2026-11-18",
        arms={
            "MLP": baseline(net="mlp"),
            "MLP-2": baseline(net="mlp-2"),
            LFF: ours(net="lff"),
            LINEAR: control(net="linear"),
            "constant control": control(net="constant"),
            "MLP + layer norm": NORM,
        },
        grid=Each(job, FEW, size={"seeds": 40}),
        metrics=(Q, OFF, ERROR, RETURN, RANK),
        sentences={
            "C-13: With T = 200 an MLP's Q rises above twice Q* more often than LFF's.": MoreOften(
                "MLP", than=LFF, **BLOWS_UP, tasks=("T=200",), primary=True
            ),
            "C-13/50: So it does with T = 50.": MoreOften(
                "MLP", than=LFF, **BLOWS_UP, tasks=("T=50",)
            ),
            "C-13/steps: An MLP blows up in most runs with T = 200.": MoreOften(
                "MLP", **BLOWS_UP, tasks=("T=200",), quote=MORE_STEPS
            ),
            **{
                f"C-13/{name}: {sentence}": MoreOften(arm, than=LFF, **BLOWS_UP, whose="ours")
                for name, arm, sentence in (
                    ("depth", "MLP-2", "It is not the depth: MLP-2 blows up more often than LFF."),
                    ("linear", LINEAR, "It takes waves: so does the linear control."),
                    ("constant", "constant control", "So does the constant control."),
                    ("norm", "MLP + layer norm", "LFF is special: so does an MLP with layer norm."),
                )
            },
        },
        panels=(Panel(OFF, x="iteration"), Panel(RETURN, x="iteration")),
        notes="Width 64, 300 iterations, 40 seeds, each with walls, goal and observations of its "
        "own; all arms have equally many parameters. 47 % of runs against 15 % differ "
        "detectably with power 0.85.",
    ),
    Experiment(
        name="fig13-first",
        title="Does Q blow up because noise is amplified, or because features lose their rank?",
        source="Figure 13 (a) to (f)",
        whose="paper, empirical",
        arms=ARMS,
        grid=Each(job, TASKS),
        metrics=(Q, TARGET, OFF, ERROR, RETURN, RANK, *SINGULAR_VALUES),
        sentences={
            "C-13a: At the largest T an MLP's Q rises above twice Q* more often than LFF's.": (
                MoreOften("MLP", than=LFF, **BLOWS_UP, tasks=MOST, quote=BLOW_UP)
            ),
            "C-13b: At the largest T the Q of LFF ends within a factor of two in most "
            "runs.": MoreOften(LFF, metric=OFF, below=0.3, tasks=MOST, quote=STABLE),
            "C-13c: At the largest T the Q of LFF is nearer to Q* than an MLP's.": Better(
                LFF, than="MLP", **LAST, tasks=MOST, quote=STABLE
            ),
            **{
                f"C-13d{'' if width == WIDTHS[0] else ' wide'}: "
                f"More gradient steps make an MLP's Q larger (width {width}).": Slope(
                    tuple(
                        Point(x=float(steps), variant="MLP", task=f"T={steps}, width {width}")
                        for steps in STEPS
                    ),
                    metric=OFF,
                    statistic="last",
                    log_x=True,
                    quote=MORE_STEPS,
                )
                for width in WIDTHS
            },
            "C-13e: Where an MLP's Q grows beyond Q*, its return falls.": Correlates(
                "MLP",
                metric=OFF,
                other=RETURN,
                below=-0.5,
                tasks=MOST,
                quote='Appendix E: "divergence coincides with a drop in the returns"',
            ),
            "C-13f: An MLP's effective rank does not drop by more than 5 % from the second to the "
            "last fifth of training.": Better(
                "MLP", than=0.95, metric=RANK_KEPT, statistic="last", tasks=MOST, quote=RANK_STAYS
            ),
            "C-13g: LFF has a lower effective rank than an MLP, with T of 50 and more.": Better(
                LFF,
                than="MLP",
                metric=RANK,
                statistic="last",
                sign=-1,
                scale="ratio",
                tasks=FROM_50,
                quote='Appendix E: LFF "has significantly lower srank than its MLP counterpart"',
            ),
            "C-13h: An MLP's largest singular value more than doubles from the second to the last "
            "fifth of training, in most runs.": MoreOften(
                "MLP", metric=LARGEST_GREW, above=2.0, tasks=MOST, quote=SINGULAR
            ),
            "C-13i: That of LFF does not, in most runs.": MoreOften(
                LFF, metric=LARGEST_GREW, below=2.0, tasks=MOST, quote=SINGULAR
            ),
            **{
                f"C-13j{'' if width == WIDTHS[0] else ' wide'}: "
                f"The smallest singular value is zero at width {width}"
                + ("." if width == WIDTHS[0] else ", where it must be: 205 cells."): Computed(
                    "MLP", metric=SMALLEST, below=1e-6, tasks=at(width), quote=ZERO
                )
                for width in WIDTHS
            },
            "C-13k: The penalty σ_max² - σ_min² has the gradient of σ_max² at width 64.": Computed(
                "MLP", metric=PENALTIES, below=1e-3, tasks=at(WIDTHS[0]), quote=ZERO
            ),
            "C-13l: The linear control is nearer to Q* than an MLP, too.": Better(
                LINEAR, than="MLP", **LAST, tasks=MOST, whose="ours"
            ),
            "C-13m: So is an MLP with layer norm.": Better(
                "MLP + layer norm", than="MLP", **LAST, tasks=MOST, whose="ours"
            ),
            **{
                f"C-13n/{short}: With T of 50 and more, Q of {arm} ends near Q* (squared "
                "error below 100) in most runs.": MoreOften(
                    arm, metric=ERROR, below=100.0, tasks=FROM_50, whose="ours"
                )
                for short, arm in NEAR.items()
            },
        },
        panels=tuple(
            Panel(
                metric, kind="ends", tasks=at(64), log=log, x="gradient steps an iteration", **line
            )
            for metric, log, line in QUALITIES
        ),
        notes="Grid16smoothobs, rebuilt; γ 0.95, Adam at 5e-3, batches of 128, 128 new transitions "
        "an iteration by the ε-greedy policy (ε = 0.1). Network, T, LFF's σ and dimension are not "
        "published; ours are named. The rank is that of up to 2,048 states of the buffer, at "
        "δ = 0.01. The arms have equally many parameters, but for the constant control (7,621 "
        "against 10,181 at width 64).",
    ),
)
