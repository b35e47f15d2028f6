"""Figure 1 (right): σ sets how fine a detail the network fits."""

from lff.experiments.spec import Cell, Experiment, Panel, ScaleName
from lff.stats.kinds import Monotone

SIGMAS = (0.01, 0.1, 1.0)
NAMES = tuple(f"LFF σ={sigma:g}" for sigma in SIGMAS)


def cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return one job per σ; each fits all draws of the noise."""
    from lff.experiments.jobs.fits import FitJob
    from lff.nn import Fourier, MLPTrunk, NetConfig

    small = scale == "smoke"
    width = 16 if small else 256
    size = {"seeds": 5, "steps": 20, "every": 10} if small else {"seeds": 20, "steps": 2_000}
    return tuple(
        Cell(
            name,
            "sine",
            FitJob(
                net=NetConfig(
                    Fourier(fourier_dim=width, sigma=sigma), MLPTrunk(hidden=(width, width))
                ),
                **size,
            ),
        )
        for name, sigma in zip(NAMES, SIGMAS, strict=True)
    )


EXPERIMENTS = (
    Experiment(
        name="fig1",
        title="Does σ set how fine a detail the network fits?",
        source="Figure 1, right",
        whole_at="laptop",
        cells=cells,
        metrics=(
            ("train error", "train error"),
            ("total variation", "total variation"),
            ("error to truth", "error to truth"),
            ("fit", "fit"),
        ),
        claims=(
            Monotone(
                name="C-1a",
                text="A larger σ fits the sixteen noisy points better.",
                variants=NAMES,
                metric="train error",
                direction="falls",
            ),
            Monotone(
                name="C-1b",
                text="A larger σ gives a curve that swings more.",
                variants=NAMES,
                metric="total variation",
                direction="rises",
            ),
            Monotone(
                name="C-1c",
                text="The same for the error of the two larger σ.",
                variants=NAMES[1:],
                metric="train error",
                direction="falls",
            ),
            Monotone(
                name="C-1d",
                text="The same for the swing of the two larger σ.",
                variants=NAMES[1:],
                metric="total variation",
                direction="rises",
            ),
        ),
        panels=(
            Panel(metric="fit", kind="fit"),
            Panel(metric="train error", log=True),
            Panel(metric="total variation"),
            Panel(metric="error to truth", log=True),
        ),
        notes="Sixteen points of a slow wave with noise of 0.3; twenty draws. The laptop's scale "
        "is the paper's.",
    ),
)
