"""Figure 2: does LFF filter noise from a Q-function that an MLP of equal size overfits?"""

from typing import Any

from lff.experiments.grids import Each
from lff.experiments.spec import Experiment, Panel, baseline, control, ours, rival
from lff.stats.kinds import Better, Equivalent
from lff.stats.metrics import Metric

NOISES = {"white": 0.0, "2 cells": 2.0, "4.5 cells": 4.5, "12 cells": 12.0}
"""Cells at which the correlation has fallen to 1/e; the ridge's own is 11, the maze's 6."""
LFF = "LFF σ=0.01"
ERROR = Metric("error to truth", "error to true Q", "lower")
LAST: dict[str, Any] = {"metric": ERROR, "statistic": "last", "scale": "log"}
"""Errors are compared by their ratio after equal training."""
BEST = {**LAST, "statistic": "min"}
SIMILAR = (
    'Section 6: it "does not help when the noise and the signal look similar in frequency space"'
)
TARGETS, SURFACE = Metric("error to targets", better="lower"), Metric("surface")
PAPERS = ("ridge, 4.5 cells",)  # as in the paper's figure
SHORT = ("ridge, white", "ridge, 2 cells", "ridge, 4.5 cells")
MAZES = ("maze, white", "maze, 2 cells", "maze, 4.5 cells")
TASKS = {
    f"{surface}, {noise}": {"surface": surface, "noise": length}
    for surface in ("ridge", "maze")
    for noise, length in NOISES.items()
}
NOISE: dict[str, Any] = {"line": 0.25**2, "line_label": "noise"}
"""A line in the figures: its variance."""
ARMS = {
    "MLP": baseline(net="mlp"),
    **{f"LFF σ={sigma:g}": ours(sigma=sigma) for sigma in (0.01, 0.1, 1.0)},
    "MLP, weight decay": rival(net="mlp", regularize=("weight-decay:coefficient=1e-3",)),
    "linear control": control(net="linear"),
}


EXPERIMENTS = (
    Experiment(
        name="fig2",
        title="Does LFF filter noise from a Q-function that an MLP of equal size overfits?",
        source="Figure 2",
        whose="paper, empirical",
        quote='Figure 2: "While the MLP overfits, LFF learns the Q-function and ignores almost all '
        'of the noise."',
        arms=ARMS,
        grid=Each(
            "surface",
            TASKS,
            size={"hidden_dim": 256},
            small={"hidden_dim": 16, "size": 12, "steps": 6, "batch": 32, "every": 3, "seeds": 2},
            smoke=("ridge, white", "ridge, 4.5 cells", "maze, white", "maze, 4.5 cells"),
        ),
        metrics=(ERROR, TARGETS),
        sentences={
            "C-2a: After equal training LFF is nearer to the true Q than the MLP, with the paper's "
            "noise.": Better(LFF, than="MLP", **LAST, tasks=PAPERS, primary=True),
            "C-2k: LFF ignores almost all of the noise: less than a tenth of its variance is in "
            "the error.": Better(LFF, than=0.1 * 0.25**2, **LAST, tasks=PAPERS),
            "C-2b: LFF is nearer with each noise that is shorter than the ridge.": Better(
                LFF, than="MLP", **LAST, tasks=SHORT, on_at_least=3, whose="ours"
            ),
            "C-2c: LFF is nearer than an MLP that stops in time, each at its best step.": Better(
                LFF,
                than="MLP",
                **BEST,
                tasks=PAPERS,
                quote='Introduction: early stopping "hurts sample efficiency"',
            ),
            "C-2d: After equal training LFF is nearer than an MLP with weight decay.": Better(
                LFF,
                than="MLP, weight decay",
                **LAST,
                tasks=PAPERS,
                quote='Introduction: decay "does not disentangle noise from reward signal"',
            ),
            "C-2e: "
            "Straight lines in place of waves do as well, within 20 % of LFF's error.": Equivalent(
                "linear control", than=LFF, **LAST, tasks=PAPERS, whose="ours"
            ),
            "C-2f: A larger σ fits more of the noise: σ=0.01 is nearer than σ=1.": Better(
                LFF, than="LFF σ=1", **LAST, tasks=SHORT, whose="ours"
            ),
            "C-2g: Noise as long as the signal is kept: half of its variance and more is in LFF's "
            "error, even at its best step.": Better(
                LFF, than=0.5 * 0.25**2, **BEST, sign=1, tasks=("ridge, 12 cells",), quote=SIMILAR
            ),
            "C-2h: There LFF is as far off as the MLP: within 20 % of its error.": Equivalent(
                LFF, than="MLP", **LAST, tasks=("ridge, 12 cells",), quote=SIMILAR
            ),
            "C-2i: On the maze too LFF is nearer than the MLP after equal training.": Better(
                LFF, than="MLP", **LAST, tasks=MAZES, whose="ours"
            ),
            "C-2j: On the maze, whose Q* has edges, σ=1 is nearer than σ=0.01, each at its best "
            "step.": Better("LFF σ=1", than=LFF, **BEST, tasks=MAZES, whose="ours"),
        },
        panels=(
            Panel(SURFACE, kind="grid", tasks=PAPERS),
            *(
                Panel(metric, tasks=PAPERS, log=True, x="gradient steps", **NOISE)
                for metric in (ERROR, TARGETS)
            ),
            *(
                Panel(
                    ERROR, kind="ends", tasks=tasks, log=True, x="noise, correlated over", **NOISE
                )
                for tasks in (tuple(TASKS)[:4], tuple(TASKS)[4:])
            ),
        ),
        notes="Noise of 0.25 on values of 0 to 0.5 (the maze's Q* is scaled to the same standard "
        "deviation); its correlation falls to 1/e at the cells given, the ridge's at 11, the "
        "maze's at 6. Adam 1e-3, batches of 512, the same steps in all arms; none is tuned. "
        "Weight decay is 1e-3. The surfaces are of the first seed; of the maze they show the "
        "largest Q of each cell. The laptop's scale is the whole.",
    ),
)
