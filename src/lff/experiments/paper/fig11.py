"""Figure 11: LFF in PPO, where the paper finds no consistent gain."""

from lff.experiments.measured import RETURN
from lff.experiments.spec import Cell, Experiment, Panel, ScaleName
from lff.stats.gains import LargerGain
from lff.stats.kinds import AsGood, Better

CHEETAH, HOPPER, WALKER, HUMANOID = (
    f"gym/{name}-v5" for name in ("HalfCheetah", "Hopper", "Walker2d", "Humanoid")
)
TASKS = (CHEETAH, WALKER)
PAPER = (CHEETAH, HOPPER, WALKER, HUMANOID)
SAC_STEPS = 40_000
VALUES = (
    ("train/explained_variance", "explained variance"),
    ("train/value_error", "error of V"),
    ("eval/q_bias", "bias of V"),
    ("lff/critic_B_std", "std of B, critic"),
)
NOTES = (
    "Gymnasium's v5 tasks; the paper has v2, whose rewards and terminations differ a little. "
    "Errors of V are against the λ-returns it learns from, in the task's rewards; its bias is "
    "against the returns of evaluations, where the mean action is played."
)


def fig11_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return LFF in both networks, in one of them, and in none."""
    from lff.experiments.jobs.ppo import PPOArm, ppo_grid, ppo_size

    arms = {"MLP": PPOArm(net="mlp"), "LFF": PPOArm(), "LFF in critic": PPOArm(actor="mlp")}
    if scale != "laptop":
        arms["LFF in actor"] = PPOArm(net="mlp", actor="lff")
    return ppo_grid(ppo_size(scale, laptop_tasks=TASKS, paper_tasks=PAPER), arms)


def gain_cells(scale: ScaleName) -> tuple[Cell, ...]:
    """Return PPO's runs of Figure 11 and SAC on the same tasks."""
    from lff.experiments.jobs.ppo import PPOArm, ppo_grid, ppo_size
    from lff.experiments.state import Variant, sizes, train_grid

    arms = {"PPO MLP": PPOArm(net="mlp"), "PPO LFF": PPOArm()}
    cells = ppo_grid(ppo_size(scale, laptop_tasks=TASKS, paper_tasks=PAPER), arms)
    size = sizes(scale, laptop_tasks=TASKS, paper_tasks=PAPER, laptop_steps=SAC_STEPS)
    return (*cells, *train_grid(size, {"SAC MLP": Variant(net="mlp"), "SAC LFF": Variant()}))


EXPERIMENTS = (
    Experiment(
        name="fig11",
        title="Does LFF help PPO?",
        source="Figure 11",
        cells=fig11_cells,
        metrics=(*RETURN, *VALUES),
        claims=(
            AsGood(
                name="C-11a",
                text="LFF brings PPO no gain: it is as good as the MLP of equal size.",
                arm="LFF",
                than="MLP",
            ),
            AsGood(
                name="C-11b",
                text="LFF in the critic alone does as well as the MLP on HalfCheetah.",
                arm="LFF in critic",
                than="MLP",
                tasks=(CHEETAH,),
            ),
            AsGood(
                name="C-11b/others",
                text="So it does on Hopper and Humanoid.",
                arm="LFF in critic",
                than="MLP",
                tasks=(HOPPER, HUMANOID),
            ),
            Better(
                name="C-11c",
                text="LFF in the critic alone is better on Walker2d.",
                arm="LFF in critic",
                than="MLP",
                tasks=(WALKER,),
            ),
            Better(
                name="C-11d",
                text="The critic alone is the best place: better than LFF in both.",
                arm="LFF in critic",
                than="LFF",
            ),
        ),
        panels=(Panel(metric="return"), Panel(metric="explained variance")),
        notes=NOTES,
    ),
    Experiment(
        name="fig11-sac",
        title="Does SAC gain more from LFF than PPO, on the same tasks?",
        source="the reading of Figure 11 in appendix D: LFF helps only off-policy",
        cells=gain_cells,
        metrics=RETURN,
        claims=(
            LargerGain(
                name="C-11e",
                text="LFF's gain over the MLP, relative to the MLP, is larger in SAC than in PPO.",
                arm="SAC LFF",
                than="SAC MLP",
                other_arm="PPO LFF",
                other_than="PPO MLP",
            ),
        ),
        panels=(Panel(metric="return"),),
        notes=f"PPO's runs are those of Figure 11. SAC runs for {SAC_STEPS:,} steps at laptop "
        "scale, PPO for 300,000: each about as long as it needs to learn something. Gains are "
        "shares of the MLP's mean return over its own curve.",
    ),
)
