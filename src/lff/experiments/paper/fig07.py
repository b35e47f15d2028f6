"""Figures 7 and 12: Gaussian noise on the bootstrap targets."""

from lff.experiments.grids import STUDY, Training
from lff.experiments.measured import EPISODE, Q_VALUES, RETURN
from lff.experiments.spec import Arm, Experiment
from lff.stats.kinds import Better, Point, Slope
from lff.stats.metrics import Role

NETS: dict[str, tuple[Role, str]] = {"MLP": ("baseline", "mlp"), "LFF": ("ours", "lff")}
NOISES = (0.0, 1.0, 10.0)
QUOTE = (
    'Figure 7: "As the standard deviation of the added noise increases, LFF maintains its '
    'performance better than MLPs."'
)


def name_of(net: str, noise: float) -> str:
    """Return the name of an arm."""
    return f"{net}, noise {noise:g}" if noise else net


EXPERIMENTS = (
    Experiment(
        name="fig7",
        title="Does LFF withstand noise on the targets better than an MLP?",
        source="Figures 7 and 12",
        whose="paper, empirical",
        quote=QUOTE,
        registered="2026-11-18",
        arms={
            name_of(net, noise): Arm(role, {"net": word, "target_noise": noise})
            for noise in NOISES
            for net, (role, word) in NETS.items()
        },
        grid=Training(laptop=("dmc/cheetah-run",), skip="humanoid", **STUDY | {"seeds": 8}),
        metrics=(RETURN, EPISODE, *Q_VALUES),
        sentences={
            "C-7a: The more noise on the targets, the more LFF gains over the MLP.": Slope(
                tuple(Point(n, name_of("LFF", n), minus=name_of("MLP", n)) for n in NOISES),
                primary=True,
            ),
            **{
                f"C-7b/{n:g}: "
                f"With noise of {n:g} on the targets LFF learns better than the MLP.": Better(
                    name_of("LFF", n), than=name_of("MLP", n), scale="ratio"
                )
                for n in NOISES[1:]
            },
        },
        notes="The paper adds noise of 1, 10 and 30 to targets of up to 100; what Q is at this "
        "size is in the table. Without noise the runs are those of fig5.",
    ),
)
