"""Figure 1 (right): σ sets how fine a detail the network fits."""

from typing import Any

from lff.experiments.spec import Each, Experiment, Panel, ScaleName, ours
from lff.stats.kinds import Monotone
from lff.stats.metrics import Metric

ARMS = {f"LFF σ={sigma:g}": ours(sigma=sigma) for sigma in (0.01, 0.1, 1.0)}
NAMES = tuple(ARMS)
ERROR, SWING = Metric("train error", better="lower"), Metric("total variation", better="lower")
TRUTH, FIT = Metric("error to truth", better="lower"), Metric("fit")


def job(scale: ScaleName, sigma: float) -> Any:
    """Return the job of one σ; it fits all draws of the noise."""
    from lff.experiments.jobs.regression import FitJob
    from lff.nn import Fourier, MLPTrunk, NetConfig

    small = scale == "smoke"
    width = 16 if small else 256
    size = {"seeds": 5, "steps": 20, "every": 10} if small else {"seeds": 20, "steps": 2_000}
    front = Fourier(fourier_dim=width, sigma=sigma)
    return FitJob(net=NetConfig(front, MLPTrunk(hidden=(width, width))), **size)


EXPERIMENTS = (
    Experiment(
        name="fig1",
        title="Does σ set how fine a detail the network fits?",
        source="Figure 1, right",
        whole_at="laptop",
        arms=ARMS,
        grid=Each(job, {"sine": {}}),
        metrics=(ERROR, SWING, TRUTH, FIT),
        sentences={
            "C-1a: A larger σ fits the sixteen noisy points better.": Monotone(
                NAMES, metric=ERROR, direction="falls"
            ),
            "C-1b: A larger σ gives a curve that swings more.": Monotone(
                NAMES, metric=SWING, direction="rises"
            ),
            "C-1c: The same for the error of the two larger σ.": Monotone(
                NAMES[1:], metric=ERROR, direction="falls"
            ),
            "C-1d: The same for the swing of the two larger σ.": Monotone(
                NAMES[1:], metric=SWING, direction="rises"
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
