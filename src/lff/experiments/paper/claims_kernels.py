"""Sentences of section 4 of the paper that a kernel can confirm or refute."""

from typing import Any

from lff.experiments.paper.lemmas import lazy_job
from lff.experiments.spec import Cell, Experiment, Panel, ScaleName
from lff.stats.kinds import InSeeds
from lff.stats.power_law import SlopeIs

LIMITS = {f"{n} hidden layers, infinite": n for n in (2, 3)}
FINITE = "3 hidden layers of 1024"
CONCAT = (0.001, 0.01, 0.1, 1.0)
NET = "two-layer network"


def quadratic_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return MLPs; the numbers of points are the draws of those without randomness."""
    from lff.experiments.jobs.deep_kernels import DeepKernelJob

    small = scale == "smoke"
    size: dict[str, Any] = {"draws": 2, "sizes": (64,)} if small else {"draws": 5, "sizes": SIZES}
    arms = {name: DeepKernelJob(hidden=n, **size) for name, n in LIMITS.items()}
    finite: dict[str, Any] = (
        {"draws": 2, "sizes": (64,)} if small else {"draws": 5, "sizes": (256,)}
    )
    arms[FINITE] = DeepKernelJob(hidden=3, width=16 if small else 1024, **finite)
    return tuple(Cell(name, "circle", job) for name, job in arms.items())


SIZES = (256, 320, 384, 448, 512)


def concat_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return one job for each σ."""
    from lff.experiments.jobs.kernels import ConcatShareJob

    size: dict[str, Any] = (
        {"draws": 2, "fourier_dims": (16, 32)} if scale == "smoke" else {"draws": 40}
    )
    return tuple(
        Cell(f"σ = {sigma:g}", "circle", ConcatShareJob(sigma=sigma, **size)) for sigma in CONCAT
    )


def lazy_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return the job of Lemma 2."""
    return (Cell(NET, "circle", lazy_job(scale)),)


EXPERIMENTS = (
    Experiment(
        name="claim-quadratic",
        title="Do the eigenvalues of an MLP fall quadratically with frequency?",
        source="§4.2",
        whole_at="laptop",
        cells=quadratic_cells,
        metrics=(("eigenvalue", "eigenvalue"),),
        claims=tuple(
            SlopeIs(
                name=f"C-4.2{letter}",
                text=f"From k = 4 to 64 the eigenvalues fall as 1/k²: {name}.",
                arm=name,
                metric="eigenvalue",
                low=-2.2,
                high=-1.8,
                first=4,
                last=64,
            )
            for letter, name in zip("abc", (*LIMITS, FINITE), strict=True)
        ),
        panels=(Panel(metric="eigenvalue", log=True, x="frequency k", log_x=True),),
        notes="ReLU, no biases, the unit circle. The limits have no randomness: circles of 256 to "
        "512 points are their draws.",
    ),
    Experiment(
        name="claim-concat",
        title="Does the concatenated x vanish with width?",
        source="§4.3",
        whole_at="laptop",
        cells=concat_cells,
        metrics=(("share of x", "share of x at k = 1"),),
        claims=(
            *(
                SlopeIs(
                    name=f"C-4.3{letter}",
                    text=f"At σ = {sigma:g} the share of x falls as 1/F, from F = 64 on.",
                    arm=f"σ = {sigma:g}",
                    metric="share of x at k = 1",
                    low=-1.1,
                    high=-0.9,
                    first=64,
                )
                for letter, sigma in (("a", 1.0), ("b", 0.1), ("c", 0.001))
            ),
            InSeeds(
                name="C-4.3d",
                text="At the paper's σ = 0.001 and F = 1024 more than half of it is x.",
                arm="σ = 0.001",
                metric="share of x at k = 1",
                above=0.5,
                share=1.0,
            ),
        ),
        panels=(Panel(metric="share of x at k = 1", log=True, x="Fourier features F", log_x=True),),
        notes="The share of x·x' in the eigenvalue of the features' inner products at frequency 1 "
        "of the unit circle; all other frequencies but the constant one have no x.",
    ),
    Experiment(
        name="claim-lazy",
        title="Is the output zero at initialisation, and the kernel constant over training?",
        source="§4.1",
        whole_at="laptop",
        cells=lazy_cells,
        metrics=(
            ("output at the start", "output at the start"),
            ("drift", "change of the kernel"),
        ),
        claims=(
            SlopeIs(
                name="C-4.1a",
                text="The kernel changes ever less over training: at least as 1/√m.",
                arm=NET,
                metric="change of the kernel",
                high=-0.4,
            ),
            InSeeds(
                name="C-4.1b",
                text="At width 4096 it changes by less than 1 %.",
                arm=NET,
                metric="change of the kernel",
                below=0.01,
                share=0.9,
            ),
            InSeeds(
                name="C-4.1c",
                text="The output is zero at initialisation: below 0.1 at width 4096.",
                arm=NET,
                metric="output at the start",
                below=0.1,
                share=0.9,
            ),
            SlopeIs(
                name="C-4.1d",
                text="The output at initialisation falls with width, at least as 1/√m.",
                arm=NET,
                metric="output at the start",
                high=-0.4,
            ),
        ),
        panels=(
            Panel(metric="change of the kernel", log=True, x="width m", log_x=True),
            Panel(metric="output at the start", x="width m", log_x=True),
        ),
        notes="The network of Lemma 1, trained until Lemma 2 has 10 % of the loss left. Its output "
        "at the start has variance 1 at any width.",
    ),
)
