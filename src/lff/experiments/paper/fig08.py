"""Figure 8: SAC without a target network."""

from lff.experiments.grids import Training
from lff.experiments.measured import Q_ERROR, Q_MAX, RETURN
from lff.experiments.spec import Experiment, Panel, baseline, control, ours, rival
from lff.stats.kinds import Better, InSeeds

BOUND = 100.0
"""1 / (1 - γ): rewards of the Control Suite are at most 1."""


EXPERIMENTS = (
    Experiment(
        name="fig8",
        title="Does LFF learn without a target network, where an MLP diverges?",
        source="Figure 8",
        arms={
            "MLP, no target": baseline(net="mlp", target="none"),
            "LFF, no target": ours(target="none"),
            "LFF, target": ours(),
            "linear control, no target": control(net="linear", target="none"),
            "MLP + layer norm, no target": rival(
                net="mlp", target="none", regularize=("layer-norm",)
            ),
        },
        grid=Training(
            laptop=("dmc/cheetah-run", "dmc/walker-run"),
            steps=24_000,
            native=False,
            paper=(
                "dmc/finger-turn_hard",
                "dmc/cheetah-run",
                "dmc/quadruped-walk",
                "dmc/humanoid-run",
            ),
        ),
        metrics=(RETURN, Q_MAX, Q_ERROR),
        sentences={
            "C-8a: Without a target network the MLP diverges: |Q| passes ten times what the "
            "rewards can give.": InSeeds(
                "MLP, no target", metric=Q_MAX, statistic="max", above=10 * BOUND, share=2 / 3
            ),
            "C-8b: "
            "Without a target network LFF's |Q| stays within what the rewards can give.": InSeeds(
                "LFF, no target", metric=Q_MAX, statistic="max", below=BOUND, share=2 / 3
            ),
            "C-8c: Without a target network LFF learns better than the MLP.": Better(
                "LFF, no target", than="MLP, no target"
            ),
            "C-8d: LFF learns faster without a target network than with one.": Better(
                "LFF, no target", than="LFF, target"
            ),
            "C-8e: "
            "It takes the waves: LFF beats the linear control, both without a target.": Better(
                "LFF, no target", than="linear control, no target"
            ),
            "C-8f: LFF is special: it beats an "
            "MLP with layer normalisation, both without a target.": Better(
                "LFF, no target", than="MLP + layer norm, no target"
            ),
        },
        panels=(Panel(RETURN), Panel(Q_MAX, log=True, line=BOUND, line_label="1/(1-γ)")),
        notes="The paper has no layer-normalised MLP and no linear control; they ask whether it is "
        "the Fourier features. At laptop scale: networks of 128, 24,000 steps.",
    ),
)
