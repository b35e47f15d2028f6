"""Figure 10: what of the layer matters."""

from lff.experiments.measured import RETURN
from lff.experiments.spec import Cell, Experiment, Panel, ScaleName
from lff.stats.kinds import AsGood, Better, Point, Slope

TASKS = {"dmc/finger-turn_hard": 14, "dmc/walker-run": 30, "dmc/quadruped-walk": 90}
"""Tasks, and how many numbers a critic sees."""
ABLATED = {
    "fixed B": "Training B is critical.",
    "no concatenation": "Concatenating x is critical.",
    "log-uniform B": "A Gaussian B is better than a log-uniform one.",
}


def cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return LFF, its three ablations, and the MLP and constant control to read them against."""
    from lff.experiments.state import Variant, sizes, train_grid

    variants = {
        "LFF": Variant(),
        "fixed B": Variant(net="fixed-b"),
        "no concatenation": Variant(net="no-concat"),
        "log-uniform B": Variant(net="log-uniform"),
        "constant control": Variant(net="constant"),
        "MLP": Variant(net="mlp"),
    }
    size = sizes(scale, laptop_tasks=tuple(TASKS), paper_tasks=(*TASKS, "dmc/humanoid-run"))
    return train_grid(size, variants)


EXPERIMENTS = (
    Experiment(
        name="fig10",
        title="Which parts of the layer matter: training B, concatenating x, its Gaussian law?",
        source="Figure 10",
        cells=cells,
        metrics=RETURN,
        claims=(
            *(
                Better(name=f"C-10/{name}", text=text, arm="LFF", than=name)
                for name, text in ABLATED.items()
            ),
            *(
                Slope(
                    name=f"C-10/{name}, dimension",
                    text=f"LFF's gain over {name} grows with the dimension of the input.",
                    points=tuple(
                        Point(float(size), "LFF", minus=name, task=task)
                        for task, size in TASKS.items()
                    ),
                )
                for name in ("fixed B", "no concatenation")
            ),
            AsGood(
                name="C-10/constant",
                text="Fixed B at the paper's σ is as good as constant features: it does nothing.",
                arm="fixed B",
                than="constant control",
            ),
        ),
        panels=(Panel(metric="return"),),
    ),
)
