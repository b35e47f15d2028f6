"""Figures 9 and 10: where LFF helps, and which parts of the layer matter."""

from lff.experiments.grids import STUDY, Training
from lff.experiments.measured import EPISODE, RETURN
from lff.experiments.spec import Experiment, baseline, control, ours, rival
from lff.stats.kinds import Better, Equivalent

TASKS = ("dmc/cheetah-run", "dmc/finger-spin")
PAPER = ("dmc/walker-run", "dmc/quadruped-run", "dmc/cheetah-run", "dmc/finger-turn_hard")
SIGMAS = (0.002, 0.1)
SMALL_SIGMA = 0.0028  # has the paper's 2πσ√(F/2) at F = 128
NOTES = "MLP and LFF are seeds 10 to 14 of fig5."


EXPERIMENTS = (
    Experiment(
        name="fig9",
        title="Is it the critics that gain from LFF, not the actor?",
        source="Figure 9",
        whose="paper, empirical",
        registered="2026-11-18",
        arms={
            "MLP": baseline(net="mlp"),
            "LFF": ours(),
            "LFF in critics": ours(net="mlp", critic="lff"),
            "LFF in actor": ours(net="mlp", actor="lff"),
            "MLP with concatenation": rival(net="mlp-concat"),
        },
        grid=Training(laptop=TASKS, paper=PAPER, **STUDY),
        metrics=(RETURN, EPISODE),
        sentences={
            "C-9c: LFF in the critics is better than LFF in the actor.": Better(
                "LFF in critics",
                than="LFF in actor",
                scale="ratio",
                primary=True,
                quote="Section 5.3: \"solely regularizing the Q-network is sufficient for LFF's "
                'improved sample efficiency"',
            ),
            "C-9a: LFF in the critics alone is as good as LFF in both.": Equivalent(
                "LFF in critics",
                than="LFF",
                quote='Figure 9: "only using LFF for the Q-network is just as good as using LFF '
                'for both networks"',
            ),
            "C-9d: LFF in the actor alone is as good as no LFF.": Equivalent(
                "LFF in actor",
                than="MLP",
                quote='Figure 9: "using LFF for the policy network is about as bad as the MLP '
                'baseline"',
            ),
            "C-9e: It is not the concatenation: LFF is better than an MLP that has it.": Better(
                "LFF",
                than="MLP with concatenation",
                scale="ratio",
                quote='Section 5.3: "LFF outperforms this variant, confirming that concatenation '
                'is not solely responsible"',
            ),
        },
        notes=NOTES,
    ),
    Experiment(
        name="c9b",
        title="Is a σ of its own for the actor better?",
        source="Section 5.3: suggested, no data in the paper",
        whose="paper, empirical",
        quote='Section 5.3: "separately tuning σ for the Q-network and policy networks may yield '
        'further improvements"',
        arms={
            f"σ={actor:g} in actor, {critic:g} in critics": ours(
                actor_sigma=actor, critic_sigma=critic
            )
            for actor in SIGMAS
            for critic in SIGMAS
        },
        grid=Training(laptop=TASKS[:1], paper=TASKS[:1]),
        sentences={
            f"C-9b/{actor:g}-{critic:g}: σ={actor:g} in the actor and {critic:g} in the critics "
            f"beats {critic:g} in both.": Better(
                f"σ={actor:g} in actor, {critic:g} in critics",
                than=f"σ={critic:g} in actor, {critic:g} in critics",
            )
            for actor, critic in (SIGMAS, SIGMAS[::-1])
        },
    ),
    Experiment(
        name="fig10",
        title="Which parts of the layer matter: training B, concatenating x?",
        source="Figure 10",
        whose="paper, empirical",
        registered="2026-11-18",
        arms={
            "MLP": baseline(net="mlp"),
            "LFF": ours(),
            "fixed B": ours(net="fixed-b"),
            f"fixed B, σ={SMALL_SIGMA:g}": ours(net="fixed-b", sigma=SMALL_SIGMA),
            "no concatenation": ours(net="no-concat"),
            "constant control": control(net="constant"),
        },
        grid=Training(laptop=TASKS, **STUDY),
        metrics=(RETURN, EPISODE),
        sentences={
            "C-10/fixed B: Training B is critical.": Better(
                "LFF",
                than="fixed B",
                scale="ratio",
                primary=True,
                quote='Section 5.4: "training the Fourier feature basis B is critical"',
            ),
            "C-10/no concatenation: Concatenating x is important.": Better(
                "LFF",
                than="no concatenation",
                scale="ratio",
                quote='Section 5.4: "Concatenating the input x to the Fourier features is also '
                'important."',
            ),
            "C-10/constant: A fixed B with the paper's phases is as good as constant features: it "
            "does nothing.": Equivalent(
                f"fixed B, σ={SMALL_SIGMA:g}", than="constant control", whose="ours"
            ),
        },
        notes=f"{NOTES} The paper's arm with a log-uniform B is left out: at F = 128 it would have "
        "two to five octaves of each input and its ratio was tuned in a way that is not published. "
        "So are its claims about the dimension: the tasks of high dimension learn nothing at this "
        "size. At σ = 0.01 and F = 128 phases are larger than the paper's, hence the second "
        "fixed B.",
    ),
)
