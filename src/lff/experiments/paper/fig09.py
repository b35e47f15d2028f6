"""Figure 9: LFF in the actor, in the critics, or in both."""

from lff.experiments.measured import RETURN
from lff.experiments.spec import Cell, Experiment, Panel, ScaleName
from lff.stats.kinds import AsGood, Better

TASKS = ("dmc/walker-run", "dmc/cheetah-run")
PAPER = ("dmc/walker-run", "dmc/quadruped-run", "dmc/cheetah-run", "dmc/finger-turn_hard")
SIGMAS = (0.002, 0.1)


def fig9_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return the five arms of the figure."""
    from lff.experiments.state import Variant, sizes, train_grid

    variants = {
        "MLP": Variant(net="mlp"),
        "LFF": Variant(),
        "LFF in critics": Variant(net="mlp", critic="lff"),
        "LFF in actor": Variant(net="mlp", actor="lff"),
        "MLP with concatenation": Variant(net="mlp-concat"),
    }
    return train_grid(sizes(scale, laptop_tasks=TASKS, paper_tasks=PAPER), variants)


def c9b_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return two σ in the actor times two in the critics."""
    from lff.experiments.state import Variant, sizes, train_grid

    variants = {
        f"σ={actor:g} in actor, {critic:g} in critics": Variant(
            actor_sigma=actor, critic_sigma=critic
        )
        for actor in SIGMAS
        for critic in SIGMAS
    }
    return train_grid(sizes(scale, laptop_tasks=TASKS[:1], paper_tasks=PAPER), variants)


EXPERIMENTS = (
    Experiment(
        name="fig9",
        title="Is it the critics that gain from LFF, not the actor?",
        source="Figure 9",
        cells=fig9_cells,
        metrics=RETURN,
        claims=(
            AsGood(
                name="C-9a",
                text="LFF in the critics alone is as good as LFF in both.",
                arm="LFF in critics",
                than="LFF",
            ),
            Better(
                name="C-9c",
                text="LFF in the critics is better than LFF in the actor.",
                arm="LFF in critics",
                than="LFF in actor",
            ),
            AsGood(
                name="C-9d",
                text="LFF in the actor alone is as good as no LFF.",
                arm="LFF in actor",
                than="MLP",
            ),
            Better(
                name="C-9e",
                text="It is not the concatenation: LFF is better than an MLP that has it.",
                arm="LFF",
                than="MLP with concatenation",
            ),
        ),
        panels=(Panel(metric="return"),),
    ),
    Experiment(
        name="c9b",
        title="Is a σ of its own for the actor better?",
        source="Section 5.3: suggested, no data in the paper",
        cells=c9b_cells,
        metrics=RETURN,
        claims=tuple(
            Better(
                name=f"C-9b/{actor:g}-{critic:g}",
                text=f"σ={actor:g} in the actor and {critic:g} in the critics beats {critic:g} in "
                "both.",
                arm=f"σ={actor:g} in actor, {critic:g} in critics",
                than=f"σ={critic:g} in actor, {critic:g} in critics",
            )
            for actor, critic in (SIGMAS, SIGMAS[::-1])
        ),
        panels=(Panel(metric="return"),),
    ),
)
