"""A sentence of the paper that no figure of it shows."""

from lff.experiments.grids import Around, Training
from lff.experiments.measured import RETURN
from lff.experiments.spec import Arm, Experiment, Panel
from lff.stats.kinds import Better
from lff.stats.metrics import Metric, Role

NETS: dict[str, tuple[Role, str]] = {"MLP": ("baseline", "mlp"), "LFF": ("ours", "lff")}
TAIL = Metric("kernel/tail", "tail of the kernel", "lower")
FREQUENCY = Metric("kernel/frequency", "kernel's frequency", "lower")
CHEETAH = ("dmc/cheetah-run",)
KERNEL = Around("replay-kernel", {"points": 256}, small={"points": 32})


EXPERIMENTS = (
    Experiment(
        name="claim-lower-frequency",
        title="Is the trained LFF critic still of lower frequency than an MLP?",
        source="Appendix G, by Figure 4",
        whose="paper, empirical",
        quote='Appendix G: "about 0.1, which should still be more biased towards low frequencies '
        'than vanilla MLPs are"',
        arms={
            f"{name}{', normalised' * normalize}": Arm(
                role, {"net": net, "normalize_obs": normalize}
            )
            for name, (role, net) in NETS.items()
            for normalize in (False, True)
        },
        grid=Training(laptop=CHEETAH, paper=CHEETAH, then=KERNEL),
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
)
