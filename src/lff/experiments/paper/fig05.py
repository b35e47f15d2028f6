"""Figure 5: LFF and the baselines from state, and what the paper says beside it."""

from lff.experiments.grids import Training
from lff.experiments.measured import Q_ERROR, Q_VALUES, RETURN
from lff.experiments.spec import Experiment, Panel, baseline, control, ours, rival
from lff.stats.kinds import AsGood, Better, InSeeds

CHEETAH, WALKER, ACROBOT = "dmc/cheetah-run", "dmc/walker-run", "dmc/acrobot-swingup"
FINGER = "dmc/finger-turn_hard"
BASELINES = {
    "MLP + weight decay": "weight-decay",
    "MLP + dropout": "dropout",
    "MLP + functional reg.": "functional",
    "MLP + spectral norm": "spectral-norm",
}
COMBINED = {
    "weight decay": "weight-decay",
    "dropout": "dropout",
    "functional reg.": "functional",
    "layer norm": "layer-norm",
}
MLP = {"MLP": baseline(net="mlp")}


EXPERIMENTS = (
    Experiment(
        name="fig5",
        title="Does LFF learn faster from state than an MLP of equal size and its regularizers?",
        source="Figure 5",
        arms={
            **MLP,
            "LFF": ours(),
            "linear control": control(net="linear"),
            "constant control": control(net="constant"),
            **{name: rival(net="mlp", regularize=(word,)) for name, word in BASELINES.items()},
        },
        grid=Training(laptop=(CHEETAH, WALKER, FINGER), steps=50_000),
        metrics=(RETURN, *Q_VALUES),
        sentences={
            "C-5a: LFF learns clearly better than the MLP on three quarters of the tasks.": Better(
                "LFF", than="MLP", on_at_least=0.75
            ),
            **{
                f"C-5a/{name}: LFF learns better than {name}.": Better(
                    "LFF", than=name, on_at_least=0.75
                )
                for name in BASELINES
            },
            "C-5a/linear: It takes the waves: LFF learns better than the linear control.": Better(
                "LFF", than="linear control", on_at_least=0.75
            ),
            "C-5h: With LFF the return starts to rise earlier.": Better(
                "LFF", than="MLP", statistic="first above", on_at_least=0.75
            ),
        },
        notes="The controls have LFF's shape but linear or constant features; the paper has none.",
    ),
    Experiment(
        name="c5b",
        title="Does weight decay hurt acrobot and make cheetah unstable, and bias Q downwards?",
        source="Section 5.1, text to Figure 5",
        arms=MLP
        | {
            f"MLP, decay {c:g}": rival(net="mlp", regularize=(f"weight-decay:coefficient={c}",))
            for c in (1e-4, 1e-3)
        },
        grid=Training(laptop=(ACROBOT, CHEETAH)),
        metrics=(RETURN, *Q_VALUES),
        sentences={
            **{
                f"C-5b/{task.removeprefix('dmc/')}: "
                f"Weight decay of 1e-4 hurts on {task.removeprefix('dmc/')}.": Better(
                    "MLP", than="MLP, decay 0.0001", tasks=(task,)
                )
                for task in (ACROBOT, CHEETAH)
            },
            "C-5c: Weight decay biases Q downwards.": Better(
                "MLP, decay 0.0001", than="MLP", metric=Q_ERROR, sign=-1
            ),
        },
        panels=(Panel(RETURN), Panel(Q_ERROR)),
    ),
    Experiment(
        name="c5d",
        title="Is less dropout better, and what does leaving it on while acting cost?",
        source="Section 5.1, text to Figure 5",
        arms=MLP
        | {
            f"MLP, dropout {p:g}{', on while acting' * acting}": rival(
                net="mlp", regularize=(f"dropout:p={p:g},when_acting={str(acting).lower()}",)
            )
            for p in (0.05, 0.2)
            for acting in (False, True)
        },
        grid=Training(laptop=("dmc/walker-walk",)),
        sentences={
            "C-5d: A dropout rate of 0.05 is better than 0.2.": Better(
                "MLP, dropout 0.05", than="MLP, dropout 0.2"
            ),
            "C-5d/gain: Dropout helps: a rate of 0.05 is better than none.": Better(
                "MLP, dropout 0.05", than="MLP"
            ),
            "C-5d/acting: Dropout left on while acting costs return.": Better(
                "MLP, dropout 0.2", than="MLP, dropout 0.2, on while acting"
            ),
        },
    ),
    Experiment(
        name="c5e",
        title="Does functional regularization learn on walker and fail on cheetah?",
        source="Section 5.1, text to Figure 5",
        arms=MLP
        | {
            f"MLP, κ={kappa:g}, T={lag}": rival(
                net="mlp", regularize=(f"functional:kappa={kappa},lag={lag}",)
            )
            for kappa in (0.1, 1.0)
            for lag in (200, 1_000)
        },
        grid=Training(laptop=(CHEETAH, WALKER)),
        sentences={
            f"C-5e/{kappa:g}-{lag}: "
            f"With κ = {kappa:g} and T = {lag} it is as good as a target network.": AsGood(
                f"MLP, κ={kappa:g}, T={lag}", than="MLP"
            )
            for kappa in (0.1, 1.0)
            for lag in (200, 1_000)
        },
    ),
    Experiment(
        name="c5f",
        title="Does spectral normalisation work very poorly?",
        source="Section 5.1, text to Figure 5",
        arms=MLP
        | {
            f"MLP, spectral norm in {where}": rival(net="mlp", regularize=(word,))
            for where, word in {
                "critics": "spectral-norm",
                "both": "spectral-norm:where=both",
            }.items()
        },
        grid=Training(laptop=(CHEETAH, WALKER), steps=30_000),
        sentences={
            f"C-5f/{where}: With spectral normalisation in {where} the return ends below a fifth "
            "of the MLP's.": InSeeds(
                f"MLP, spectral norm in {where}", metric=RETURN, than="MLP", below=0.2, share=0.8
            )
            for where in ("critics", "both")
        },
    ),
    Experiment(
        name="c5g",
        title="Does LFF gain more when combined with other regularizers?",
        source="Section 5.1: claimed, no data in the paper",
        arms={
            "LFF": ours(),
            **{f"LFF + {name}": ours(regularize=(word,)) for name, word in COMBINED.items()},
        },
        grid=Training(laptop=(CHEETAH, WALKER)),
        sentences={
            f"C-5g/{name}: LFF with {name} learns better than LFF alone.": Better(
                f"LFF + {name}", than="LFF"
            )
            for name in COMBINED
        },
    ),
)
