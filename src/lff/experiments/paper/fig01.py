"""Figure 1 (right): σ sets how fine a detail the network fits."""

from lff.experiments.grids import Each
from lff.experiments.spec import Experiment, Panel, ours
from lff.stats.kinds import MoreOften
from lff.stats.metrics import Metric

ARMS = {f"LFF σ={sigma:g}": ours(sigma=sigma) for sigma in (0.01, 0.1, 1.0)}
NAMES = tuple(ARMS)
ENDS = (NAMES[0], NAMES[-1])
ERROR, SWING = Metric("train error", better="lower"), Metric("total variation", better="lower")
TRUTH, FIT = Metric("error to truth", better="lower"), Metric("fit")


EXPERIMENTS = (
    Experiment(
        name="fig1",
        title="Does σ set how fine a detail the network fits?",
        source="Figure 1, right",
        whose="paper, empirical",
        quote='Figure 1: "Higher σ fits higher frequencies faster, while lower σ smooths out '
        'noise."',
        arms=ARMS,
        grid=Each(
            "fit",
            {"sine": {}},
            size={"hidden_dim": 256, "seeds": 20, "steps": 2_000},
            small={"hidden_dim": 16, "seeds": 5, "steps": 20, "every": 10},
        ),
        metrics=(ERROR, SWING, TRUTH, FIT),
        sentences={
            "C-1a: σ = 1 fits the sixteen noisy points faster than 0.01: its error is lower over "
            "training.": MoreOften(order=ENDS, metric=ERROR, direction="falls", statistic="mean"),
            "C-1b: σ = 1 gives a curve that swings more over training than 0.01.": MoreOften(
                order=ENDS, metric=SWING, statistic="mean"
            ),
            "C-1c: From 0.01 over 0.1 to 1 each σ fits faster.": MoreOften(
                order=NAMES, metric=ERROR, direction="falls", statistic="mean", whose="ours"
            ),
            "C-1d: From 0.01 over 0.1 to 1 each curve swings more.": MoreOften(
                order=NAMES, metric=SWING, statistic="mean", whose="ours"
            ),
        },
        panels=(
            Panel(FIT, kind="fit"),
            Panel(ERROR, log=True),
            Panel(SWING),
            Panel(TRUTH, log=True),
        ),
        notes="Sixteen points of a slow wave with noise of 0.3; twenty draws. The laptop's scale "
        "is the paper's.",
    ),
)
