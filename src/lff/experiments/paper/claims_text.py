"""Sentences of the paper that no figure of it shows."""

from typing import Any

from lff.experiments.grids import Training
from lff.experiments.measured import RETURN
from lff.experiments.spec import Arm, Experiment, Panel, ScaleName, ours
from lff.stats.kinds import AsGood, Better
from lff.stats.metrics import Metric, Role

RATES = (1e-4, 3e-4, 1e-3)
NETS: dict[str, tuple[Role, str]] = {"MLP": ("baseline", "mlp"), "LFF": ("ours", "lff")}
TAIL = Metric("kernel/tail", "tail of the kernel", "lower")
FREQUENCY = Metric("kernel/frequency", "kernel's frequency", "lower")
CHEETAH = ("dmc/cheetah-run",)


def kernel_after(job: Any, scale: ScaleName) -> Any:
    """Return the job that also computes the critic's kernel on replayed points."""
    from lff.experiments.jobs.after_training import ReplayKernelJob

    return ReplayKernelJob(job, points=32 if scale == "smoke" else 256)


EXPERIMENTS = (
    Experiment(
        name="claim-lower-frequency",
        title="Is the trained LFF critic still of lower frequency than an MLP?",
        source="Section 6, by Figure 4",
        arms={
            f"{name}{', normalised' * normalize}": Arm(
                role, {"net": net, "normalize_obs": normalize}
            )
            for name, (role, net) in NETS.items()
            for normalize in (False, True)
        },
        grid=Training(laptop=CHEETAH, paper=CHEETAH, then=kernel_after),
        metrics=(RETURN, TAIL, FREQUENCY),
        sentences={
            f"C-freq/{metric.title.split()[0]}{suffix}: After training, LFF's {metric.title} is "
            f"below the MLP's{' on normalised observations' if suffix else ''}.": Better(
                f"LFF{suffix}", than=f"MLP{suffix}", metric=metric, statistic="last"
            )
            for metric in (TAIL, FREQUENCY)
            for suffix in ("", ", normalised")
        },
        panels=(Panel(TAIL, kind="bars"), Panel(FREQUENCY, kind="bars")),
        notes="The empirical kernel of the first critic on the last points of the replay. Tail: "
        "share of its trace beyond sixteen eigenvalues.",
    ),
    Experiment(
        name="claim-no-retuning",
        title="Does LFF need no other learning rate than the MLP?",
        source="Section 5",
        arms={
            f"{name}, rate {rate:g}": Arm(role, {"net": net, "lr": rate})
            for rate in RATES
            for name, (role, net) in NETS.items()
        },
        grid=Training(laptop=CHEETAH),
        sentences={
            **{
                f"C-rate/{rate:g}: "
                f"At a learning rate of {rate:g} LFF learns better than the MLP.": Better(
                    f"LFF, rate {rate:g}", than=f"MLP, rate {rate:g}"
                )
                for rate in RATES
            },
            "C-rate/best: LFF at the middle rate is better than the MLP at the largest one: tuning "
            "the MLP's rate does not close the gap.": Better(
                "LFF, rate 0.0003", than="MLP, rate 0.001"
            ),
        },
    ),
    Experiment(
        name="claim-one-setting",
        title="Does one set of hyper-parameters fit all tasks?",
        source="Section 5",
        arms={f"σ={sigma:g}": ours(sigma=sigma) for sigma in (0.003, 0.01, 0.03)},
        grid=Training(laptop=("dmc/cheetah-run", "dmc/walker-run", "dmc/finger-turn_hard")),
        sentences={
            f"C-one/{sigma:g}: σ = 0.01 is as good as {sigma:g} on every task.": AsGood(
                "σ=0.01", than=f"σ={sigma:g}"
            )
            for sigma in (0.003, 0.03)
        },
    ),
)
