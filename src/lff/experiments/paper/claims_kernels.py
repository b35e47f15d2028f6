"""Sentences of section 4 of the paper that a kernel can confirm or refute."""

from typing import Any

from lff.experiments.paper.lemmas import LAZY
from lff.experiments.spec import Each, Experiment, Panel, ScaleName, baseline, ours
from lff.stats.kinds import InSeeds, SlopeIs
from lff.stats.metrics import Metric

LIMITS = {f"{n} hidden layers, infinite": baseline(hidden=n) for n in (2, 3)}
FINITE = "3 hidden layers of 1024"
NET = "two-layer network"
EIGENVALUE = Metric("eigenvalue")
SHARE = Metric("share of x", "share of x at k = 1")
OUTPUT = Metric("output at the start", better="lower")
CHANGE = Metric("drift", "change of the kernel", "lower")


def decay(scale: ScaleName, hidden: int, width: int = 0) -> Any:
    """Return an MLP; the numbers of points are the draws of those without randomness."""
    from lff.experiments.jobs.deep_kernels import DeepKernelJob

    if scale == "smoke":
        return DeepKernelJob(hidden=hidden, width=min(width, 16), draws=2, sizes=(64,))
    sizes = (256,) if width else (256, 320, 384, 448, 512)
    return DeepKernelJob(hidden=hidden, width=width, draws=5, sizes=sizes)


EXPERIMENTS = (
    Experiment(
        name="claim-quadratic",
        title="Do the eigenvalues of an MLP fall quadratically with frequency?",
        source="§4.2",
        whole_at="laptop",
        arms=LIMITS | {FINITE: baseline(hidden=3, width=1024)},
        grid=Each(decay),
        metrics=(EIGENVALUE,),
        sentences={
            f"C-4.2{letter}: From k = 4 to 64 the eigenvalues fall as 1/k²: {name}.": SlopeIs(
                name, metric=EIGENVALUE, low=-2.2, high=-1.8, first=4, last=64
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
        whole_at="laptop",
        arms={f"σ = {sigma:g}": ours(sigma=sigma) for sigma in (0.001, 0.01, 0.1, 1.0)},
        grid=Each(
            "concat-share",
            size={"draws": 40},
            small={"draws": 2, "fourier_dims": (16, 32)},
        ),
        metrics=(SHARE,),
        sentences={
            **{
                f"C-4.3{letter}: "
                f"At σ = {sigma:g} the share of x falls as 1/F, from F = 64 on.": SlopeIs(
                    f"σ = {sigma:g}", metric=SHARE, low=-1.1, high=-0.9, first=64
                )
                for letter, sigma in (("a", 1.0), ("b", 0.1), ("c", 0.001))
            },
            "C-4.3d: At the paper's σ = 0.001 and F = 1024 more than half of it is x.": InSeeds(
                "σ = 0.001", metric=SHARE, above=0.5, share=1.0
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
        whole_at="laptop",
        arms={NET: ours()},
        grid=LAZY,
        metrics=(OUTPUT, CHANGE),
        sentences={
            "C-4.1a: The kernel changes ever less over training: at least as 1/√m.": SlopeIs(
                NET, metric=CHANGE, high=-0.4
            ),
            "C-4.1b: At width 4096 it changes by less than 1 %.": InSeeds(
                NET, metric=CHANGE, below=0.01, share=0.9
            ),
            "C-4.1c: The output is zero at initialisation: below 0.1 at width 4096.": InSeeds(
                NET, metric=OUTPUT, below=0.1, share=0.9
            ),
            "C-4.1d: The output at initialisation falls with width, at least as 1/√m.": SlopeIs(
                NET, metric=OUTPUT, high=-0.4
            ),
        },
        panels=(
            Panel(CHANGE, log=True, x="width m", log_x=True),
            Panel(OUTPUT, x="width m", log_x=True),
        ),
        notes="The network of Lemma 1, trained until Lemma 2 has 10 % of the loss left. Its output "
        "at the start has variance 1 at any width.",
    ),
)
