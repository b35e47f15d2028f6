"""Figure 4: spectra of deep networks, infinitely wide and of width 1024."""

from typing import Any

from lff.experiments.spec import Cell, Experiment, Panel, ScaleName
from lff.stats.kinds import Better, InSeeds, Monotone

LEFT = (0.01, 0.1, 0.15, 0.2, 1.0)
RIGHT = (0.01, 0.1, 1.0)
MLP = "MLP"


def name_of(sigma: float) -> str:
    """Return how an arm is called."""
    return f"σ = {sigma:g}"


def left_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return the infinitely wide networks; B is drawn and fixed, x is not concatenated."""
    from lff.experiments.jobs.deep_kernels import DeepKernelJob

    small = scale == "smoke"
    size: dict[str, Any] = {"draws": 2, "sizes": (32,), "fourier_dim": 64} if small else {}
    arms = {MLP: DeepKernelJob(hidden=3, **size)} | {
        name_of(sigma): DeepKernelJob(front="fourier", sigma=sigma, hidden=3, **size)
        for sigma in LEFT
    }
    return tuple(Cell(name, "circle", job) for name, job in arms.items())


def right_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return the networks with two hidden layers of 1024."""
    from lff.experiments.jobs.deep_kernels import DeepKernelJob

    size: dict[str, Any] = {"sizes": (64,), "hidden": 2, "width": 1024, "draws": 5}
    size |= {"draws": 2, "fourier_dim": 64, "width": 16} if scale == "smoke" else {}
    arms = {MLP: DeepKernelJob(**size)} | {
        name_of(sigma): DeepKernelJob(front="fourier", sigma=sigma, **size) for sigma in RIGHT
    }
    return tuple(Cell(name, "circle", job) for name, job in arms.items())


EXPERIMENTS = (
    Experiment(
        name="fig4-left",
        title="What does σ do to the spectrum of an infinitely wide deep network?",
        source="Figure 4, left",
        whole_at="laptop",
        cells=left_cells,
        metrics=(("eigenvalue", "eigenvalue"), ("tail eigenvalue", "eigenvalue, k = 16")),
        claims=(
            Monotone(
                name="C-4a",
                text="A larger σ raises the eigenvalues of high frequencies (k = 16).",
                variants=tuple(name_of(sigma) for sigma in LEFT),
                metric="eigenvalue, k = 16",
                direction="rises",
                share=1.0,
            ),
            Better(
                name="C-4b",
                text="At σ = 0.1 the MLP still has more at k = 16.",
                arm=MLP,
                than=name_of(0.1),
                metric="eigenvalue, k = 16",
            ),
            Better(
                name="C-4c",
                text="Break-even is by σ = 0.2: there the Fourier network has more.",
                arm=name_of(0.2),
                than=MLP,
                metric="eigenvalue, k = 16",
            ),
            Better(
                name="C-4d",
                text="At σ = 0.15 the MLP still has more.",
                arm=MLP,
                than=name_of(0.15),
                metric="eigenvalue, k = 16",
            ),
        ),
        panels=(Panel(metric="eigenvalue", log=True, x="frequency k", log_x=True),),
        notes="Three hidden ReLU layers of infinite width; F = 1024 fixed features without x, as "
        "in the paper's figure; 256 points; eigenvalues over n and over k(x, x); 10 draws of B. "
        "σ is the layer's, with 2π.",
    ),
    Experiment(
        name="fig4-right",
        title="Do networks of width 1024 have the spectrum of the limit?",
        source="Figure 4, right",
        whole_at="laptop",
        cells=right_cells,
        metrics=(
            ("eigenvalue", "eigenvalue"),
            ("eigenvalue over the limit", "eigenvalue over the limit"),
            ("factor from the limit", "factor from the limit"),
        ),
        claims=(
            *(
                InSeeds(
                    name=f"C-4{letter}",
                    text=f"At σ = {sigma:g} every eigenvalue is within a factor of 3 of the limit.",
                    arm=name_of(sigma),
                    metric="factor from the limit",
                    statistic="max",
                    below=3.0,
                    share=0.8,
                )
                for letter, sigma in (("e", 0.1), ("f", 1.0))
            ),
            InSeeds(
                name="C-4g",
                text="At σ = 0.01 the networks stay above the limit, by 3 or more at the highest "
                "frequency.",
                arm=name_of(0.01),
                metric="eigenvalue over the limit",
                above=3.0,
                share=0.8,
            ),
        ),
        panels=(
            Panel(metric="eigenvalue", log=True, x="frequency k", log_x=True),
            Panel(
                metric="eigenvalue over the limit", log=True, x="frequency k", log_x=True, line=1.0
            ),
        ),
        notes="Two hidden layers of 1024 in the NTK's parameterisation, 64 points, 5 networks. The "
        "limit has the same B and infinitely wide hidden layers.",
    ),
)
