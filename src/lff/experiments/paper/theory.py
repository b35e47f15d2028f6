"""Theorem 1 and Lemmas 1 to 3: contraction, the kernel, training, eigenvectors on the circle."""

from lff.experiments.grids import Each
from lff.experiments.spec import Experiment, Panel, baseline, ours, rival
from lff.stats.kinds import Better, Computed, Equivalent, Exponent
from lff.stats.metrics import Metric

BOUND, SMALL = "σ at the bound", "σ = 0.01"
COUPLING, GROWTH = Metric("coupling", better="lower"), Metric("growth", better="lower")
NORM = Metric("norm", "norm of the update", "lower")
SIGMA = Metric("bound", "bound on σ", "lower")
OVER_LEAST = Metric("bound over least", "bound over least σ", "lower")
OVER_CONTRACTING = Metric("bound over contracting", "bound over contracting σ", "lower")
HALF, FULL, NET = "m/2 rows", "m rows", "two-layer network"
FITS = {
    "random circulant matrix": rival(kernel="random row", sizes=tuple(range(2, 65))),
    "Lemma 1, circle": ours(kernel="Lemma 1"),
    "ReLU network, circle": baseline(kernel="ReLU"),
}
PRECISION = (1e-10, 1e-10, 1e-7)
"""The angle of two near points, which a ReLU kernel needs, has half of the digits of its cosine."""
FAILS = {
    "Lemma 1, uneven circle": ours(kernel="Lemma 1", points="uneven circle"),
    "Lemma 1, sphere S²": ours(kernel="Lemma 1", points="sphere"),
}
LARGEST = Metric("largest error", better="lower")
RATIO = Metric("ratio", "kernel over Lemma 1")
PREDICTED = Metric("error", "error of the prediction", "lower")
OWN = Metric("error by own kernel", "error, own kernel", "lower")
RESIDUAL = Metric("residual", "residual of the waves", "lower")
LAZY = Each(
    "lazy", size={"draws": 20}, small={"draws": 2, "widths": (64, 128), "steps": 20}
)  # Lemma 2 and the claims of §4.1 share its jobs


EXPERIMENTS = (
    Experiment(
        name="thm1",
        title="From which σ on is the Bellman update a contraction?",
        source="Theorem 1",
        whose="paper, mathematical",
        quote="Theorem 1: from some σ on the Bellman update is a contraction",
        arms={BOUND: ours(), SMALL: ours(sigma=0.01)},
        grid=Each(
            "contraction",
            {"random MDPs": {}},
            size={"draws": 100},
            small={"draws": 2, "states": (5, 6)},
        ),
        metrics=(COUPLING, NORM, GROWTH, SIGMA, OVER_LEAST, OVER_CONTRACTING),
        sentences={
            "THM-1a: From the bound on the theorem's condition holds on every MDP.": Computed(
                BOUND, metric=COUPLING, below=1.0
            ),
            "THM-1b: There the evaluation of a policy contracts on every MDP.": Computed(
                BOUND, metric=NORM, below=1.0
            ),
            "THM-1c: So does the update with the maximum over actions.": Computed(
                BOUND, metric=GROWTH, below=1.0
            ),
            "THM-1d: A small learning rate is not enough: at σ = 0.01 the condition fails on every "
            "MDP.": Computed(SMALL, metric=COUPLING, above=1.0, whose="ours"),
            "THM-1e: At σ = 0.01 the update with the maximum is not a contraction, on every "
            "MDP.": Computed(SMALL, metric=GROWTH, above=1.0, whose="ours"),
            "THM-1f: The bound is within a factor of "
            "two of the least σ that fulfils the condition.": Computed(
                BOUND, metric=OVER_LEAST, below=2.0, whose="ours"
            ),
        },
        panels=(
            Panel(COUPLING, kind="bars", log=True, line=1.0, line_label="at most 1 asked"),
            Panel(GROWTH, kind="bars", log=True, line=1.0, line_label="below: contracts"),
            Panel(OVER_LEAST, kind="bars"),
            Panel(OVER_CONTRACTING, kind="bars"),
        ),
        notes="100 random MDPs of 5 to 50 states and two actions at random points of spheres in 2, "
        "3 and 8 dimensions, γ of 0.5, 0.9 and 0.99, α K ρ = 0.5. σ is Lemma 1's: "
        "the layer's times 2π. The bound is the one the printed theorem leaves out.",
    ),
    Experiment(
        name="lem1",
        title="Is Lemma 1's kernel that of wide two-layer Fourier networks?",
        source="Lemma 1",
        whose="paper, mathematical",
        quote="Lemma 1: k(x, x') = (2 - ‖x - x'‖²/2) exp(-σ²‖x - x'‖²/2)",
        arms={HALF: ours(rows="m/2"), FULL: rival(rows="m")},
        grid=Each(
            "monte-carlo",
            {f"d = {dim}": {"dim": dim} for dim in (2, 3, 8)},
            size={"sigma": 2.0, "draws": 20},
            small={"draws": 2, "widths": (64, 128)},
        ),
        metrics=(LARGEST, RATIO),
        sentences={
            "LEM-1a: "
            "With m/2 rows in B the largest error falls as the width to the power -1/2.": Exponent(
                HALF, metric=LARGEST, above=-0.6, below=-0.4
            ),
            "LEM-1b: With m rows, as the text has it, the kernel is twice the stated one, within "
            "2.5 %.": Equivalent(
                FULL, than=2.0, metric=RATIO, statistic="last", margin=1.025, whose="ours"
            ),
            "LEM-1c: With m/2 rows, as the proof has it, it is the stated one, within "
            "5 %.": Equivalent(HALF, than=1.0, metric=RATIO, statistic="last", margin=1.05),
        },
        panels=(
            Panel(LARGEST, log=True, x="width m", log_x=True),
            Panel(RATIO, x="width m", log_x=True, line=1.0),
        ),
        notes="24 random points of the unit sphere, σ = 2 (Lemma 1's, without 2π), 20 draws of "
        "points and network. The laptop's scale is the whole.",
    ),
    Experiment(
        name="lem2",
        title="Does the residual follow exp(-ηKt) r₀?",
        source="Lemma 2",
        whose="paper, mathematical",
        quote='Section 4.1: "we precisely know the model output at any point in training"',
        arms={NET: ours()},
        grid=LAZY,
        metrics=(PREDICTED, OWN),
        sentences={
            "LEM-2a: At width 4096 Lemma 2 with Lemma 1's kernel is within 5 % until the loss has "
            "fallen by 90 %.": Better(NET, than=0.05, metric=PREDICTED, statistic="last"),
            "LEM-2b: The error shrinks with width.": Exponent(NET, metric=PREDICTED, below=-0.2),
            "LEM-2c: With the network's own kernel it shrinks faster: as 1/√m or more.": Exponent(
                NET, metric=OWN, below=-0.5, whose="ours"
            ),
        },
        panels=tuple(
            Panel(metric, log=True, x="width m", log_x=True) for metric in (PREDICTED, OWN)
        ),
        notes="Gradient descent, 800 steps, on 16 points of the circle; targets of frequencies 1, "
        "2 and 4; σ = 2 without 2π. The own kernel is the network's at the start.",
    ),
    Experiment(
        name="lem3",
        title="Are waves the eigenvectors of a kernel?",
        source="Lemma 3",
        whose="paper, mathematical",
        quote='Section 4.2: for inputs "evenly spaced on the d-dimensional sphere" '
        'eigenvectors "correspond to frequencies from the discrete Fourier transform"',
        arms=FITS | FAILS,
        grid=Each(
            "circulant",
            {"eigenvectors": {}},
            size={"draws": 20},
            small={"draws": 2, "sizes": (2, 3)},
        ),
        metrics=(RESIDUAL,),
        sentences={
            **{
                f"LEM-3{letter}: Waves are eigenvectors, to {below:g}: {name}.": Computed(
                    name, metric=RESIDUAL, below=below, statistic="max"
                )
                for letter, name, below in zip("abc", FITS, PRECISION, strict=True)
            },
            **{
                f"LEM-3{letter}: Waves are not: {name}.": Computed(
                    name, metric=RESIDUAL, above=0.01, whose="ours"
                )
                for letter, name in zip("de", FAILS, strict=True)
            },
        },
        panels=(Panel(RESIDUAL, log=True, x="points", log_x=True),),
        notes="The paper says evenly spaced on the sphere; it holds on the circle alone. Points of "
        "S² lie on a golden spiral. The residual is max |Ku - λu| over the largest |λ|.",
    ),
)
