"""Figure 8: SAC without a target network."""

from lff.core.experiment import Cell, Experiment, Panel, ScaleName

BOUND = 100.0
"""1 / (1 - γ): rewards of the Control Suite are at most 1."""


def cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return the grid; LFF with its target network is there for comparison."""
    from lff.algos import NoTarget
    from lff.experiments.state import Variant, sizes, train_grid
    from lff.regularizers import LayerNorm

    bare = {"target": NoTarget()}
    variants = {
        "MLP, no target": Variant(net="mlp", agent=bare),
        "LFF, no target": Variant(agent=bare),
        "LFF, target": Variant(),
        "linear control, no target": Variant(net="linear", agent=bare),
        "MLP + layer norm, no target": Variant(
            net="mlp", agent={**bare, "regularizers": (LayerNorm(),)}
        ),
    }
    size = sizes(
        scale,
        laptop_tasks=("dmc/cheetah-run", "dmc/walker-run"),
        laptop_steps=24_000,
        paper_tasks=(
            "dmc/finger-turn_hard",
            "dmc/cheetah-run",
            "dmc/quadruped-walk",
            "dmc/humanoid-run",
        ),
    )
    return train_grid(size, variants)


EXPERIMENTS = (
    Experiment(
        name="fig8",
        title="Does LFF learn without a target network, where an MLP diverges?",
        source="Figure 8",
        cells=cells,
        metrics=(("eval/return", "return"), ("train/q_max", "largest |Q|"), ("eval/q_bias", "Q bias")),
        panels=(
            Panel(metric="return"),
            Panel(metric="largest |Q|", log=True, line=BOUND, line_label="1/(1-γ)"),
        ),
    ),
)
