"""The first study of the package: Figure 5 on one task at small scale."""

from lff.experiments.grids import Training
from lff.experiments.measured import RETURN
from lff.experiments.spec import Experiment, Panel, baseline, ours
from lff.stats.kinds import Better
from lff.stats.metrics import Metric

Q, B_STD = Metric("train/q_mean", "mean Q"), Metric("lff/critic_B_std", "std of B")

EXPERIMENTS = (
    Experiment(
        name="cheetah-first",
        title="Does LFF learn cheetah-run faster than an MLP of equal size?",
        source="Figure 5 on one task, at small scale",
        arms={"MLP": baseline(net="mlp"), "LFF": ours()},
        grid=Training(
            laptop=("dmc/cheetah-run",), steps=60_000, episodes=5, largest="laptop", native=False
        ),
        metrics=(RETURN, Q, B_STD),
        sentences={"F-1: LFF learns faster than an MLP of equal size.": Better("LFF", than="MLP")},
        panels=(Panel(RETURN), Panel(Q), Panel(B_STD, variants=("LFF",))),
        notes="Preset laptop, nothing tuned. `fig5` is the registered study of all arms and tasks.",
    ),
)
