"""Figure 11: LFF in PPO, where the paper finds no consistent gain."""

from typing import Any

from lff.experiments.grids import Training
from lff.experiments.measured import RETURN
from lff.experiments.spec import Experiment, Panel, baseline, ours
from lff.stats.kinds import Better, Equivalent
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
NO_GAIN = (
    'Figure 11: "LFF does not produce a consistent gain in sample efficiency here, which is '
    'consistent with our hypothesis that LFF helps only for off-policy RL."'
)
CRITIC = (
    'Appendix D.2: "The best setting was to use LFF for only the critic, which does as well as '
    'MLPs on 3 environments (HalfCheetah, Hopper, and Humanoid) and better on Walker2d"'
)
WITHIN: dict[str, Any] = {"scale": "difference", "margin": 0.2}
"""Returns may be negative: a fifth of the task's span."""
NOTES = (
    "Gymnasium's v5 tasks; the paper has v2, whose rewards and terminations differ a little. "
    "Errors of V are against the λ-returns it learns from, in the task's rewards; its error is "
    "against the returns of evaluations, where the mean action is played."
)


EXPERIMENTS = (
    Experiment(
        name="fig11",
        title="Does LFF help PPO?",
        source="Figure 11",
        whose="paper, empirical",
        arms={
            "MLP": baseline(algo="ppo", net="mlp"),
            "LFF": ours(algo="ppo"),
            "LFF in critic": ours(algo="ppo", actor="mlp"),
            "LFF in actor": ours(algo="ppo", net="mlp", actor="lff", scales=("smoke", "paper")),
        },
        grid=GRID,
        metrics=(RETURN, *VALUES),
        sentences={
            "C-11a: LFF brings PPO no gain: it is as good as the MLP of equal size.": Equivalent(
                "LFF", than="MLP", **WITHIN, quote=NO_GAIN
            ),
            "C-11b: LFF in the critic alone does as well as the MLP on HalfCheetah.": Equivalent(
                "LFF in critic", than="MLP", tasks=(CHEETAH,), **WITHIN, quote=CRITIC
            ),
            "C-11b/others: So it does on Hopper and Humanoid.": Equivalent(
                "LFF in critic", than="MLP", tasks=(HOPPER, HUMANOID), **WITHIN, quote=CRITIC
            ),
            "C-11c: LFF in the critic alone is better on Walker2d.": Better(
                "LFF in critic", than="MLP", tasks=(WALKER,), quote=CRITIC
            ),
            "C-11d: The critic alone is the best place: better than LFF in both.": Better(
                "LFF in critic", than="LFF", quote=CRITIC
            ),
        },
        panels=(Panel(RETURN), Panel(EXPLAINED)),
        notes=NOTES,
    ),
    Experiment(
        name="fig11-sac",
        title="Does SAC gain more from LFF than PPO, on the same tasks?",
        source="the reading of Figure 11 in appendix D: LFF helps only off-policy",
        whose="paper, empirical",
        quote=NO_GAIN,
        arms={
            "PPO MLP": baseline(algo="ppo", net="mlp"),
            "PPO LFF": ours(algo="ppo"),
            "SAC MLP": baseline(net="mlp"),
            "SAC LFF": ours(),
        },
        grid=GRID,
        sentences={
            "C-11e: LFF's gain over the MLP is larger in SAC than in PPO.": Better(
                "SAC LFF", than="SAC MLP", over=("PPO LFF", "PPO MLP")
            )
        },
        notes=f"PPO's runs are those of Figure 11. SAC runs for {SAC_STEPS:,} steps at laptop "
        "scale, PPO for 300,000: each about as long as it needs to learn something. Gains "
        "are differences of mean returns over each pair's own curve.",
    ),
)
