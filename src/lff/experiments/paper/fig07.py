"""Figures 7 and 12: Gaussian noise on the bootstrap targets."""

from lff.experiments.grids import Training
from lff.experiments.measured import Q_VALUES, RETURN
from lff.experiments.spec import Arm, Claim, Experiment, ScaleName
from lff.stats.kinds import Better, Point, Slope
from lff.stats.metrics import Role

NETS: dict[str, tuple[Role, str]] = {
    "MLP": ("baseline", "mlp"),
    "LFF": ("ours", "lff"),
    "linear control": ("control", "linear"),
}
SMALL, FULL = (0.0, 1.0, 3.0), (0.0, 1.0, 10.0, 30.0)
ALL: tuple[ScaleName, ...] = ("smoke", "laptop", "paper")


def arms(noises: tuple[float, ...], scales: tuple[ScaleName, ...] = ALL) -> dict[str, Arm]:
    """Return every network with each noise."""
    return {
        f"{name}, noise {noise:g}": Arm(role, {"net": net, "target_noise": noise}, scales)
        for noise in noises
        for name, (role, net) in NETS.items()
    }


def sentences(figure: str, noises: tuple[float, ...]) -> dict[str, Claim]:
    """Return the claims of a figure."""
    return {
        f"C-{figure}a: The more noise on the targets, the more LFF gains over the MLP.": Slope(
            tuple(Point(n, f"LFF, noise {n:g}", minus=f"MLP, noise {n:g}") for n in noises)
        ),
        **{
            f"C-{figure}b/{n:g}: "
            f"With noise of {n:g} on the targets LFF learns better than the MLP.": Better(
                f"LFF, noise {n:g}", than=f"MLP, noise {n:g}"
            )
            for n in noises[1:]
        },
        **{
            f"C-{figure}c/{n:g}: "
            f"With noise of {n:g} it takes the waves: LFF beats the linear control.": Better(
                f"LFF, noise {n:g}", than=f"linear control, noise {n:g}"
            )
            for n in noises[1:]
        },
    }


EXPERIMENTS = (
    Experiment(
        name="fig7",
        title="Does LFF withstand noise on the targets better than an MLP?",
        source="Figure 7",
        arms=arms(SMALL[:2]) | arms(SMALL[2:], ("smoke", "laptop")) | arms(FULL[2:], ("paper",)),
        grid=Training(laptop=("dmc/walker-run", "dmc/cheetah-run"), skip="humanoid"),
        metrics=(RETURN, *Q_VALUES),
        sentences=sentences("7", SMALL),
        notes="At laptop scale the noise is 0, 1 and 3, in proportion to |Q| after 40,000 steps; "
        "fig12 has the paper's 1, 10 and 30. At paper scale the claims judge the small ones.",
    ),
    Experiment(
        name="fig12",
        title="The same with the paper's noise, whatever the scale: 1, 10 and 30.",
        source="Figure 12",
        arms=arms(FULL),
        grid=Training(laptop=("dmc/cheetah-run",), skip="humanoid"),
        metrics=(RETURN, *Q_VALUES),
        sentences=sentences("12", FULL),
    ),
)
