"""Figures 6 and 19: LFF and CNNs from pixels, and how far the encoder's B moves."""

from lff.experiments.measured import Q_VALUES, RETURN
from lff.experiments.spec import Cell, Experiment, Panel, ScaleName
from lff.stats.kinds import AsGood, Better, InSeeds

SMALL = (
    "At laptop scale: cheetah-run, 32 x 32 pictures without shadows cut to 28 x 28, 16 filters, "
    "F = 32, batches of 64, 8,000 actions of four frames, a temperature that starts at 0.01."
)
DRIFT_FROM = (0.1, 0.01)
FRONTS = ("CNN", "LFF", "CNN, vanilla")
B_STD = "std of B, encoder"


def fig6_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return LFF, the CNN of equal size and the CNN without a layer in its place."""
    from lff.experiments.pixels import Seer, pixel_grid, pixel_size

    arms = {"CNN": Seer(net="cnn"), "LFF": Seer(), "CNN, vanilla": Seer(net="cnn-vanilla")}
    return pixel_grid(pixel_size(scale), arms)


def decay_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return the CNN with and without weight decay."""
    from lff.experiments.pixels import Seer, pixel_grid, pixel_size
    from lff.regularizers import WeightDecay

    decayed = Seer(net="cnn", agent={"regularizers": (WeightDecay(),)})
    return pixel_grid(pixel_size(scale), {"CNN": Seer(net="cnn"), "CNN + weight decay": decayed})


def drift_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return LFF from two σ; the run of the preset's own is Figure 6's."""
    from lff.experiments.pixels import Seer, pixel_grid, pixel_size

    arms = {f"LFF σ={sigma:g}": Seer(preset={"sigma": sigma}) for sigma in DRIFT_FROM}
    return pixel_grid(pixel_size(scale), arms)


def regression_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return fits of Q to a fixed set of pictures, with and without noise on the targets."""
    from lff.experiments.jobs.pixel_regression import PixelRegressionJob
    from lff.experiments.pixels import LAPTOP_TASK, PixelSize, Seer, chosen_preset, pixel_size

    size = pixel_size(scale)
    if scale == "paper":  # the same pictures and networks, larger
        size = PixelSize(preset="paper-table", tasks=(LAPTOP_TASK,), seeds=5)
    smoke = scale == "smoke"
    arms = {"CNN": Seer(net="cnn"), "LFF": Seer(), "CNN, vanilla": Seer(net="cnn-vanilla")}
    cells = []
    for noise in (0.0, 1.0):
        for name, arm in arms.items():
            chosen = chosen_preset(size, arm, task=LAPTOP_TASK)
            job = PixelRegressionJob(
                env=LAPTOP_TASK,
                view=chosen.view,
                algo=chosen.agent(arm.net),
                action_repeat=chosen.action_repeat,
                noise=noise,
                episodes=2 if smoke else 40,
                seeds=size.seeds,
                updates=4 if smoke else 1_000,
            )
            cells.append(Cell(name, f"noise {noise:g}", job))
    return tuple(cells)


EXPERIMENTS = (
    Experiment(
        name="fig6",
        title="Does LFF learn faster from pixels than CNNs, one of them of equal size?",
        source="Figure 6",
        cells=fig6_cells,
        metrics=(*RETURN, *Q_VALUES),
        claims=(
            Better(
                name="C-6a",
                text="LFF learns better than the CNN of equal size.",
                arm="LFF",
                than="CNN",
                on_at_least=0.75,
            ),
            Better(
                name="C-6a/vanilla",
                text="LFF learns better than the CNN without a layer in its place.",
                arm="LFF",
                than="CNN, vanilla",
                on_at_least=0.75,
            ),
            *(
                InSeeds(
                    name=f"C-6e/{arm}",
                    text=f"{arm} ends above twice the random policy's return.",
                    arm=arm,
                    metric="return",
                    above=2.0,
                    than="random policy",
                    share=0.8,
                )
                for arm in FRONTS
            ),
        ),
        panels=(Panel(metric="return"),),
        notes=SMALL,
    ),
    Experiment(
        name="fig6-decay",
        title="Does weight decay keep a CNN from learning, as on the authors' poster?",
        source="the authors' poster beside Figure 6",
        cells=decay_cells,
        metrics=(*RETURN, *Q_VALUES),
        claims=(
            Better(
                name="C-6c",
                text="Weight decay of 1e-4 hurts the CNN.",
                arm="CNN",
                than="CNN + weight decay",
            ),
        ),
        panels=(Panel(metric="return"),),
        notes=SMALL,
    ),
    Experiment(
        name="fig6-offline",
        title="Does LFF fit Q from pixels better, on one fixed set of pictures?",
        source="not in the paper: Figure 6 without the variance of exploration",
        cells=regression_cells,
        metrics=(("test error", "test error"), ("train error", "train error")),
        claims=tuple(
            Better(
                name=f"C-6d/noise {noise:g}",
                text=f"LFF ends nearer to held-out returns than the CNN of equal size, noise of "
                f"{noise:g} standard deviations on the targets.",
                arm="LFF",
                than="CNN",
                metric="test error",
                statistic="last",
                sign=-1,
                tasks=(f"noise {noise:g}",),
            )
            for noise in (0.0, 1.0)
        ),
        panels=(Panel(metric="test error"), Panel(metric="train error")),
        notes="Pictures, actions and discounted returns of a random policy on cheetah-run; "
        "errors are mean squares in units of the returns' variance. Seeds differ in weights, "
        "batches and noise, not in pictures.",
    ),
    Experiment(
        name="fig19",
        title="How far does the encoder's B move in training from pixels?",
        source="Figure 19",
        cells=drift_cells,
        metrics=(
            *RETURN,
            ("lff/critic_B_std", B_STD),
            ("lff/critic_B_histogram", "B of encoder, bin"),
        ),
        claims=(
            *(
                InSeeds(
                    name=f"C-19a/{sigma:g}",
                    text=f"B ends more than three times wider than σ = {sigma:g}.",
                    arm=f"LFF σ={sigma:g}",
                    metric=B_STD,
                    above=3 * sigma,
                    share=0.8,
                )
                for sigma in DRIFT_FROM
            ),
            AsGood(
                name="C-19b",
                text="Where B ends does not depend on σ: 0.1 against 0.01.",
                arm="LFF σ=0.1",
                than="LFF σ=0.01",
                metric=B_STD,
                statistic="last",
            ),
        ),
        panels=(
            Panel(metric=B_STD, log=True),
            Panel(metric="B of encoder, bin", kind="histogram"),
        ),
        notes=SMALL,
    ),
)
