"""Figure 9: LFF in the actor, in the critics, or in both."""

from lff.experiments.grids import Training
from lff.experiments.spec import Experiment, baseline, ours, rival
from lff.stats.kinds import AsGood, Better

TASKS = ("dmc/walker-run", "dmc/cheetah-run")
PAPER = ("dmc/walker-run", "dmc/quadruped-run", "dmc/cheetah-run", "dmc/finger-turn_hard")
SIGMAS = (0.002, 0.1)


EXPERIMENTS = (
    Experiment(
        name="fig9",
        title="Is it the critics that gain from LFF, not the actor?",
        source="Figure 9",
        arms={
            "MLP": baseline(net="mlp"),
            "LFF": ours(),
            "LFF in critics": ours(net="mlp", critic="lff"),
            "LFF in actor": ours(net="mlp", actor="lff"),
            "MLP with concatenation": rival(net="mlp-concat"),
        },
        grid=Training(laptop=TASKS, paper=PAPER),
        sentences={
            "C-9a: LFF in the critics alone is as good as LFF in both.": AsGood(
                "LFF in critics", than="LFF"
            ),
            "C-9c: LFF in the critics is better than LFF in the actor.": Better(
                "LFF in critics", than="LFF in actor"
            ),
            "C-9d: LFF in the actor alone is as good as no LFF.": AsGood(
                "LFF in actor", than="MLP"
            ),
            "C-9e: It is not the concatenation: LFF is better than an MLP that has it.": Better(
                "LFF", than="MLP with concatenation"
            ),
        },
    ),
    Experiment(
        name="c9b",
        title="Is a σ of its own for the actor better?",
        source="Section 5.3: suggested, no data in the paper",
        arms={
            f"σ={actor:g} in actor, {critic:g} in critics": ours(
                actor_sigma=actor, critic_sigma=critic
            )
            for actor in SIGMAS
            for critic in SIGMAS
        },
        grid=Training(laptop=TASKS[:1], paper=PAPER),
        sentences={
            f"C-9b/{actor:g}-{critic:g}: σ={actor:g} in the actor and {critic:g} in the critics "
            f"beats {critic:g} in both.": Better(
                f"σ={actor:g} in actor, {critic:g} in critics",
                than=f"σ={critic:g} in actor, {critic:g} in critics",
            )
            for actor, critic in (SIGMAS, SIGMAS[::-1])
        },
    ),
)
