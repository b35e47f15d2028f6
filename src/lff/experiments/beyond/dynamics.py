"""The conclusion's untried idea: do high frequencies help where dynamics are learned?"""

from lff.experiments.grids import Each
from lff.experiments.spec import Experiment, Panel, baseline, ours
from lff.stats.kinds import Better
from lff.stats.metrics import Metric

TASKS = {"hopper": "dmc/hopper-hop", "finger": "dmc/finger-turn_hard"}
SIGMAS = (0.01, 0.1, 0.3, 1.0)
LARGE = SIGMAS[1:]
"""All but the first are beyond 1/(2π) of the distance of two normalised inputs, about 6."""
NAMES = {"one": "one-step error of a model of {}", "20": "error of a model of {} after 20 steps"}
ONE, TRAIN = Metric("one-step error", better="lower"), Metric("train error", better="lower")
AHEAD = {
    k: Metric(f"error after {k}", f"error after {k} step{'s' * (k > 1)}", "lower")
    for k in (1, 5, 20)
}


def better(sigma: float, metric: Metric, *tasks: str) -> Better:
    """Return the claim that LFF with this σ has a smaller error than the MLP at the end."""
    tasks = tasks or tuple(TASKS.values())
    arm = f"LFF σ={sigma:g}"
    return Better(arm, than="MLP", metric=metric, statistic="last", scale="log", tasks=tasks)


EXPERIMENTS = (
    Experiment(
        name="new-dynamics",
        title="Do high frequencies help to learn dynamics, and is the model better for it?",
        source="conclusion: said, not tried",
        whose="paper, empirical",
        quote='Appendix F.1: "Model-based RL requires modeling the dynamics, which can have sharp '
        'changes"; "Capturing high-frequencies with LFF could improve"',
        arms={
            "MLP": baseline(net="mlp"),
            **{f"LFF σ={sigma:g}": ours(sigma=sigma) for sigma in SIGMAS},
        },
        grid=Each(
            "dynamics",
            {task: {"env": task} for task in TASKS.values()},
            size={"hidden_dim": 256},
            small={
                **{"hidden_dim": 16, "episodes": 2, "held_out": 1, "length": 25},
                **{"steps": 6, "batch": 16, "every": 3, "seeds": 2},
            },
        ),
        metrics=(ONE, TRAIN, *AHEAD.values()),
        sentences={
            **{
                f"N-dyn/{short}-{steps}-{sigma:g}: σ={sigma:g} lowers the {words}.": better(
                    sigma, metric, task
                )
                for steps, metric in (("one", ONE), ("20", AHEAD[20]))
                for short, task in TASKS.items()
                for words in [NAMES[steps].format(short)]
                for sigma in LARGE
            },
            "N-dyn/small-one: The small σ lowers the one-step error.": better(0.01, ONE),
            "N-dyn/small-20: The small σ lowers the error after 20 steps.": better(0.01, AHEAD[20]),
        },
        panels=(
            Panel(ONE, log=True, x="gradient steps", line=1.0, line_label="mean change"),
            *(Panel(metric, log=True, x="gradient steps") for metric in AHEAD.values()),
        ),
        notes="All claims are of one data set: one family, corrected together. 50,000 "
        "transitions of 250 episodes under uniform actions, each held for five steps, "
        "so that there are contacts; 50 more episodes to judge by. The data are the same for all "
        "seeds: intervals are over weights and batches. Inputs and changes are normalised by the "
        "training set, and σ is that of normalised inputs, which are about 6 apart. The one-step "
        "error is the mean square in standard deviations of the change, 1 for the mean change; "
        "after k steps it is the root mean square in standard deviations of the observation, with "
        "the recorded actions and the model's own predictions. Adam 1e-3, batches of 256, none "
        "tuned. Steps are gradient steps.",
    ),
)
