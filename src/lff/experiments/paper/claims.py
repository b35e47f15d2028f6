"""Sentences of the paper that no figure of it shows: on kernels, and on a trained critic."""

from lff.experiments.grids import Around, Each, Training
from lff.experiments.measured import RETURN
from lff.experiments.paper.theory import LAZY, NET
from lff.experiments.spec import Arm, Experiment, Panel, baseline, ours
from lff.stats.kinds import Better, Exponent
from lff.stats.metrics import Metric, Role

LIMITS = {
    f"{n} hidden layers, infinite": baseline(hidden=n, sizes=(256, 320, 384, 448, 512))
    for n in (2, 3)
}
SMALL = {"draws": 2, "sizes": (64,)}
FINITE = "3 hidden layers of 1024"
EIGENVALUE = Metric("eigenvalue")
SHARE = Metric("share of x", "share of x at k = 1")
OUTPUT = Metric("output at the start", better="lower")
CHANGE = Metric("drift", "change of the kernel", "lower")
ZERO = 'Section 4.1: "f(x) = 0 at initialization in the infinite width limit"'
NETS: dict[str, tuple[Role, str]] = {"MLP": ("baseline", "mlp"), "LFF": ("ours", "lff")}
TAIL = Metric("kernel/tail", "tail of the kernel", "lower")
FREQUENCY = Metric("kernel/frequency", "kernel's frequency", "lower")
CHEETAH = ("dmc/cheetah-run",)
KERNEL = Around("replay-kernel", {"points": 256}, small={"points": 32})


EXPERIMENTS = (
    Experiment(
        name="claim-quadratic",
        title="Do the eigenvalues of an MLP fall quadratically with frequency?",
        source="§4.2",
        whose="paper, mathematical",
        quote='Section 4.2: "these eigenvalues decay approximately quadratically with the '
        'frequency"',
        arms=LIMITS | {FINITE: baseline(hidden=3, width=1024, small={**SMALL, "width": 16})},
        grid=Each("deep-kernel", size={"draws": 5}, small=SMALL),
        metrics=(EIGENVALUE,),
        sentences={
            f"C-4.2{letter}: From k = 4 to 64 the eigenvalues fall as 1/k²: {name}.": Exponent(
                name, metric=EIGENVALUE, above=-2.2, below=-1.8, first=4, last=64
            )
            for letter, name in zip("abc", (*LIMITS, FINITE), strict=True)
        },
        panels=(Panel(EIGENVALUE, log=True, x="frequency k", log_x=True),),
        notes="ReLU, no biases, the unit circle. The limits have no randomness: circles of 256 to "
        "512 points are their draws.",
    ),
    Experiment(
        name="claim-concat",
        title="Does the concatenated x vanish with width?",
        source="§4.3",
        whose="paper, mathematical",
        quote='Section 4.3: "any contribution from concatenation goes to zero as we increase the '
        'layer width m"',
        arms={f"σ = {sigma:g}": ours(sigma=sigma) for sigma in (0.001, 0.01, 0.1, 1.0)},
        grid=Each("concat-share", size={"draws": 40}, small={"draws": 2, "fourier_dims": (16, 32)}),
        metrics=(SHARE,),
        sentences={
            **{
                f"C-4.3{letter}: At σ = {sigma:g} the share of x falls as 1/F, from F = 64 "
                f"on{', a limit that is not reached at F <= 1024' * (sigma < 0.01)}.": Exponent(
                    f"σ = {sigma:g}", metric=SHARE, above=-1.1, below=-0.9, first=64
                )
                for letter, sigma in (("a", 1.0), ("b", 0.1), ("c", 0.001))
            },
            "C-4.3d: At the paper's σ = 0.001 and F = 1024 more than half of it is x.": Better(
                "σ = 0.001", than=0.5, metric=SHARE, statistic="last", whose="ours"
            ),
        },
        panels=(Panel(SHARE, log=True, x="Fourier features F", log_x=True),),
        notes="The share of x·x' in the eigenvalue of the features' inner products at frequency 1 "
        "of the unit circle; all other frequencies but the constant one have no x.",
    ),
    Experiment(
        name="claim-lazy",
        title="Is the output zero at initialisation, and the kernel constant over training?",
        source="§4.1",
        whose="paper, mathematical",
        quote='Section 4.1: "This kernel function is deterministic and does not change over the '
        'course of training, due to the infinite width assumption."',
        arms={NET: ours()},
        grid=LAZY,
        metrics=(OUTPUT, CHANGE),
        sentences={
            "C-4.1a: The kernel changes ever less over training: at least as 1/√m.": Exponent(
                NET, metric=CHANGE, below=-0.4
            ),
            "C-4.1b: At width 4096 it changes by less than 1 %.": Better(
                NET, than=0.01, metric=CHANGE, statistic="last"
            ),
            "C-4.1c: The output is zero at initialisation: below 0.1 at width 4096.": Better(
                NET, than=0.1, metric=OUTPUT, statistic="last", quote=ZERO
            ),
            "C-4.1d: The output at initialisation falls with width, at least as 1/√m.": Exponent(
                NET, metric=OUTPUT, below=-0.4, quote=ZERO
            ),
        },
        panels=(
            Panel(CHANGE, log=True, x="width m", log_x=True),
            Panel(OUTPUT, x="width m", log_x=True),
        ),
        notes="The network of Lemma 1, trained until Lemma 2 has 10 % of the loss left. Its output "
        "at the start has variance 1 at any width.",
    ),
    Experiment(
        name="claim-lower-frequency",
        title="Is the trained LFF critic still of lower frequency than an MLP?",
        source="Appendix G, by Figure 4",
        whose="paper, empirical",
        quote='Appendix G: "about 0.1, which should still be more biased towards low frequencies '
        'than vanilla MLPs are"',
        arms={
            f"{name}{', normalised' * normalize}": Arm(
                role, {"net": net, "normalize_obs": normalize}
            )
            for name, (role, net) in NETS.items()
            for normalize in (False, True)
        },
        grid=Training(laptop=CHEETAH, paper=CHEETAH, then=KERNEL),
        metrics=(RETURN, TAIL, FREQUENCY),
        sentences={
            f"C-freq/{metric.title.split()[0]}{suffix}: After training, LFF's {metric.title} is "
            f"below the MLP's{' on normalised observations' if suffix else ''}.": Better(
                f"LFF{suffix}", than=f"MLP{suffix}", metric=metric, statistic="last"
            )
            for metric in (TAIL, FREQUENCY)
            for suffix in ("", ", normalised")
        },
        panels=(Panel(TAIL, kind="bars"), Panel(FREQUENCY, kind="bars")),
        notes="The empirical kernel of the first critic on the last points of the replay. Tail: "
        "share of its trace beyond sixteen eigenvalues.",
    ),
)
