"""Figures 6 and 19: LFF and CNNs from pixels, and how far the encoder's B moves."""

from typing import Any

from lff.experiments.grids import PIXEL_TASK, Training, pixel_size
from lff.experiments.measured import Q_VALUES, RETURN
from lff.experiments.spec import Each, Experiment, Panel, ScaleName, baseline, ours, rival
from lff.stats.kinds import AsGood, Better, InSeeds
from lff.stats.metrics import Metric

SMALL = (
    "At laptop scale: cheetah-run, 32 x 32 images without shadows cut to 28 x 28, 16 filters, "
    "F = 32, batches of 64, 8,000 actions of four frames, a temperature that starts at 0.01."
)
DRIFT_FROM = (0.1, 0.01)
FRONTS = ("CNN", "LFF", "CNN, vanilla")
B_STD = Metric("lff/critic_B_std", "std of B, encoder")
BINS = Metric("lff/critic_B_histogram", "B of encoder, bin")
TEST, TRAIN = Metric("test error", better="lower"), Metric("train error", better="lower")
PIXELS: dict[str, Any] = {"algo": "pixels"}


def regression(scale: ScaleName, noise: float, **fields: Any) -> Any:
    """Return fits of Q to a fixed set of images, with or without noise on the targets."""
    from lff.algos import PixelSACConfig
    from lff.envs import PixelView
    from lff.experiments.jobs.pixel_regression import PixelRegressionJob

    size = pixel_size(scale)  # at paper scale the same images and networks, larger
    smoke = scale == "smoke"
    config = size.config(PIXEL_TASK, **fields)
    assert isinstance(config.algo, PixelSACConfig)
    return PixelRegressionJob(
        env=PIXEL_TASK,
        view=config.view or PixelView(),
        algo=config.algo,
        action_repeat=config.action_repeat,
        noise=noise,
        episodes=2 if smoke else 40,
        seeds=size.seeds,
        updates=4 if smoke else 1_000,
    )


EXPERIMENTS = (
    Experiment(
        name="fig6",
        title="Does LFF learn faster from pixels than CNNs, one of them of equal size?",
        source="Figure 6",
        arms={
            "CNN": baseline(net="cnn", **PIXELS),
            "LFF": ours(**PIXELS),
            "CNN, vanilla": rival(net="cnn-vanilla", **PIXELS),
        },
        grid=Training(),
        metrics=(RETURN, *Q_VALUES),
        sentences={
            "C-6a: LFF learns better than the CNN of equal size.": Better(
                "LFF", than="CNN", on_at_least=0.75
            ),
            "C-6a/vanilla: LFF learns better than the CNN without a layer in its place.": Better(
                "LFF", than="CNN, vanilla", on_at_least=0.75
            ),
            **{
                f"C-6e/{arm}: {arm} ends above twice the random policy's return.": InSeeds(
                    arm, metric=RETURN, above=2.0, than="random policy", share=0.8
                )
                for arm in FRONTS
            },
        },
        notes=SMALL,
    ),
    Experiment(
        name="fig6-decay",
        title="Does weight decay keep a CNN from learning, as on the authors' poster?",
        source="the authors' poster beside Figure 6",
        arms={
            "CNN": baseline(net="cnn", **PIXELS),
            "CNN + weight decay": rival(net="cnn", regularize=("weight-decay",), **PIXELS),
        },
        grid=Training(),
        metrics=(RETURN, *Q_VALUES),
        sentences={
            "C-6c: Weight decay of 1e-4 hurts the CNN.": Better("CNN", than="CNN + weight decay")
        },
        notes=SMALL,
    ),
    Experiment(
        name="fig6-offline",
        title="Does LFF fit Q from pixels better, on one fixed set of images?",
        source="not in the paper: Figure 6 without the variance of exploration",
        arms={"CNN": baseline(net="cnn"), "LFF": ours(), "CNN, vanilla": rival(net="cnn-vanilla")},
        grid=Each(regression, {f"noise {noise:g}": {"noise": noise} for noise in (0.0, 1.0)}),
        metrics=(TEST, TRAIN),
        sentences={
            f"C-6d/noise {noise:g}: LFF ends nearer to held-out returns than the CNN of equal "
            f"size, noise of {noise:g} standard deviations on the targets.": Better(
                "LFF", than="CNN", metric=TEST, statistic="last", tasks=(f"noise {noise:g}",)
            )
            for noise in (0.0, 1.0)
        },
        panels=(Panel(TEST), Panel(TRAIN)),
        notes="Images, actions and discounted returns of a random policy on cheetah-run; "
        "errors are mean squares in units of the returns' variance. Seeds differ in weights, "
        "batches and noise, not in images.",
    ),
    Experiment(
        name="fig19",
        title="How far does the encoder's B move in training from pixels?",
        source="Figure 19",
        arms={f"LFF σ={sigma:g}": ours(sigma=sigma, **PIXELS) for sigma in DRIFT_FROM},
        grid=Training(),
        metrics=(RETURN, B_STD, BINS),
        sentences={
            **{
                f"C-19a/{sigma:g}: B ends more than three times wider than σ = {sigma:g}.": InSeeds(
                    f"LFF σ={sigma:g}", metric=B_STD, above=3 * sigma, share=0.8
                )
                for sigma in DRIFT_FROM
            },
            "C-19b: Where B ends does not depend on σ: 0.1 against 0.01.": AsGood(
                "LFF σ=0.1", than="LFF σ=0.01", metric=B_STD, statistic="last"
            ),
        },
        panels=(Panel(B_STD, log=True), Panel(BINS, kind="histogram")),
        notes=SMALL,
    ),
)
