"""Figures 6 and 19: LFF and CNNs from pixels, and how far the encoder's B moves."""

from typing import Any

from lff.experiments.grids import PIXEL_TASK, Each, Training, pixel_size
from lff.experiments.measured import EPISODE, Q_VALUES, RETURN
from lff.experiments.spec import Experiment, Panel, ScaleName, baseline, ours, rival
from lff.stats.kinds import Better, Equivalent, MoreOften
from lff.stats.metrics import Metric

SMALL = (
    "At laptop scale: 32 x 32 images without shadows cut to 28 x 28, 16 filters, F = 32, batches "
    "of 64, a temperature that starts at 0.01."
)
FIRST = f"{SMALL} The first look: cheetah-run, 8,000 actions of four frames, seeds 0 to 4."
FRONTS = ("CNN", "LFF", "CNN, vanilla")
B_STD = Metric("lff/critic_B_std", "std of B, encoder")
BINS = Metric("lff/critic_B_histogram", "B of encoder, bin")
TEST, TRAIN = Metric("test error", better="lower"), Metric("train error", better="lower")
PIXELS: dict[str, Any] = {"algo": "pixels"}
TASKS = (PIXEL_TASK, "dmc-pixels/cartpole-swingup")
LOOK = Training(laptop=TASKS, actions=12_000, seeds=8, first_seed=10)
ONE_OF_TWO = 0.0294  # Pocock's level for the first of two looks
QUOTE = 'Figure 6: "LFF can yield dramatic improvements in sample-efficiency over CNNs."'
DRIFT = 'Appendix G: "the standard deviation rises to about 0.5"'


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
        title="Does LFF learn faster from pixels than a CNN of equal size?",
        source="Figure 6",
        whose="paper, empirical",
        quote=QUOTE,
        registered="2026-11-18",
        arms={"CNN": baseline(net="cnn", **PIXELS), "LFF": ours(**PIXELS)},
        grid=LOOK,
        metrics=(RETURN, EPISODE, *Q_VALUES),
        sentences={
            "C-6: Over the tasks, LFF's return is 1.5 times the CNN's or more.": Better(
                "LFF", than="CNN", scale="ratio", by=1.5, alpha=ONE_OF_TWO, primary=True
            ),
            "C-6a: Over the tasks, LFF's return is higher than the CNN's.": Better(
                "LFF", than="CNN", scale="ratio", alpha=ONE_OF_TWO
            ),
        },
        notes=f"{SMALL} 12,000 actions, 8 seeds, look 1 of 2 by Pocock's rule. It cannot decide "
        "the paper's claim, which is about 100 x 100 images and a million actions: it asks "
        "whether a gain of half is supported or excluded at this size.",
    ),
    Experiment(
        name="fig6-first",
        title="A first look at Figure 6: LFF, a CNN of equal size, a CNN without its layer",
        source="Figure 6",
        whose="paper, empirical",
        quote=QUOTE,
        arms={
            "CNN": baseline(net="cnn", **PIXELS),
            "LFF": ours(**PIXELS),
            "CNN, vanilla": rival(net="cnn-vanilla", **PIXELS),
        },
        grid=Training(),
        metrics=(RETURN, *Q_VALUES),
        sentences={
            "C-6f/CNN: LFF learns better than the CNN of equal size.": Better("LFF", than="CNN"),
            "C-6f/vanilla: LFF learns better than the CNN without a layer in its place.": Better(
                "LFF", than="CNN, vanilla"
            ),
            **{
                f"C-6e/{arm}: {arm} ends above twice the random policy's return in most "
                "runs.": MoreOften(arm, above=2.0, times="random policy", whose="ours")
                for arm in FRONTS
            },
        },
        notes=FIRST,
    ),
    Experiment(
        name="fig6-decay",
        title="Does weight decay keep a CNN from learning, as on the authors' poster?",
        source="the authors' poster beside Figure 6",
        whose="paper, empirical",
        quote="Poster: a CNN with weight decay does not learn.",
        arms={
            "CNN": baseline(net="cnn", **PIXELS),
            "CNN + weight decay": rival(net="cnn", regularize=("weight-decay",), **PIXELS),
        },
        grid=Training(),
        metrics=(RETURN, *Q_VALUES),
        sentences={
            "C-6c: Weight decay of 1e-4 hurts the CNN.": Better("CNN", than="CNN + weight decay")
        },
        notes=FIRST,
    ),
    Experiment(
        name="fig6-offline",
        title="Does LFF fit Q from pixels better, on one fixed set of images?",
        source="not in the paper: Figure 6 without the variance of exploration",
        arms={"CNN": baseline(net="cnn"), "LFF": ours(), "CNN, vanilla": rival(net="cnn-vanilla")},
        grid=Each(regression, {f"noise {n:g}": {"noise": n} for n in (0.0, 1.0)}, largest="paper"),
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
        whose="paper, empirical",
        quote=DRIFT,
        registered="2026-11-18",
        arms={"LFF": ours(**PIXELS)},
        grid=LOOK,
        metrics=(RETURN, B_STD, BINS),
        sentences={
            "C-19a: B ends more than three times wider than σ = 0.1.": Better(
                "LFF", than=0.3, metric=B_STD, statistic="last", scale="ratio"
            ),
            "C-19b: B ends within 20 % of σ = 0.1.": Equivalent(
                "LFF",
                than=0.1,
                metric=B_STD,
                statistic="last",
                quote='Section 3.1: "its variance remains quite similar to the initial σ²"',
            ),
        },
        panels=(Panel(B_STD, log=True), Panel(BINS, kind="histogram")),
        notes=f"{SMALL} The runs are those of fig6.",
    ),
)
