"""Figure 8: SAC without a target network."""

from lff.experiments.spec import Cell, Experiment, Panel, ScaleName
from lff.stats.kinds import Better, InSeeds

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
        metrics=(
            ("eval/return", "return"),
            ("train/q_max", "largest |Q|"),
            ("eval/q_bias", "Q bias"),
        ),
        claims=(
            InSeeds(
                name="C-8a",
                text="Without a target network the MLP diverges: |Q| passes ten times what the "
                "rewards can give.",
                arm="MLP, no target",
                metric="largest |Q|",
                statistic="max",
                above=10 * BOUND,
                share=2 / 3,
            ),
            InSeeds(
                name="C-8b",
                text="Without a target network LFF's |Q| stays within what the rewards can give.",
                arm="LFF, no target",
                metric="largest |Q|",
                statistic="max",
                below=BOUND,
                share=2 / 3,
            ),
            Better(
                name="C-8c",
                text="Without a target network LFF learns better than the MLP.",
                arm="LFF, no target",
                than="MLP, no target",
            ),
            Better(
                name="C-8d",
                text="LFF learns faster without a target network than with one.",
                arm="LFF, no target",
                than="LFF, target",
            ),
            Better(
                name="C-8e",
                text="It takes the waves: LFF beats the linear control, both without a target.",
                arm="LFF, no target",
                than="linear control, no target",
            ),
            Better(
                name="C-8f",
                text="LFF is special: it beats an MLP with layer normalisation, both without a "
                "target.",
                arm="LFF, no target",
                than="MLP + layer norm, no target",
            ),
        ),
        panels=(
            Panel(metric="return"),
            Panel(metric="largest |Q|", log=True, line=BOUND, line_label="1/(1-γ)"),
        ),
        notes="The paper has no layer-normalised MLP and no linear control; they ask whether it is "
        "the Fourier features. At laptop scale: networks of 128, 24,000 steps.",
    ),
)
