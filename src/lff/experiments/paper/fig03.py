"""Figure 3: the kernel of two-layer Fourier networks, and what σ does to its spectrum."""

from typing import Any

from lff.experiments.spec import Cell, Experiment, Panel, ScaleName
from lff.stats.kinds import InSeeds, Monotone
from lff.stats.power_law import SlopeIs

CHECKED = (1.0, 4.0)
SIGMAS = (0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
NETWORKS = "networks, m = 1024"
NEEDED = "σ needed"
NAMES = tuple(f"σ = {sigma:g}" for sigma in SIGMAS)


def cells_a(scale: ScaleName) -> tuple[Cell, ...]:
    """Return networks and Lemma 1 for each σ."""
    from lff.experiments.jobs.kernels import CircleKernelJob, MonteCarloJob

    small = scale == "smoke"
    drawn: dict[str, Any] = {"draws": 2, "widths": (32,)} if small else {"widths": (1024,)}
    degree, sizes = (60, (64, 128)) if small else (5, (64, 128, 256, 512, 1000))
    found = []
    for sigma in CHECKED:
        task = f"σ = {sigma:g}"
        job = MonteCarloJob(sigma=sigma, angles=degree, **({"draws": 10} | drawn))
        found.append(Cell(NETWORKS, task, job))
        exact = CircleKernelJob(sigma=sigma, degree=degree, sizes=sizes)
        found.append(Cell("Lemma 1", task, exact))
    return tuple(found)


def cells_bc(scale: ScaleName) -> tuple[Cell, ...]:
    """Return one job for each σ; the numbers of points are its draws."""
    from lff.experiments.jobs.kernels import CircleKernelJob, HighestFrequencyJob

    small = scale == "smoke"
    sizes: dict[str, Any] = {"sizes": (64, 128), "degree": 60} if small else {}
    needed = HighestFrequencyJob(sizes=(64, 128), shares=(0.1, 0.3))
    return (
        *(
            Cell(name, "circle", CircleKernelJob(sigma=sigma, **sizes))
            for name, sigma in zip(NAMES, SIGMAS, strict=True)
        ),
        Cell(NEEDED, "circle", needed if small else HighestFrequencyJob()),
    )


EXPERIMENTS = (
    Experiment(
        name="fig3a",
        title="Is the kernel of networks of width 1024 that of Lemma 1?",
        source="Figure 3a",
        whole_at="laptop",
        cells=cells_a,
        metrics=(
            ("kernel", "kernel"),
            ("angles inside", "share of angles inside"),
        ),
        claims=(
            InSeeds(
                name="C-3a",
                text="Lemma 1 is within 2 standard deviations of ten networks at 95 % of angles.",
                arm=NETWORKS,
                metric="share of angles inside",
                above=0.9499,
                share=0.9,
            ),
        ),
        panels=(Panel(metric="kernel", x="angle, degrees"),),
        notes="Ten groups of ten networks; the curve shows one network of each group and the "
        "interval of their mean. σ is Lemma 1's, without 2π.",
    ),
    Experiment(
        name="fig3bc",
        title="What does σ do to the kernel and to its spectrum?",
        source="Figure 3b and c",
        whole_at="laptop",
        cells=cells_bc,
        metrics=(
            ("kernel", "kernel"),
            ("eigenvalue", "eigenvalue over n"),
            ("eigenvalue 1", "eigenvalue over n, k = 1"),
            ("eigenvalue 8", "eigenvalue over n, k = 8"),
            ("highest eigenvalue", "eigenvalue over n, k = n/2"),
            ("sigma for the highest", "σ that reaches k = n/2"),
        ),
        claims=(
            Monotone(
                name="C-3c1",
                text="A larger σ raises the eigenvalue of the highest frequency.",
                variants=NAMES,
                metric="eigenvalue over n, k = n/2",
                direction="rises",
                share=1.0,
            ),
            Monotone(
                name="C-3c2",
                text="A larger σ raises the eigenvalue at k = 8 too.",
                variants=NAMES,
                metric="eigenvalue over n, k = 8",
                direction="rises",
                share=1.0,
            ),
            Monotone(
                name="C-3c3",
                text="A larger σ lowers the eigenvalue at k = 1.",
                variants=NAMES,
                metric="eigenvalue over n, k = 1",
                direction="falls",
                share=1.0,
            ),
            SlopeIs(
                name="C-3c4",
                text="The σ that reaches the highest frequency grows as the number of points: "
                "that it takes 100 to 1,000 says how many points there are.",
                arm=NEEDED,
                metric="σ that reaches k = n/2",
                low=0.9,
                high=1.1,
            ),
        ),
        panels=(
            Panel(metric="kernel", x="angle, degrees"),
            Panel(metric="eigenvalue over n", log=True, x="frequency k", log_x=True),
            Panel(
                metric="σ that reaches k = n/2",
                x="points n",
                log=True,
                log_x=True,
                variants=(NEEDED,),
            ),
        ),
        notes="Circles of 64, 128, 256, 512 and 1,000 points count as draws: nothing is random. "
        "The highest frequency is reached where its eigenvalue is 1, 3, 10, 30 or 50 % of the "
        "mean.",
    ),
)
