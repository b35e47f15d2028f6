"""Figure 8: SAC without a target network."""

from typing import Any

from lff.experiments.grids import Around, Training
from lff.experiments.measured import EPISODE, Q_ERROR, Q_MAX, RETURN, SELF_EXCITATION
from lff.experiments.spec import Experiment, Panel, baseline, control, ours, rival
from lff.stats.kinds import Better, MoreOften

BOUND = 100.0  # 1 / (1 - γ): rewards of the Control Suite are at most 1
PAPER = ("dmc/finger-turn_hard", "dmc/cheetah-run", "dmc/quadruped-walk", "dmc/humanoid-run")
MLP, LFF, NORM = "MLP, no target", "LFF, no target", "MLP + layer norm, no target"
FREE: dict[str, Any] = {"target": "none"}
WITH: dict[str, Any] = {"steps": 60_000, "looks": 24}
"""Runs of fig5, of which the table holds the first part."""
ARMS = {
    MLP: baseline(net="mlp", **FREE),
    LFF: ours(**FREE),
    "linear control, no target": control(net="linear", **FREE),
    NORM: rival(net="mlp", regularize=("layer-norm",), **FREE),
}
MORE = {
    "MLP-2, no target": baseline(net="mlp-2", **FREE),
    "tanh control, no target": control(net="tanh", **FREE),
}
PANELS = (Panel(RETURN), Panel(Q_MAX, log=True, line=BOUND, line_label="1/(1-γ)"))
GRID: dict[str, Any] = {
    "laptop": ("dmc/cheetah-run", "dmc/finger-spin"),
    "paper": PAPER,
    "steps": 40_000,
    "seeds": 6,
    "first_seed": 10,
    "looks": 16,
    "episodes": 5,
}
EARLY = Around("self-excitation", small={"updates": (10, 20)})
"""Measures what the first updates of a run tell."""
DIVERGES: dict[str, Any] = {"metric": Q_MAX, "statistic": "max", "above": 10 * BOUND}
FAIL = 'Section 5.2: "MLPs consistently fail to learn on all environments in this setting"'
STABLE = 'Figure 8: "the LFF network is remarkably stable"'
FASTER = 'Figure 8: LFF "even learns faster on Quadruped Walk than when using target networks"'


EXPERIMENTS = (
    Experiment(
        name="fig8",
        title="Does LFF learn without a target network, where an MLP diverges?",
        source="Figure 8",
        whose="paper, empirical",
        quote=FAIL,
        registered="2026-11-18",
        arms={**ARMS, **MORE, "MLP": baseline(net="mlp", **WITH), "LFF": ours(**WITH)},
        grid=Training(**GRID),
        until={"laptop": 40_000},
        metrics=(RETURN, EPISODE, Q_MAX, Q_ERROR),
        sentences={
            "C-8a: Without a target network the MLP diverges more often than LFF: |Q| passes ten "
            "times what the rewards can give.": MoreOften(MLP, than=LFF, **DIVERGES, primary=True),
            "C-8b: Without a target network LFF's |Q| stays within what the rewards can give in "
            "most runs.": MoreOften(LFF, metric=Q_MAX, statistic="max", below=BOUND, quote=STABLE),
            "C-8c: Without a target network LFF learns better than the MLP.": Better(
                LFF, than=MLP, scale="ratio"
            ),
            "C-8d: LFF learns faster without a target network than with one.": Better(
                LFF, than="LFF", scale="ratio", quote=FASTER
            ),
            "C-8g: It is not the depth: MLP-2 diverges more often than LFF.": MoreOften(
                "MLP-2, no target", than=LFF, **DIVERGES, whose="ours"
            ),
            "C-8e: It takes waves: the linear control diverges more often than LFF.": MoreOften(
                "linear control, no target", than=LFF, **DIVERGES, whose="ours"
            ),
            "C-8h: It takes waves that return: bounded features that do not, tanh, diverge more "
            "often than LFF.": MoreOften(
                "tanh control, no target", than=LFF, **DIVERGES, whose="ours"
            ),
            "C-8f: LFF is special: it learns better than an MLP with layer norm.": Better(
                LFF, than=NORM, scale="ratio", whose="ours"
            ),
        },
        panels=PANELS,
        notes="The paper claims C-8d of Quadruped-Walk alone, where nothing learns at this size. "
        "Runs with a target network are the first 40,000 steps of fig5's.",
    ),
    Experiment(
        name="fig8-warning",
        title="Does the self-excite eigenvalue warn before runs without a target network diverge?",
        source="Figure 8",
        arms={**ARMS, **MORE},
        grid=Training(**GRID, largest="laptop", then=EARLY),
        metrics=(SELF_EXCITATION,),
        panels=(Panel(SELF_EXCITATION, line=0.0, line_label="grows above"),),
        notes="Descriptive, without verdicts: runs of fig8 after 1,000 and 2,000 updates, by the "
        "measure of Yue et al. (2023) on 256 replayed transitions, to be read beside fig8's "
        "largest |Q| seed by seed. Each number is of a run that stops there, so that the jobs of "
        "fig8 are as they were registered.",
    ),
    Experiment(
        name="fig8-first",
        title="A first look at Figure 8: 24,000 steps, five seeds",
        source="Figure 8",
        whose="paper, empirical",
        quote=FAIL,
        arms={
            MLP: ARMS[MLP],
            LFF: ARMS[LFF],
            "LFF, target": ours(),
            "linear control, no target": ARMS["linear control, no target"],
            NORM: ARMS[NORM],
        },
        grid=Training(
            laptop=("dmc/cheetah-run", "dmc/walker-run"), steps=24_000, native=False, paper=PAPER
        ),
        metrics=(RETURN, Q_MAX, Q_ERROR),
        sentences={
            "C-8a/first: Without a target network the MLP diverges more often than LFF.": MoreOften(
                MLP, than=LFF, **DIVERGES
            ),
            "C-8b/first: Without a target network LFF's |Q| stays within what the rewards can "
            "give in most runs.": MoreOften(
                LFF, metric=Q_MAX, statistic="max", below=BOUND, quote=STABLE
            ),
            "C-8c/first: Without a target network LFF learns better than the MLP.": Better(
                LFF, than=MLP
            ),
            "C-8e/first: It takes waves: LFF beats the linear control.": Better(
                LFF, than="linear control, no target", whose="ours"
            ),
            "C-8f/first: LFF is special: it beats an MLP with layer norm.": Better(
                LFF, than=NORM, whose="ours"
            ),
        },
        panels=PANELS,
        notes="Networks of 128, 24,000 steps, seeds 0 to 4; `fig8` is the registered study.",
    ),
)
