"""Figure 3: the kernel of two-layer Fourier networks, and what σ does to its spectrum."""

from lff.experiments.grids import Each
from lff.experiments.spec import Experiment, Panel, baseline, ours
from lff.stats.kinds import Computed, Exponent, MoreOften
from lff.stats.metrics import Metric

SIGMAS = (0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
NETWORKS, NEEDED = "networks, m = 1024", "σ needed"
NAMES = tuple(f"σ = {sigma:g}" for sigma in SIGMAS)
KERNEL, INSIDE = Metric("kernel"), Metric("angles inside", "share of angles inside")
EIGENVALUE = Metric("eigenvalue", "eigenvalue over n")
FIRST = Metric("eigenvalue 1", "eigenvalue over n, k = 1")
EIGHTH = Metric("eigenvalue 8", "eigenvalue over n, k = 8")
HIGHEST = Metric("highest eigenvalue", "eigenvalue over n, k = n/2")
SMALL = {"sizes": (64, 128), "degree": 60}
REACHES = Metric("sigma for the highest", "σ that reaches k = n/2")


EXPERIMENTS = (
    Experiment(
        name="fig3a",
        title="Is the kernel of networks of width 1024 that of Lemma 1?",
        source="Figure 3a",
        whose="paper, mathematical",
        quote='Figure 3: "The NTK limit is quite accurate for realistically wide networks."',
        arms={
            NETWORKS: ours(
                job="monte-carlo",
                angles=5,
                draws=10,
                widths=(1024,),
                small={"angles": 60, "draws": 2, "widths": (32,)},
            ),
            "Lemma 1": baseline(degree=5),
        },
        grid=Each(
            "circle-kernel",
            {f"σ = {sigma:g}": {"sigma": sigma} for sigma in (1.0, 4.0)},
            small=SMALL,
        ),
        metrics=(KERNEL, INSIDE),
        sentences={
            "C-3a: Lemma 1 is within 2 standard deviations of ten networks at 95 % of angles, in "
            "most groups of ten.": MoreOften(NETWORKS, metric=INSIDE, above=0.9499)
        },
        panels=(Panel(KERNEL, x="angle, degrees"),),
        notes="Ten groups of ten networks; the curve shows one network of each group and the "
        "interval of their mean. σ is Lemma 1's, without 2π.",
    ),
    Experiment(
        name="fig3bc",
        title="What does σ do to the kernel and to its spectrum?",
        source="Figure 3b and c",
        whose="paper, mathematical",
        quote='Figure 3: "Increasing σ here increases the higher frequencies\' eigenvalues"',
        arms={
            **{name: ours(sigma=s) for name, s in zip(NAMES, SIGMAS, strict=True)},
            NEEDED: baseline(
                job="highest-frequency", small={"sizes": (64, 128), "shares": (0.1, 0.3)}
            ),
        },
        grid=Each("circle-kernel", small=SMALL),
        metrics=(KERNEL, EIGENVALUE, FIRST, EIGHTH, HIGHEST, REACHES),
        sentences={
            "C-3c1: A larger σ raises the eigenvalue of the highest frequency.": Computed(
                order=NAMES, metric=HIGHEST
            ),
            "C-3c2: Among the higher frequencies, not at every k: at k = 8 a larger σ does not "
            "always raise the eigenvalue.": Computed(
                "σ = 300", metric=EIGHTH, below=1.0, times="σ = 10", whose="ours"
            ),
            "C-3c3: A larger σ lowers the eigenvalue at k = 1.": Computed(
                order=NAMES, metric=FIRST, direction="falls", whose="ours"
            ),
            "C-3c4: The σ that reaches the highest frequency grows as the number of points: that "
            "it takes 100 to 1,000 says how many points there are.": Exponent(
                NEEDED,
                metric=REACHES,
                above=0.9,
                below=1.1,
                whose="ours",
                quote='Section 4.4: "only extremely large σ, on the order of 10² - 10³, result in '
                'coverage of the high frequencies"',
            ),
        },
        panels=(
            Panel(KERNEL, x="angle, degrees"),
            Panel(EIGENVALUE, log=True, x="frequency k", log_x=True),
            Panel(REACHES, x="points n", log=True, log_x=True, variants=(NEEDED,)),
        ),
        notes="Circles of 64, 128, 256, 512 and 1,000 points count as draws: nothing is random. "
        "The highest frequency is reached where its eigenvalue is 1, 3, 10, 30 or 50 % of the "
        "mean.",
    ),
)
