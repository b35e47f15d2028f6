"""Figure 4: spectra of deep networks, infinitely wide and of width 1024."""

from lff.experiments.grids import Each
from lff.experiments.spec import Experiment, Panel, baseline, ours
from lff.stats.kinds import Better, MoreOften
from lff.stats.metrics import Metric

MLP = "MLP"
EIGENVALUE = Metric("eigenvalue")
TAIL = Metric("tail eigenvalue", "eigenvalue, k = 16")
OVER = Metric("eigenvalue over the limit")
FACTOR = Metric("factor from the limit", better="lower")


def name_of(sigma: float) -> str:
    """Return the name of an arm."""
    return f"σ = {sigma:g}"


LEFT, RIGHT = (
    {MLP: baseline()} | {name_of(s): ours(front="fourier", sigma=s) for s in sigmas}
    for sigmas in ((0.01, 0.1, 0.15, 0.2, 1.0), (0.01, 0.1, 1.0))
)


EXPERIMENTS = (
    Experiment(
        name="fig4-left",
        title="What does σ do to the spectrum of an infinitely wide deep network?",
        source="Figure 4, left",
        whose="paper, mathematical",
        quote='Section 4.4: "increasing σ leads to larger eigenvalues for higher frequencies"',
        arms=LEFT,
        grid=Each(
            "deep-kernel", size={"hidden": 3}, small={"draws": 2, "sizes": (32,), "fourier_dim": 64}
        ),
        metrics=(EIGENVALUE, TAIL),
        sentences={
            "C-4a: A larger σ raises the eigenvalues of high frequencies (k = 16).": MoreOften(
                order=tuple(LEFT)[1:], metric=TAIL
            ),
            "C-4b: At σ = 0.1 the MLP still has more at k = 16.": Better(
                MLP,
                than=name_of(0.1),
                metric=TAIL,
                scale="log",
                quote='Appendix G: "about 0.1, which should still be more biased towards low '
                'frequencies than vanilla MLPs are (see Figure 4)"',
            ),
            "C-4c: Break-even is by σ = 0.2: there the Fourier network has more.": Better(
                name_of(0.2), than=MLP, metric=TAIL, scale="log", whose="ours"
            ),
            "C-4d: At σ = 0.15 the MLP still has more.": Better(
                MLP, than=name_of(0.15), metric=TAIL, scale="log", whose="ours"
            ),
        },
        panels=(Panel(EIGENVALUE, log=True, x="frequency k", log_x=True),),
        notes="Three hidden ReLU layers of infinite width; F = 1024 fixed features without x, as "
        "in the paper's figure; 256 points; eigenvalues over n and over k(x, x); 10 draws of B. "
        "σ is the layer's, with 2π.",
    ),
    Experiment(
        name="fig4-right",
        title="Do networks of width 1024 have the spectrum of the limit?",
        source="Figure 4, right",
        whose="paper, mathematical",
        quote='Figure 4: "We find that the NTK is accurate (note the log scale)"',
        arms=RIGHT,
        grid=Each(
            "deep-kernel",
            size={"sizes": (64,), "hidden": 2, "width": 1024, "draws": 5},
            small={"draws": 2, "fourier_dim": 64, "width": 16},
        ),
        metrics=(EIGENVALUE, OVER, FACTOR),
        sentences={
            **{
                f"C-4{letter}: At σ = {sigma:g} every eigenvalue is within a factor of 3 of the "
                "limit, on average.": Better(
                    name_of(sigma), than=3.0, metric=FACTOR, statistic="max", scale="log"
                )
                for letter, sigma in (("e", 0.1), ("f", 1.0))
            },
            "C-4g: At σ = 0.01 the networks stay above the limit, by 3 or more at the highest "
            "frequency.": Better(
                name_of(0.01), than=3.0, metric=OVER, statistic="last", scale="log", whose="ours"
            ),
        },
        panels=(
            Panel(EIGENVALUE, log=True, x="frequency k", log_x=True),
            Panel(OVER, log=True, x="frequency k", log_x=True, line=1.0),
        ),
        notes="Two hidden layers of 1024 in the NTK's parameterisation, 64 points, 5 networks. The "
        "limit has the same B and infinitely wide hidden layers.",
    ),
)
