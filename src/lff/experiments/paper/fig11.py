"""Figure 11: LFF in PPO, where the paper finds no consistent gain."""

from lff.experiments.grids import Training
from lff.experiments.measured import RETURN
from lff.experiments.spec import Experiment, Panel, baseline, ours
from lff.stats.kinds import AsGood, Better, LargerGain
from lff.stats.metrics import Metric

CHEETAH, HOPPER, WALKER, HUMANOID = (
    f"gym/{name}-v5" for name in ("HalfCheetah", "Hopper", "Walker2d", "Humanoid")
)
SAC_STEPS = 40_000
GRID = Training(
    laptop=(CHEETAH, WALKER),
    paper=(CHEETAH, HOPPER, WALKER, HUMANOID),
    steps=SAC_STEPS,
    native=False,
)
EXPLAINED = Metric("train/explained_variance", "explained variance")
VALUES = (
    EXPLAINED,
    Metric("train/value_error", "error of V", "lower"),
    Metric("eval/q_minus_return", "V minus return"),
    Metric("lff/critic_B_std", "std of B, critic"),
)
NOTES = (
    "Gymnasium's v5 tasks; the paper has v2, whose rewards and terminations differ a little. "
    "Errors of V are against the λ-returns it learns from, in the task's rewards; its bias is "
    "against the returns of evaluations, where the mean action is played."
)


EXPERIMENTS = (
    Experiment(
        name="fig11",
        title="Does LFF help PPO?",
        source="Figure 11",
        arms={
            "MLP": baseline(algo="ppo", net="mlp"),
            "LFF": ours(algo="ppo"),
            "LFF in critic": ours(algo="ppo", actor="mlp"),
            "LFF in actor": ours(algo="ppo", net="mlp", actor="lff", scales=("smoke", "paper")),
        },
        grid=GRID,
        metrics=(RETURN, *VALUES),
        sentences={
            "C-11a: LFF brings PPO no gain: it is as good as the MLP of equal size.": AsGood(
                "LFF", than="MLP"
            ),
            "C-11b: LFF in the critic alone does as well as the MLP on HalfCheetah.": AsGood(
                "LFF in critic", than="MLP", tasks=(CHEETAH,)
            ),
            "C-11b/others: So it does on Hopper and Humanoid.": AsGood(
                "LFF in critic", than="MLP", tasks=(HOPPER, HUMANOID)
            ),
            "C-11c: LFF in the critic alone is better on Walker2d.": Better(
                "LFF in critic", than="MLP", tasks=(WALKER,)
            ),
            "C-11d: The critic alone is the best place: better than LFF in both.": Better(
                "LFF in critic", than="LFF"
            ),
        },
        panels=(Panel(RETURN), Panel(EXPLAINED)),
        notes=NOTES,
    ),
    Experiment(
        name="fig11-sac",
        title="Does SAC gain more from LFF than PPO, on the same tasks?",
        source="the reading of Figure 11 in appendix D: LFF helps only off-policy",
        arms={
            "PPO MLP": baseline(algo="ppo", net="mlp"),
            "PPO LFF": ours(algo="ppo"),
            "SAC MLP": baseline(net="mlp"),
            "SAC LFF": ours(),
        },
        grid=GRID,
        sentences={
            "C-11e: LFF's gain over the MLP, relative to the MLP, is larger in SAC than in "
            "PPO.": LargerGain("SAC LFF", than="SAC MLP", other_arm="PPO LFF", other_than="PPO MLP")
        },
        notes=f"PPO's runs are those of Figure 11. SAC runs for {SAC_STEPS:,} steps at laptop "
        "scale, PPO for 300,000: each about as long as it needs to learn something. Gains are "
        "shares of the MLP's mean return over its own curve.",
    ),
)
