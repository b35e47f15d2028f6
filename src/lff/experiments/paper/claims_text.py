"""Sentences of the paper that no figure of it shows."""

from lff.experiments.measured import RETURN
from lff.experiments.spec import Cell, Experiment, Panel, ScaleName
from lff.stats.kinds import AsGood, Better

RATES = (1e-4, 3e-4, 1e-3)


def frequency_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return MLP and LFF, on raw and on normalised observations, and the critics' kernels."""
    from lff.experiments.jobs.after_training import ReplayKernelJob
    from lff.experiments.state import Variant, sizes, train_grid

    variants = {
        f"{name}{', normalised' if normalize else ''}": Variant(
            net=net,
            agent={"normalize_obs": normalize},
        )
        for name, net in (("MLP", "mlp"), ("LFF", "lff"))
        for normalize in (False, True)
    }
    size = sizes(scale, laptop_tasks=("dmc/cheetah-run",), paper_tasks=("dmc/cheetah-run",))
    points = 32 if scale == "smoke" else 256
    return tuple(
        Cell(cell.variant, cell.task, ReplayKernelJob(cell.job, points=points))
        for cell in train_grid(size, variants)
    )


def rates_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return MLP and LFF at three learning rates."""
    from lff.experiments.state import Variant, sizes, train_grid

    variants = {
        f"{name}, rate {rate:g}": Variant(net=net, preset={"lr": rate})
        for rate in RATES
        for name, net in (("MLP", "mlp"), ("LFF", "lff"))
    }
    return train_grid(sizes(scale, laptop_tasks=("dmc/cheetah-run",)), variants)


def one_setting_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return the default σ and its neighbours on all tasks."""
    from lff.experiments.state import Variant, sizes, train_grid

    variants = {f"σ={sigma:g}": Variant(preset={"sigma": sigma}) for sigma in (0.003, 0.01, 0.03)}
    tasks = ("dmc/cheetah-run", "dmc/walker-run", "dmc/finger-turn_hard")
    return train_grid(sizes(scale, laptop_tasks=tasks), variants)


EXPERIMENTS = (
    Experiment(
        name="claim-lower-frequency",
        title="Is the trained LFF critic still of lower frequency than an MLP?",
        source="Section 6, by Figure 4",
        cells=frequency_cells,
        metrics=(
            *RETURN,
            ("kernel/tail", "tail of the kernel"),
            ("kernel/frequency", "kernel's frequency"),
        ),
        claims=tuple(
            Better(
                name=f"C-freq/{metric.split()[0]}{suffix}",
                text=f"After training, LFF's {metric} is below the MLP's"
                f"{' on normalised observations' if suffix else ''}.",
                arm=f"LFF{suffix}",
                than=f"MLP{suffix}",
                metric=metric,
                statistic="last",
                sign=-1,
            )
            for metric in ("tail of the kernel", "kernel's frequency")
            for suffix in ("", ", normalised")
        ),
        panels=(
            Panel(metric="tail of the kernel", kind="bars"),
            Panel(metric="kernel's frequency", kind="bars"),
        ),
        notes="The empirical kernel of the first critic on the last points of the replay. Tail: "
        "share of its trace beyond sixteen eigenvalues.",
    ),
    Experiment(
        name="claim-no-retuning",
        title="Does LFF need no other learning rate than the MLP?",
        source="Section 5",
        cells=rates_cells,
        metrics=RETURN,
        claims=(
            *(
                Better(
                    name=f"C-rate/{rate:g}",
                    text=f"At a learning rate of {rate:g} LFF learns better than the MLP.",
                    arm=f"LFF, rate {rate:g}",
                    than=f"MLP, rate {rate:g}",
                )
                for rate in RATES
            ),
            Better(
                name="C-rate/best",
                text="LFF at the middle rate is better than the MLP at the largest one: tuning the "
                "MLP's rate does not close the gap.",
                arm="LFF, rate 0.0003",
                than="MLP, rate 0.001",
            ),
        ),
        panels=(Panel(metric="return"),),
    ),
    Experiment(
        name="claim-one-setting",
        title="Does one set of hyper-parameters fit all tasks?",
        source="Section 5",
        cells=one_setting_cells,
        metrics=RETURN,
        claims=tuple(
            AsGood(
                name=f"C-one/{sigma:g}",
                text=f"σ = 0.01 is as good as {sigma:g} on every task.",
                arm="σ=0.01",
                than=f"σ={sigma:g}",
            )
            for sigma in (0.003, 0.03)
        ),
        panels=(Panel(metric="return"),),
    ),
)
