"""Lemmas 1 to 3: the kernel, the residual over training, the eigenvectors on the circle."""

from typing import Any

from lff.experiments.spec import Cell, Experiment, Panel, ScaleName
from lff.stats.kinds import InSeeds
from lff.stats.power_law import SlopeIs

DIMS = (2, 3, 8)
HALF, FULL = "m/2 rows", "m rows"
FITS = ("random circulant matrix", "Lemma 1, circle", "ReLU network, circle")
PRECISION = (1e-10, 1e-10, 1e-7)
"""The angle of two near points, which a ReLU kernel needs, has half of the digits of its cosine."""
FAILS = ("Lemma 1, uneven circle", "Lemma 1, sphere S²")


def lem1_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return one job per dimension and reading of the lemma."""
    from lff.experiments.jobs.kernels import MonteCarloJob

    small = scale == "smoke"
    size: dict[str, Any] = {"draws": 2, "widths": (64, 128)} if small else {"draws": 20}
    found = []
    for dim in DIMS:
        half = MonteCarloJob(sigma=2.0, dim=dim, rows="m/2", **size)
        full = MonteCarloJob(sigma=2.0, dim=dim, rows="m", **size)
        found += [Cell(HALF, f"d = {dim}", half), Cell(FULL, f"d = {dim}", full)]
    return tuple(found)


def lem2_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return the job that trains all widths."""
    return (Cell("two-layer network", "circle", lazy_job(scale)),)


def lazy_job(scale: ScaleName) -> Any:
    """Return the job that Lemma 2 and the claims of §4.1 share."""
    from lff.experiments.jobs.lazy import LazyJob

    return LazyJob(draws=2, widths=(64, 128), steps=20) if scale == "smoke" else LazyJob(draws=20)


def lem3_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return one job for each kernel and set of points."""
    from lff.experiments.jobs.kernels import CirculantJob

    draws = 2 if scale == "smoke" else 20
    every = tuple(range(2, 65))
    jobs = (
        CirculantJob(kernel="random row", sizes=every if scale != "smoke" else (2, 3), draws=draws),
        CirculantJob(kernel="Lemma 1", draws=draws),
        CirculantJob(kernel="ReLU", draws=draws),
        CirculantJob(kernel="Lemma 1", points="uneven circle", draws=draws),
        CirculantJob(kernel="Lemma 1", points="sphere", draws=draws),
    )
    return tuple(
        Cell(name, "eigenvectors", job) for name, job in zip((*FITS, *FAILS), jobs, strict=True)
    )


EXPERIMENTS = (
    Experiment(
        name="lem1",
        title="Is Lemma 1's kernel that of wide two-layer Fourier networks?",
        source="Lemma 1",
        whole_at="laptop",
        cells=lem1_cells,
        metrics=(("largest error", "largest error"), ("ratio", "kernel over Lemma 1")),
        claims=(
            SlopeIs(
                name="LEM-1a",
                text="With m/2 rows in B the largest error falls as the width to the power -1/2.",
                arm=HALF,
                metric="largest error",
                low=-0.6,
                high=-0.4,
            ),
            InSeeds(
                name="LEM-1b",
                text="With m rows, as the text has it, the kernel is twice the stated one.",
                arm=FULL,
                metric="kernel over Lemma 1",
                above=1.95,
                below=2.05,
                share=0.9,
            ),
            InSeeds(
                name="LEM-1c",
                text="With m/2 rows, as the proof has it, it is the stated one.",
                arm=HALF,
                metric="kernel over Lemma 1",
                above=0.95,
                below=1.05,
                share=0.9,
            ),
        ),
        panels=(
            Panel(metric="largest error", log=True, x="width m", log_x=True),
            Panel(metric="kernel over Lemma 1", x="width m", log_x=True, line=1.0),
        ),
        notes="24 random points of the unit sphere, σ = 2 (Lemma 1's, without 2π), 20 draws of "
        "points and network. The laptop's scale is the whole.",
    ),
    Experiment(
        name="lem2",
        title="Does the residual follow exp(-ηKt) r₀?",
        source="Lemma 2",
        whole_at="laptop",
        cells=lem2_cells,
        metrics=(
            ("error", "error of the prediction"),
            ("error by own kernel", "error, own kernel"),
        ),
        claims=(
            InSeeds(
                name="LEM-2a",
                text="At width 4096 Lemma 2 with Lemma 1's kernel is within 5 % until the loss has "
                "fallen by 90 %.",
                arm="two-layer network",
                metric="error of the prediction",
                below=0.05,
                share=0.9,
            ),
            SlopeIs(
                name="LEM-2b",
                text="The error shrinks with width.",
                arm="two-layer network",
                metric="error of the prediction",
                high=-0.2,
            ),
            SlopeIs(
                name="LEM-2c",
                text="With the network's own kernel it shrinks faster: as 1/√m or more.",
                arm="two-layer network",
                metric="error, own kernel",
                high=-0.5,
            ),
        ),
        panels=tuple(
            Panel(metric=metric, log=True, x="width m", log_x=True)
            for metric in ("error of the prediction", "error, own kernel")
        ),
        notes="Gradient descent, 800 steps, on 16 points of the circle; targets of frequencies 1, "
        "2 and 4; σ = 2 without 2π. The own kernel is the network's at the start.",
    ),
    Experiment(
        name="lem3",
        title="Are waves the eigenvectors of a kernel?",
        source="Lemma 3",
        whole_at="laptop",
        cells=lem3_cells,
        metrics=(("residual", "residual of the waves"),),
        claims=(
            *(
                InSeeds(
                    name=f"LEM-3{letter}",
                    text=f"Waves are eigenvectors, to {below:g}: {name}.",
                    arm=name,
                    metric="residual of the waves",
                    below=below,
                    statistic="max",
                    share=1.0,
                )
                for letter, name, below in zip("abc", FITS, PRECISION, strict=True)
            ),
            *(
                InSeeds(
                    name=f"LEM-3{letter}",
                    text=f"Waves are not: {name}.",
                    arm=name,
                    metric="residual of the waves",
                    above=0.01,
                    statistic="last",
                    share=1.0,
                )
                for letter, name in zip("de", FAILS, strict=True)
            ),
        ),
        panels=(Panel(metric="residual of the waves", log=True, x="points", log_x=True),),
        notes="The paper says evenly spaced on the sphere; it holds on the circle alone. Points of "
        "S² lie on a golden spiral. The residual is max |Ku - λu| over the largest |λ|.",
    ),
)
