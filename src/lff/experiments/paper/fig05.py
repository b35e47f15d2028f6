"""Figure 5: LFF and the baselines from state, and what the paper says beside it."""

from lff.experiments.measured import Q_VALUES, RETURN
from lff.experiments.spec import Cell, Experiment, Panel, ScaleName
from lff.stats.kinds import AsGood, Better, InSeeds

CHEETAH, WALKER, ACROBOT = "dmc/cheetah-run", "dmc/walker-run", "dmc/acrobot-swingup"
FINGER = "dmc/finger-turn_hard"
BASELINES = ("MLP + weight decay", "MLP + dropout", "MLP + functional reg.", "MLP + spectral norm")


def fig5_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return LFF, the baselines and the two controls."""
    from lff.experiments.state import Variant, sizes, train_grid
    from lff.regularizers import Dropout, FunctionalRegularization, SpectralNorm, WeightDecay

    extra = (WeightDecay(), Dropout(), FunctionalRegularization(), SpectralNorm())
    variants = {
        "MLP": Variant(net="mlp"),
        "LFF": Variant(),
        "linear control": Variant(net="linear"),
        "constant control": Variant(net="constant"),
    }
    for name, regularizer in zip(BASELINES, extra, strict=True):
        variants[name] = Variant(net="mlp", agent={"regularizers": (regularizer,)})
    size = sizes(scale, laptop_tasks=(CHEETAH, WALKER, FINGER), laptop_steps=50_000)
    return train_grid(size, variants)


def weight_decay_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return MLPs with three strengths of weight decay."""
    from lff.experiments.state import Variant, sizes, train_grid
    from lff.regularizers import WeightDecay

    variants = {"MLP": Variant(net="mlp")}
    for strength in (1e-4, 1e-3):
        agent = {"regularizers": (WeightDecay(coefficient=strength),)}
        variants[f"MLP, decay {strength:g}"] = Variant(net="mlp", agent=agent)
    return train_grid(sizes(scale, laptop_tasks=(ACROBOT, CHEETAH)), variants)


def dropout_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return two rates of dropout, each also with the bug that leaves it on while acting."""
    from lff.experiments.state import Variant, sizes, train_grid
    from lff.regularizers import Dropout

    variants = {"MLP": Variant(net="mlp")}
    for p in (0.05, 0.2):
        for acting in (False, True):
            name = f"MLP, dropout {p:g}" + (", on while acting" if acting else "")
            agent = {"regularizers": (Dropout(p=p, when_acting=acting),)}
            variants[name] = Variant(net="mlp", agent=agent)
    return train_grid(sizes(scale, laptop_tasks=("dmc/walker-walk",)), variants)


def functional_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return functional regularization at several weights and lags."""
    from lff.experiments.state import Variant, sizes, train_grid
    from lff.regularizers import FunctionalRegularization

    variants = {"MLP": Variant(net="mlp")}
    for kappa in (0.1, 1.0):
        for lag in (200, 1_000):
            agent = {"regularizers": (FunctionalRegularization(kappa=kappa, lag=lag),)}
            variants[f"MLP, κ={kappa:g}, T={lag}"] = Variant(net="mlp", agent=agent)
    return train_grid(sizes(scale, laptop_tasks=(CHEETAH, WALKER)), variants)


def spectral_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return spectral normalisation in the critics, and in both networks."""
    from lff.experiments.state import Variant, sizes, train_grid
    from lff.regularizers import SpectralNorm

    variants = {
        "MLP": Variant(net="mlp"),
        "MLP, spectral norm in critics": Variant(
            net="mlp", agent={"regularizers": (SpectralNorm(),)}
        ),
        "MLP, spectral norm in both": Variant(
            net="mlp", agent={"regularizers": (SpectralNorm(where="both"),)}
        ),
    }
    size = sizes(scale, laptop_tasks=(CHEETAH, WALKER), laptop_steps=30_000)
    return train_grid(size, variants)


COMBINED = ("weight decay", "dropout", "functional reg.", "layer norm")


def combined_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return LFF with each other regularizer."""
    from lff.experiments.state import Variant, sizes, train_grid
    from lff.regularizers import Dropout, FunctionalRegularization, LayerNorm, WeightDecay

    extra = (WeightDecay(), Dropout(), FunctionalRegularization(), LayerNorm())
    variants = {"LFF": Variant()}
    for name, regularizer in zip(COMBINED, extra, strict=True):
        variants[f"LFF + {name}"] = Variant(agent={"regularizers": (regularizer,)})
    return train_grid(sizes(scale, laptop_tasks=(CHEETAH, WALKER)), variants)


EXPERIMENTS = (
    Experiment(
        name="fig5",
        title="Does LFF learn faster from state than an MLP of equal size and its regularizers?",
        source="Figure 5",
        cells=fig5_cells,
        metrics=(*RETURN, *Q_VALUES),
        claims=(
            Better(
                name="C-5a",
                text="LFF learns clearly better than the MLP on three quarters of the tasks.",
                arm="LFF",
                than="MLP",
                on_at_least=0.75,
            ),
            *(
                Better(
                    name=f"C-5a/{name}",
                    text=f"LFF learns better than {name}.",
                    arm="LFF",
                    than=name,
                    on_at_least=0.75,
                )
                for name in BASELINES
            ),
            Better(
                name="C-5a/linear",
                text="It takes the waves: LFF learns better than the linear control.",
                arm="LFF",
                than="linear control",
                on_at_least=0.75,
            ),
            Better(
                name="C-5h",
                text="With LFF the return starts to rise earlier.",
                arm="LFF",
                than="MLP",
                statistic="first above",
                sign=-1,
                on_at_least=0.75,
            ),
        ),
        panels=(Panel(metric="return"),),
        notes="The controls have LFF's shape but linear or constant features; the paper has none.",
    ),
    Experiment(
        name="c5b",
        title="Does weight decay hurt acrobot and make cheetah unstable, and bias Q downwards?",
        source="Section 5.1, text to Figure 5",
        cells=weight_decay_cells,
        metrics=(*RETURN, *Q_VALUES),
        claims=(
            *(
                Better(
                    name=f"C-5b/{task.removeprefix('dmc/')}",
                    text=f"Weight decay of 1e-4 hurts on {task.removeprefix('dmc/')}.",
                    arm="MLP",
                    than="MLP, decay 0.0001",
                    tasks=(task,),
                )
                for task in (ACROBOT, CHEETAH)
            ),
            Better(
                name="C-5c",
                text="Weight decay biases Q downwards.",
                arm="MLP, decay 0.0001",
                than="MLP",
                metric="Q bias",
                sign=-1,
            ),
        ),
        panels=(Panel(metric="return"), Panel(metric="Q bias")),
    ),
    Experiment(
        name="c5d",
        title="Is less dropout better, and what does leaving it on while acting cost?",
        source="Section 5.1, text to Figure 5",
        cells=dropout_cells,
        metrics=RETURN,
        claims=(
            Better(
                name="C-5d",
                text="A dropout rate of 0.05 is better than 0.2.",
                arm="MLP, dropout 0.05",
                than="MLP, dropout 0.2",
            ),
            Better(
                name="C-5d/gain",
                text="Dropout helps: a rate of 0.05 is better than none.",
                arm="MLP, dropout 0.05",
                than="MLP",
            ),
            Better(
                name="C-5d/acting",
                text="Dropout left on while acting costs return.",
                arm="MLP, dropout 0.2",
                than="MLP, dropout 0.2, on while acting",
            ),
        ),
        panels=(Panel(metric="return"),),
    ),
    Experiment(
        name="c5e",
        title="Does functional regularization learn on walker and fail on cheetah?",
        source="Section 5.1, text to Figure 5",
        cells=functional_cells,
        metrics=RETURN,
        claims=tuple(
            AsGood(
                name=f"C-5e/{kappa:g}-{lag}",
                text=f"With κ = {kappa:g} and T = {lag} it is as good as a target network.",
                arm=f"MLP, κ={kappa:g}, T={lag}",
                than="MLP",
            )
            for kappa in (0.1, 1.0)
            for lag in (200, 1_000)
        ),
        panels=(Panel(metric="return"),),
    ),
    Experiment(
        name="c5f",
        title="Does spectral normalisation work very poorly?",
        source="Section 5.1, text to Figure 5",
        cells=spectral_cells,
        metrics=RETURN,
        claims=tuple(
            InSeeds(
                name=f"C-5f/{where}",
                text=f"With spectral normalisation in {where} the return ends below a fifth of the "
                "MLP's.",
                arm=f"MLP, spectral norm in {where}",
                metric="return",
                than="MLP",
                below=0.2,
                share=0.8,
            )
            for where in ("critics", "both")
        ),
        panels=(Panel(metric="return"),),
    ),
    Experiment(
        name="c5g",
        title="Does LFF gain more when combined with other regularizers?",
        source="Section 5.1: claimed, no data in the paper",
        cells=combined_cells,
        metrics=RETURN,
        claims=tuple(
            Better(
                name=f"C-5g/{name}",
                text=f"LFF with {name} learns better than LFF alone.",
                arm=f"LFF + {name}",
                than="LFF",
            )
            for name in COMBINED
        ),
        panels=(Panel(metric="return"),),
    ),
)
