"""Figure 10: the parts of the layer that matter."""

from lff.experiments.grids import Training
from lff.experiments.spec import Experiment, baseline, control, ours
from lff.stats.kinds import AsGood, Better, Point, Slope

TASKS = {"dmc/finger-turn_hard": 14, "dmc/walker-run": 30, "dmc/quadruped-walk": 90}
"""Tasks, and the size of a critic's input."""
ABLATED = {
    "fixed B": "Training B is critical.",
    "no concatenation": "Concatenating x is critical.",
    "log-uniform B": "A Gaussian B is better than a log-uniform one.",
}


EXPERIMENTS = (
    Experiment(
        name="fig10",
        title="Which parts of the layer matter: training B, concatenating x, its Gaussian law?",
        source="Figure 10",
        arms={
            "LFF": ours(),
            "fixed B": ours(net="fixed-b"),
            "no concatenation": ours(net="no-concat"),
            "log-uniform B": ours(net="log-uniform"),
            "constant control": control(net="constant"),
            "MLP": baseline(net="mlp"),
        },
        grid=Training(laptop=tuple(TASKS), paper=(*TASKS, "dmc/humanoid-run")),
        sentences={
            **{f"C-10/{name}: " + text: Better("LFF", than=name) for name, text in ABLATED.items()},
            **{
                f"C-10/{name}, dimension: "
                f"LFF's gain over {name} grows with the dimension of the input.": Slope(
                    tuple(
                        Point(float(size), "LFF", minus=name, task=task)
                        for task, size in TASKS.items()
                    )
                )
                for name in ("fixed B", "no concatenation")
            },
            "C-10/constant: "
            "Fixed B at the paper's σ is as good as constant features: it does nothing.": AsGood(
                "fixed B", than="constant control"
            ),
        },
    ),
)
